/** Looks before anything is started whether the port can be had, so that a refusal leaves nothing half done. */
import { createServer } from "node:net";
import * as Effect from "effect/Effect";
import { LaunchRefused } from "#server/launch/LaunchRefused.ts";

/** Pure: the sentence for what the system said about listening on `host:port`. */
export const portRefusal = (host: string, port: number, code: string): LaunchRefused => {
  const place = `${host}:${port}`;
  const sentences: Readonly<Record<string, string>> = {
    EADDRINUSE: `Port ${port} on ${host} is taken by another program, perhaps this one: stop it, or choose another with PORT=${port + 1} npm start.`,
    EACCES: `This user may not listen on ${place}: choose a port above 1023 with PORT.`,
    EADDRNOTAVAIL: `The address ${host} does not belong to this machine: set HOST to 127.0.0.1, to 0.0.0.0 or to one of its addresses.`,
    ENOTFOUND: `The host name ${host} is not known: set HOST to 127.0.0.1, to 0.0.0.0 or to one of this machine's addresses.`,
  };
  const message = Object.hasOwn(sentences, code) ? sentences[code] : undefined;
  return new LaunchRefused({
    reason: "port-taken",
    message:
      message ??
      `The server cannot listen on ${place} (${code}): choose another with HOST and PORT.`,
  });
};

export const ensurePortIsFree = (host: string, port: number) =>
  port === 0
    ? Effect.void
    : Effect.callback<void, LaunchRefused>((resume) => {
        const probe = createServer();
        probe.once("error", (error: NodeJS.ErrnoException) =>
          resume(Effect.fail(portRefusal(host, port, error.code ?? "unknown"))),
        );
        probe.listen({ host, port, exclusive: true }, () => probe.close(() => resume(Effect.void)));
      });

/** A port of 127.0.0.1 that nobody uses now, for a child that must come back on the same one after a crash. */
export const freePort = Effect.callback<number, LaunchRefused>((resume) => {
  const probe = createServer();
  probe.once("error", (error: NodeJS.ErrnoException) =>
    resume(Effect.fail(portRefusal("127.0.0.1", 0, error.code ?? "unknown"))),
  );
  probe.listen({ host: "127.0.0.1", port: 0 }, () => {
    const address = probe.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    probe.close(() => resume(Effect.succeed(port)));
  });
});

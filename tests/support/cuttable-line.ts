/** A line between a browser and a server that a test cuts: what is open breaks, and nothing new gets through. */
import net from "node:net";

export interface CuttableLine {
  /** Where the browser reaches the server through it. */
  readonly origin: string;
  readonly cut: () => void;
  readonly heal: () => void;
  /** Connections that were broken by cuts. */
  readonly broken: () => number;
  readonly close: () => Promise<void>;
}

export const startCuttableLine = async (origin: string): Promise<CuttableLine> => {
  const target = new URL(origin);
  const open = new Set<net.Socket>();
  let isCut = false;
  let broken = 0;
  const server = net.createServer((client) => {
    if (isCut) {
      client.destroy();
      return;
    }
    const upstream = net.connect(Number(target.port), target.hostname);
    open.add(client);
    client.pipe(upstream);
    upstream.pipe(client);
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on("error", () => other.destroy());
      one.on("close", () => {
        open.delete(client);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the line has no port");
  const breakAll = (): void => {
    broken += open.size;
    for (const client of open) client.resetAndDestroy();
  };
  return {
    origin: `http://${target.hostname}:${address.port}`,
    cut: () => {
      isCut = true;
      breakAll();
    },
    heal: () => {
      isCut = false;
    },
    broken: () => broken,
    close: () =>
      new Promise((resolve) => {
        breakAll();
        server.close(() => resolve());
      }),
  };
};

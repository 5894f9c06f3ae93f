/** A TCP proxy before PostgreSQL that can lose one reply: the server has committed, the client never hears of it. */
import net from "node:net";
import * as Effect from "effect/Effect";

export const swallowingProxy = (url: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const target = new URL(url);
      let armed = false;
      let armedByCommit = false;
      const open = new Set<net.Socket>();
      const server = net.createServer((client) => {
        const upstream = net.connect(Number(target.port), target.hostname);
        open.add(client).add(upstream);
        client.on("data", (chunk) => {
          if (armedByCommit && chunk.includes("COMMIT")) {
            armedByCommit = false;
            armed = true;
          }
          upstream.write(chunk);
        });
        upstream.on("data", (chunk) => {
          if (!armed) return void client.write(chunk);
          armed = false;
          client.destroy();
          upstream.destroy();
        });
        for (const [one, other] of [
          [client, upstream],
          [upstream, client],
        ] as const) {
          one.on("error", () => other.destroy());
          one.on("close", () => other.destroy());
        }
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const address = server.address();
      if (address === null || typeof address === "string") throw new Error("no port");
      const through = new URL(url);
      through.hostname = "127.0.0.1";
      through.port = String(address.port);
      return {
        url: through.toString(),
        swallowNextReply: () => {
          armed = true;
        },
        /** The next COMMIT reaches the server, and its answer nobody. */
        swallowNextCommit: () => {
          armedByCommit = true;
        },
        close: () =>
          new Promise<void>((resolve) => {
            for (const socket of open) socket.destroy();
            server.close(() => resolve());
          }),
      };
    }),
    (proxy) => Effect.promise(proxy.close),
  );

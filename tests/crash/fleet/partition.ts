/**
 * A way to PostgreSQL that can be cut: bytes stop, no connection is told. What was
 * on its way arrives when the way is healed, as after a real partition, unless one
 * of the two ends has given the connection up meanwhile.
 */
import net from "node:net";

export interface Partition {
  readonly url: string;
  readonly cut: () => void;
  readonly heal: () => void;
  readonly close: () => Promise<void>;
}

export const startPartition = async (url: string): Promise<Partition> => {
  const target = new URL(url);
  const open = new Set<net.Socket>();
  let isCut = false;
  const server = net.createServer({ allowHalfOpen: true }, (client) => {
    const upstream = net.connect({
      port: Number(target.port),
      host: target.hostname,
      allowHalfOpen: true,
    });
    for (const socket of [client, upstream]) {
      open.add(socket);
      if (isCut) socket.pause();
      socket.on("error", () => socket.destroy());
    }
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on("data", (chunk) => void to.write(chunk));
      // An end is seen only once the bytes before it are read, so a cut holds it back too.
      from.on("end", () => to.end());
      from.on("close", () => {
        open.delete(from);
        if (!isCut) to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the partition has no port");
  const through = new URL(url);
  through.hostname = "127.0.0.1";
  through.port = String(address.port);
  return {
    url: through.toString(),
    cut: () => {
      isCut = true;
      for (const socket of open) socket.pause();
    },
    heal: () => {
      isCut = false;
      for (const socket of open) socket.resume();
    },
    close: () =>
      new Promise((resolve) => {
        for (const socket of open) socket.destroy();
        server.close(() => resolve());
      }),
  };
};

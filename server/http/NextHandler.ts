import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

/** Whoever answers what is not the API: the console's pages, or a stub in tests. */
export interface NextHandler {
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
  /** Sockets for development's reloading; absent in production, where every upgrade is refused. */
  readonly upgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

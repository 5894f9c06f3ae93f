/** An endpoint that answers every request with the same bytes, as some gateway sent them. */
import { createServer } from "node:http";

import { Effect } from "effect";

export interface RawAnswer {
  readonly contentType: string;
  readonly body: string;
}

/** Gives the address and the bodies of the requests it got. */
export const rawEndpoint = (answer: RawAnswer) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const bodies: Array<string> = [];
      const server = createServer((request, response) => {
        let body = "";
        request.on("data", (piece) => (body += String(piece)));
        request.on("end", () => {
          bodies.push(body);
          response.writeHead(200, { "content-type": answer.contentType });
          response.end(answer.body);
        });
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      return { url: `http://127.0.0.1:${port}`, bodies, server };
    }),
    ({ server }) => Effect.promise(() => new Promise((resolve) => server.close(resolve))),
  );

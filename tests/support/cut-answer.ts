/** A server that begins every answer and does not finish it. */
import http from "node:http";

export interface CutAnswers {
  readonly origin: string;
  readonly close: () => Promise<void>;
}

/**
 * @param beginning what comes of the body
 * @param how `broken` = the connection dies; `quiet` = the answer ends in order, as a proxy may end it
 */
export const startCutAnswers = async (
  beginning: string,
  how: "broken" | "quiet",
): Promise<CutAnswers> => {
  const server = http.createServer((_request, response) => {
    response.writeHead(200, { "content-type": "application/x-ndjson" });
    response.write(beginning, () => {
      if (how === "quiet") response.end();
      // After what was written has left, so that it is the middle that is missing and not the whole.
      else setTimeout(() => response.socket?.resetAndDestroy(), 100);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return {
    origin: `http://127.0.0.1:${address.port}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
};

import type { IncomingMessage, ServerResponse } from "node:http";
import { InvalidInput } from "#lib/contract/errors.ts";

/** UTF-8 bytes of one request body. */
export const maxBodyBytes = 1_048_576;

/** What is wrong with the announced body, and the HTTP status that says so; undefined when it may be read. */
const refusalOf = (
  request: IncomingMessage,
): { readonly status: number; readonly error: InvalidInput } | undefined => {
  const length = request.headers["content-length"];
  if (length === undefined) {
    if (request.headers["transfer-encoding"] === undefined) return undefined;
    return {
      status: 411,
      error: new InvalidInput({
        message: "The request must say how long its body is (Content-Length).",
        path: "headers.content-length",
      }),
    };
  }
  if (Number(length) <= maxBodyBytes) return undefined;
  return {
    status: 413,
    error: new InvalidInput({
      message: `The request body may be ${maxBodyBytes} bytes long; this one is ${length}.`,
      path: "body",
      limit: `${maxBodyBytes} bytes`,
      seen: `${length} bytes`,
    }),
  };
};

/** Answers and closes when the body is too long or of unknown length; true when it answered. */
export const refuseBody = (request: IncomingMessage, response: ServerResponse): boolean => {
  const refusal = refusalOf(request);
  if (refusal === undefined) return false;
  const { _tag, message, path, limit, seen } = refusal.error;
  response.writeHead(refusal.status, {
    "content-type": "application/json",
    // The body is never read, so the connection cannot carry another request.
    connection: "close",
  });
  response.end(JSON.stringify({ _tag, message, path, limit, seen }));
  return true;
};

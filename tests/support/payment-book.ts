/**
 * The shop's payment provider in the process of a test, so that it outlives every killed host and its book says
 * what really happened. It speaks the wire of the demo's own provider: one entry per idempotency key, ever.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Schema } from "effect";

const Request = Schema.Struct({
  order_id: Schema.String,
  payment_method_id: Schema.String,
  amount: Schema.String,
});
const decodeRequest = Schema.decodeUnknownSync(Schema.fromJsonString(Request));

interface BookedRefund {
  readonly entry_id: string;
  readonly kind: "refund";
  readonly idempotency_key: string;
  readonly order_id: string;
  readonly payment_method_id: string;
  readonly amount: string;
  readonly outcome: "completed";
  readonly decline_reason: null;
  readonly created_at: string;
}

export interface PaymentBook {
  readonly url: string;
  /** The refunds that were made for an order, in order. */
  readonly refundsOf: (orderId: string) => ReadonlyArray<BookedRefund>;
  /** How often a refund was asked for, whatever came of it: one key per request. */
  readonly askedFor: (orderId: string) => ReadonlyArray<string>;
  /** Requests that are neither answered nor given up by whoever made them. */
  readonly inFlight: () => number;
  /** How often somebody asked what had become of this key. Nobody is ever told. */
  readonly statusQueriesOf: (key: string) => number;
  /** From now on refunds are answered; those that hang stay without an answer. */
  readonly answerFromNow: () => void;
  readonly close: () => Promise<void>;
}

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Array<Buffer> = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
};

/**
 * Starts it mute: each refund hangs without an answer, booked or not as `booksWhileMute` says of its order.
 * Whoever asks what became of a refund is hung up on, always: only a person who reads the book can tell.
 */
export const startPaymentBook = async (
  booksWhileMute: (orderId: string) => boolean,
): Promise<PaymentBook> => {
  const entries = new Map<string, BookedRefund>();
  const asked: Array<{ readonly orderId: string; readonly key: string }> = [];
  const queries = new Map<string, number>();
  const hanging = new Set<ServerResponse>();
  let isMute = true;

  const book = (key: string, request: typeof Request.Type): BookedRefund => {
    const entry = entries.get(key) ?? {
      ...request,
      entry_id: `book-${entries.size + 1}`,
      kind: "refund",
      idempotency_key: key,
      outcome: "completed",
      decline_reason: null,
      created_at: new Date().toISOString(),
    };
    entries.set(key, entry);
    return entry;
  };
  const refund = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const key = String(request.headers["idempotency-key"]);
    const wanted = decodeRequest(await bodyOf(request));
    asked.push({ orderId: wanted.order_id, key });
    if (isMute) {
      if (booksWhileMute(wanted.order_id)) book(key, wanted);
      hanging.add(response);
      response.once("close", () => hanging.delete(response));
      return;
    }
    response.writeHead(201, { "content-type": "application/json" });
    response.end(JSON.stringify(book(key, wanted)));
  };
  const server = createServer((request, response) => {
    const [, kind, , key] = (request.url ?? "").split("/");
    if (request.method === "POST" && kind === "refunds") {
      // A host that dies in the middle of its request is what this is about.
      refund(request, response).catch(() => response.destroy());
      return;
    }
    const asks = decodeURIComponent(key ?? "");
    queries.set(asks, (queries.get(asks) ?? 0) + 1);
    request.socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the book has no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    refundsOf: (orderId) => [...entries.values()].filter(({ order_id }) => order_id === orderId),
    askedFor: (orderId) =>
      asked.filter((one) => one.orderId === orderId).map(({ key: askedKey }) => askedKey),
    inFlight: () => hanging.size,
    statusQueriesOf: (asks) => queries.get(asks) ?? 0,
    answerFromNow: () => {
      isMute = false;
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
};

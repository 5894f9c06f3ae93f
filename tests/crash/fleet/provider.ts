/**
 * The provider of the process proofs, and its own book of what happened: an HTTP
 * server in the process that no plan kills. What the runtime claims is compared
 * with this book, never with the runtime's own tables.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { Schema } from "effect";
import { digestOf } from "#lib/contract/json/digest.ts";

const Request = Schema.Struct({
  key: Schema.String,
  runId: Schema.String,
  tool: Schema.String,
  params: Schema.Struct({
    amount: Schema.Int,
    beforeMs: Schema.Int,
    afterMs: Schema.Int,
    decline: Schema.Boolean,
  }),
});
const decodeRequest = Schema.decodeUnknownSync(Schema.fromJsonString(Request));

export interface ProviderEffect {
  readonly key: string;
  readonly runId: string;
  readonly tool: string;
  /** Digest of the parameters that really arrived. */
  readonly parametersDigest: string;
}

export interface Provider {
  readonly url: string;
  /** Every effect that happened, in order; `mark` happens once per key, as an idempotent provider promises. */
  readonly effects: ReadonlyArray<ProviderEffect>;
  readonly timesOf: (key: string) => number;
  /** How often the provider was asked with that key, whatever came of it. */
  readonly askedOf: (key: string) => number;
  /** Requests that arrived and are not answered yet. */
  readonly inFlight: (key: string) => boolean;
  /** From now on effects happen but their answers wait until {@link Provider.release}. */
  readonly hold: () => void;
  readonly release: () => void;
  /** How many answers are being held. */
  readonly held: () => number;
  readonly close: () => Promise<void>;
}

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Array<Buffer> = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
};

export const startProvider = async (): Promise<Provider> => {
  const effects: Array<ProviderEffect> = [];
  const times = new Map<string, number>();
  const asks = new Map<string, number>();
  const open = new Map<string, number>();
  let gate: { readonly opened: Promise<void>; readonly open: () => void } | undefined;
  let held = 0;

  const commit = ({ key, runId, tool, params }: typeof Request.Type): boolean => {
    if (params.decline) return false;
    const before = times.get(key) ?? 0;
    if (tool === "mark" && before > 0) return true;
    times.set(key, before + 1);
    effects.push({ key, runId, tool, parametersDigest: digestOf(params) });
    return true;
  };
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const asked = decodeRequest(await bodyOf(request));
    asks.set(asked.key, (asks.get(asked.key) ?? 0) + 1);
    open.set(asked.key, (open.get(asked.key) ?? 0) + 1);
    try {
      await sleep(asked.params.beforeMs);
      const ok = commit(asked);
      await sleep(asked.params.afterMs);
      if (gate !== undefined) {
        held += 1;
        await gate.opened;
        held -= 1;
      }
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ ok }));
    } finally {
      open.set(asked.key, (open.get(asked.key) ?? 1) - 1);
    }
  };
  const server = createServer((request, response) => {
    // A host that dies in the middle of its request is what these proofs are about.
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the provider has no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    effects,
    timesOf: (key) => times.get(key) ?? 0,
    askedOf: (key) => asks.get(key) ?? 0,
    inFlight: (key) => (open.get(key) ?? 0) > 0,
    hold: () => {
      let opener = () => {};
      const opened = new Promise<void>((resolve) => (opener = resolve));
      gate = { opened, open: opener };
    },
    release: () => {
      gate?.open();
      gate = undefined;
    },
    held: () => held,
    close: () =>
      new Promise((resolve) => {
        gate?.open();
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
};

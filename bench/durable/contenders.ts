/** Who is measured: the floor, ours and the peers, each with the milliseconds that one call takes. */
import * as Effect from "effect/Effect";
import { type CallClock, makeCallClock } from "./call-clock.ts";
import { bareCommits } from "./floor.ts";
import type { ourHost } from "./our-host.ts";
import type { benchServer } from "./server.ts";

/** Milliseconds per call. */
export interface Spent {
  /** From the beginning of one call's work to the next one's: not a number where calls run at once. */
  readonly toNext: number;
  /** The whole run with all that it has beside its calls, divided by them. */
  readonly whole: number;
}

export interface Contender {
  readonly name: string;
  readonly run: (count: number) => Effect.Effect<Spent, unknown>;
}

export const names = {
  floor: "two bare commits, one connection (floor)",
  uncertain: "ours: uncertain call (prepare + settle)",
  readonly: "ours: readonly call",
  batch: "ours: uncertain call in batches of 50",
  dbos: "DBOS: runStep",
  restate: "Restate: ctx.run",
} as const;

interface Peer {
  readonly runCalls: (count: number) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Peers are plain JavaScript in a folder of their own, installed only for this bench. */
const peer = Effect.fnUntraced(function* (
  name: string,
  start: (mark: CallClock["mark"]) => Promise<Peer>,
) {
  const clock = makeCallClock();
  const started = yield* Effect.acquireRelease(
    Effect.promise(() => start(clock.mark)),
    (made) => Effect.promise(() => made.stop()),
  );
  const run = (count: number) =>
    Effect.promise(async () => {
      clock.reset();
      const from = performance.now();
      await started.runCalls(count);
      return { whole: (performance.now() - from) / count, toNext: clock.perCall() };
    });
  return { name, run };
});

type Mark = CallClock["mark"];

const startDbos = async (url: string, mark: Mark): Promise<Peer> => {
  const file = new URL("./peers/dbos.mjs", import.meta.url).href;
  const loaded = (await import(file)) as {
    startDbos: (url: string, mark: Mark) => Promise<Peer>;
  };
  return loaded.startDbos(url, mark);
};

const startRestate = async (mark: Mark): Promise<Peer> => {
  const file = new URL("./peers/restate.mjs", import.meta.url).href;
  return ((await import(file)) as { startRestate: (mark: Mark) => Promise<Peer> }).startRestate(
    mark,
  );
};

type Server = Effect.Success<typeof benchServer>;
type Ours = Effect.Success<ReturnType<typeof ourHost>>;

export const makeContenders = Effect.fnUntraced(function* (
  server: Server,
  ours: Ours,
  withPeers: boolean,
) {
  const floor = yield* bareCommits(yield* server.makeDatabase("floor"));
  const own: ReadonlyArray<Contender> = [
    {
      name: names.floor,
      run: (count) => Effect.map(floor(count), (millis) => ({ whole: millis, toNext: millis })),
    },
    { name: names.uncertain, run: (count) => ours.perCall("serial", "charge", count) },
    { name: names.readonly, run: (count) => ours.perCall("serial", "look", count) },
    { name: names.batch, run: () => ours.perCall("batch", "charge", 50) },
  ];
  if (!withPeers) return own;
  const dbosUrl = yield* server.makeDatabase("dbos");
  return [
    ...own,
    yield* peer(names.dbos, (mark) => startDbos(dbosUrl, mark)),
    yield* peer(names.restate, startRestate),
  ];
});

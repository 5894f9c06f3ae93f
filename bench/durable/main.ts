/**
 * What a durable tool call costs, beside two bare commits, DBOS and Restate, in alternating rounds of one run.
 *
 *     npm run bench -- durable [--rounds 9] [--calls 100] [--warm-up 20] [--without-peers]
 */
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import * as Effect from "effect/Effect";
import { bareCommits } from "./floor.ts";
import { ourHost } from "./our-host.ts";
import { median, quantile } from "./statistics.ts";
import { benchServer } from "./server.ts";

interface Peer {
  readonly runCalls: (count: number) => Promise<void>;
  readonly stop: () => Promise<void>;
}

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "9" },
    calls: { type: "string", default: "100" },
    "warm-up": { type: "string", default: "20" },
    "without-peers": { type: "boolean", default: false },
  },
});
const rounds = Math.max(7, Number(values.rounds));
const calls = Math.max(10, Number(values.calls));
/** Rounds that are not counted: a host is up for weeks, and JavaScript is compiled while it first runs. The same for everybody. */
const warmUp = Math.max(1, Number(values["warm-up"]));

/** Peers are plain JavaScript in a folder of their own, installed only for this bench. */
const peer = Effect.fnUntraced(function* (start: () => Promise<Peer>) {
  const started = yield* Effect.acquireRelease(Effect.promise(start), (made) =>
    Effect.promise(() => made.stop()),
  );
  return (count: number) =>
    Effect.promise(async () => {
      const from = performance.now();
      await started.runCalls(count);
      return (performance.now() - from) / count;
    });
});

const startDbos = async (url: string): Promise<Peer> => {
  const file = new URL("./peers/dbos.mjs", import.meta.url).href;
  return ((await import(file)) as { startDbos: (url: string) => Promise<Peer> }).startDbos(url);
};

const startRestate = async (): Promise<Peer> => {
  const file = new URL("./peers/restate.mjs", import.meta.url).href;
  return ((await import(file)) as { startRestate: () => Promise<Peer> }).startRestate();
};

const uncertainCall = "ours: uncertain call (prepare + settle)";

const line = (name: string, millis: number, floor: number) =>
  console.log(
    `  ${name.padEnd(44)} ${millis.toFixed(3).padStart(8)} ms ${(millis / floor).toFixed(2).padStart(7)} x floor`,
  );

const measure = Effect.gen(function* () {
  const server = yield* benchServer;
  const ours = yield* ourHost(yield* server.makeDatabase("ours"));
  const floor = yield* bareCommits(yield* server.makeDatabase("floor"));
  const contenders: Array<readonly [string, (count: number) => Effect.Effect<number, unknown>]> = [
    ["two bare commits, one connection (floor)", floor],
    [uncertainCall, (count) => ours.perCall("serial", "charge", count)],
    ["ours: readonly call", (count) => ours.perCall("serial", "look", count)],
    ["ours: uncertain call in batches of 50", () => ours.perCall("batch", "charge", 50)],
  ];
  if (!values["without-peers"]) {
    const dbosUrl = yield* server.makeDatabase("dbos");
    contenders.push(
      ["DBOS: runStep", yield* peer(() => startDbos(dbosUrl))],
      ["Restate: ctx.run", yield* peer(startRestate)],
    );
  }
  const seen = new Map<string, Array<number>>(contenders.map(([name]) => [name, []]));
  // Every other round goes the other way round.
  for (let round = -warmUp; round < rounds; round++) {
    for (const [name, run] of round % 2 === 0 ? contenders : contenders.toReversed()) {
      const millis = yield* run(calls);
      if (round >= 0) seen.get(name)?.push(millis);
    }
  }
  const medianOf = (name: string) => median(seen.get(name) ?? []);
  const base = medianOf(contenders[0]?.[0] ?? "");
  console.log(
    `median of ${rounds} rounds of ${calls} calls after ${warmUp} rounds of warming up, per call:`,
  );
  for (const [name] of contenders) line(name, medianOf(name), base);
  const uncertain = medianOf(uncertainCall);
  console.log(
    `our uncertain call takes ${(uncertain / base).toFixed(2)} times the floor (target: at most 2.00)`,
  );
  for (const [name] of contenders.slice(1)) {
    if (name.startsWith("ours")) continue;
    console.log(
      `our uncertain call takes ${(uncertain / medianOf(name)).toFixed(2)} times ${name} (target: below 1.00)`,
    );
  }

  for (const [name, tool, agent, count] of [
    ["uncertain", "charge", "serial", calls],
    ["readonly", "look", "serial", calls],
    ["uncertain in a batch of 50", "charge", "batch", 50],
  ] as const) {
    const before = yield* ours.spent;
    yield* ours.perCall(agent, tool, count);
    const after = yield* ours.spent;
    const per = (key: "bytes" | "commits") => ((after[key] - before[key]) / count).toFixed(2);
    const trips = yield* ours.roundTrips(agent, tool, count);
    console.log(
      `ours, ${name}: per call ${trips.toFixed(2)} round trips (those of the run's own claim and turns included), ${per("commits")} commits (claim, event numbers and idle scans included) and ${per("bytes")} bytes of WAL`,
    );
  }

  yield* ours.resume(1_000);
  const resumed = yield* Effect.forEach(Array.from({ length: 5 }), () => ours.resume(1_000));
  console.log(
    `resuming a run with 1,000 recorded calls: median ${median(resumed).toFixed(0)} ms to the next model request (target: under 300)`,
  );
  // One place of the host's 64 is left for the run that is started.
  const among = yield* ours.startsAmong(63, 200);
  console.log(
    `started while 63 other runs are in flight, to the first model request: median ${median(among).toFixed(0)} ms, p95 ${quantile(among, 0.95).toFixed(0)} ms (target: p95 under 50)`,
  );
  yield* ours.starts(64);
  const starts = (yield* Effect.forEach(Array.from({ length: 9 }), () => ours.starts(64))).flat();
  console.log(
    `64 runs started in the same moment, to the first model request: median ${median(starts).toFixed(0)} ms, p95 ${quantile(starts, 0.95).toFixed(0)} ms`,
  );
  console.log(`load average ${loadavg()[0]?.toFixed(1)} on this machine at the end`);
});

// The bench is a program of its own, so this is its edge.
await Effect.runPromise(Effect.scoped(measure));
process.exit(0);

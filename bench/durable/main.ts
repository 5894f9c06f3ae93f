/**
 * What a durable tool call costs, beside two bare commits, DBOS and Restate, in alternating rounds of one run.
 *
 *     npm run bench -- durable [--rounds 9] [--calls 100] [--warm-up 20] [--without-peers]
 */
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import * as Effect from "effect/Effect";
import { makeContenders, names, type Spent } from "./contenders.ts";
import { ourHost } from "./our-host.ts";
import { median, quantile } from "./statistics.ts";
import { benchServer } from "./server.ts";

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

/** Nobody pays for what the one before has left to do in the background. */
const pause = "200 millis";

const column = (millis: number, floor: number) =>
  Number.isNaN(millis)
    ? "".padStart(22)
    : `${millis.toFixed(3).padStart(8)} ms ${(millis / floor).toFixed(2).padStart(6)} x  `;

const measure = Effect.gen(function* () {
  const server = yield* benchServer;
  const ours = yield* ourHost(yield* server.makeDatabase("ours"));
  const contenders = yield* makeContenders(server, ours, !values["without-peers"]);
  const seen = new Map<string, Array<Spent>>(contenders.map(({ name }) => [name, []]));
  // Every other round goes the other way round.
  for (let round = -warmUp; round < rounds; round++) {
    for (const { name, run } of round % 2 === 0 ? contenders : contenders.toReversed()) {
      yield* Effect.sleep(pause);
      // The first finds the processor's caches full of the others' code and data; a host finds its own.
      yield* run(calls);
      const spent = yield* run(calls);
      if (round >= 0) seen.get(name)?.push(spent);
    }
  }
  const medianOf = (name: string, key: keyof Spent) =>
    median((seen.get(name) ?? []).map((spent) => spent[key]));
  const floor = medianOf(names.floor, "whole");
  console.log(
    `median of ${rounds} rounds of ${calls} calls after ${warmUp} rounds of warming up, the second of two runs in a row, beside the floor:`,
  );
  console.log(
    `  ${"".padEnd(44)}${"from call to call".padStart(20)}${"the whole run, per call".padStart(26)}`,
  );
  for (const { name } of contenders) {
    // Calls of a batch begin together.
    const toNext = name === names.batch ? Number.NaN : medianOf(name, "toNext");
    console.log(
      `  ${name.padEnd(44)}${column(toNext, floor)}${column(medianOf(name, "whole"), floor)}`,
    );
  }
  console.log(
    "  From call to call is what a durable call costs, its settlement and the next one's promise. Our whole run also reads a model's response with all the calls, records it and asks the model again; the peers have no model.",
  );
  const uncertain = {
    toNext: medianOf(names.uncertain, "toNext"),
    whole: medianOf(names.uncertain, "whole"),
  };
  const compare = (name: string, target: string) =>
    console.log(
      `our uncertain call takes ${(uncertain.toNext / medianOf(name, "toNext")).toFixed(2)} times ${name} (target: ${target}); the whole run ${(uncertain.whole / medianOf(name, "whole")).toFixed(2)} times`,
    );
  compare(names.floor, "at most 2.00");
  for (const { name } of contenders)
    if (name === names.dbos || name === names.restate) compare(name, "below 1.00");

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
      `ours, ${name}: per call ${trips.toFixed(2)} round trips (those of the run's own submission, claim and turns included), ${per("commits")} commits (claim, event numbers and idle scans included) and ${per("bytes")} bytes of WAL`,
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

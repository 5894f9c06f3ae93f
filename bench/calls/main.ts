/**
 * What a batch of 50 validated tool calls costs in memory, beside Vercel AI SDK and OpenAI Agents JS.
 *
 *     npm run bench -- calls [--rounds 9] [--runs 20]
 *
 * A run is one model response with 50 calls of one tool, the same asynchronous handler 50 times, and one last
 * answer; models are each library's own mock. In each round everybody does the same number of runs, in turns
 * that change with the round. Printed: the median of the rounds' time per call, and the median of the rounds'
 * ratios of ours to each peer. Ends with 1 when ours takes longer than a peer that does the same: ours reads every
 * response as a stream, so Vercel's generateText, which asks for one piece, has its row but decides nothing.
 * Effect AI by itself is no peer: it is what ours stands on, so the difference is what our rules cost.
 *
 * Then the bytes that each allocates per call, sampled: what the garbage collector has to do for it.
 */
import { parseArgs } from "node:util";
import { readFileSync } from "node:fs";
import { bytesPerRun } from "./allocations.ts";
import { loadOurs } from "./load-ours.ts";
import { type Contender, type Run, type Workload, workload } from "./workload.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "9" },
    runs: { type: "string", default: "20" },
  },
});

const peer = async (file: string): Promise<Contender> => {
  // Not a literal, so that types are not asked of packages that only this bench installs.
  const url = new URL(`./peers/${file}`, import.meta.url).href;
  const module = (await import(url)) as {
    readonly makeContender: (work: Workload) => Contender;
  };
  return module.makeContender(workload);
};

const versionOf = (name: string): string => {
  const file = new URL(`./peers/node_modules/${name}/package.json`, import.meta.url);
  return (JSON.parse(readFileSync(file, "utf8")) as { readonly version: string }).version;
};

const median = (numbers: ReadonlyArray<number>): number =>
  numbers.toSorted((left, right) => left - right)[Math.floor(numbers.length / 2)] ?? Number.NaN;

interface Row {
  readonly name: string;
  readonly run: Run;
}

const microsPerCall = async ({ name, run }: Row, runs: number): Promise<number> => {
  const begun = performance.now();
  for (let index = 0; index < runs; index++) {
    const { answer, handled } = await run();
    if (answer !== workload.lastAnswer || handled !== workload.calls.length)
      throw new Error(
        `${name} answered ${JSON.stringify(answer)} after ${handled} of ${workload.calls.length} calls.`,
      );
  }
  return ((performance.now() - begun) * 1_000) / (runs * workload.calls.length);
};

const rounds = Number(values.rounds);
const runs = Number(values.runs);
if (!(rounds >= 1) || !(runs >= 1))
  throw new Error("--rounds and --runs are whole numbers from 1.");

const { ours, upstream } = await loadOurs(workload);
const peers = [await peer("ai-sdk.mjs"), await peer("openai-agents.mjs")];
const all = [ours, ...peers, upstream];
const unstreamed = peers.flatMap((contender) => contender.unstreamed ?? []);
/** Everybody's way to the same: ours first. */
const rows: { readonly [Mode in "whole" | "streamed"]: ReadonlyArray<Row> } = {
  whole: [...all, ...unstreamed].map(({ name, whole }) => ({ name, run: whole })),
  streamed: all.map(({ name, streamed }) => ({ name, run: streamed })),
};
const width = Math.max(...rows.whole.map(({ name }) => name.length));
console.log(
  `ai ${versionOf("ai")}, @openai/agents ${versionOf("@openai/agents")}, Node ${process.version}; ${rounds} rounds of ${runs} runs of ${workload.calls.length} calls`,
);

let slower = false;
for (const mode of ["whole", "streamed"] as const) {
  const contenders = rows[mode];
  for (const contender of contenders) await microsPerCall(contender, runs);
  const times = new Map(contenders.map(({ name }) => [name, [] as Array<number>]));
  for (let round = 0; round < rounds; round++) {
    const first = round % contenders.length;
    for (const contender of [...contenders.slice(first), ...contenders.slice(0, first)])
      times.get(contender.name)?.push(await microsPerCall(contender, runs));
  }
  const of = (name: string): ReadonlyArray<number> => times.get(name) ?? [];
  const own = of(ours.name);
  console.log(`\n${mode === "whole" ? "the answer as a whole" : "every event read"}:`);
  for (const { name } of contenders) {
    const ratio = median(own.map((micros, round) => micros / (of(name)[round] ?? Number.NaN)));
    console.log(
      `  ${name.padEnd(width)} ${median(of(name)).toFixed(1).padStart(7)} µs per call${name === ours.name ? "" : `, ours takes ${ratio.toFixed(2)} of that`}`,
    );
    if (peers.some((contender) => contender.name === name) && !(ratio <= 1)) slower = true;
  }
}
console.log(
  "\nOurs reads every response as a stream, also for an answer as a whole: arguments are decoded from the text that the model wrote, and bounds are met while it arrives. What asks for one piece does less, and is quicker.",
);
console.log("\nallocated, the answer as a whole:");
for (const { name, run } of rows.whole) {
  const bytes = await bytesPerRun(async () => {
    await run();
  }, runs);
  const perCall = bytes / workload.calls.length / 1_024;
  console.log(`  ${name.padEnd(width)} ${perCall.toFixed(1).padStart(7)} KiB per call`);
}
if (slower) process.exitCode = 1;

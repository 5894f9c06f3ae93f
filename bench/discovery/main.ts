/**
 * Discovery on LiveMCPBench: how many of the tools that people said they needed are among the first eight.
 *
 *   npm run bench -- discovery --data FOLDER
 *
 * FOLDER holds catalogue.json and annotations.json. Each query goes through the handler of a discovery
 * tool, as in a run. Reported per search: recall at 8 for whole questions (mean share of a question's tools)
 * and for annotated steps (share of a question's tools found by any of its step queries), bytes of results,
 * processor time per query here and with 10,000 tools.
 */
import * as Effect from "effect/Effect";
import * as Stream from "effect/Stream";
import * as Tool from "effect/unstable/ai/Tool";
import * as Toolkit from "effect/unstable/ai/Toolkit";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import * as ToolDiscovery from "#lib/tool-discovery.ts";
import { ToolNamespace } from "#lib/tool-exposure.ts";

interface CatalogueTool {
  readonly server: string;
  readonly name: string;
  readonly description: string | null;
  readonly inputSchema: Record<string, unknown>;
}
interface Annotation {
  readonly Question: string;
  readonly "Annotator Metadata": { readonly Steps: string; readonly Tools: string };
}
interface Question {
  readonly text: string;
  readonly steps: ReadonlyArray<string>;
  readonly needed: ReadonlyArray<string>;
}

const { values } = parseArgs({ options: { data: { type: "string" } } });
const folder = values.data;
if (folder === undefined || !existsSync(join(folder, "catalogue.json"))) {
  console.log(
    "skipped: pass --data FOLDER with LiveMCPBench's catalogue.json and annotations.json",
  );
  process.exit(0);
}

// The benchmark's own files, trusted as far as a benchmark needs.
const catalogue = JSON.parse(
  readFileSync(join(folder, "catalogue.json"), "utf8"),
) as ReadonlyArray<CatalogueTool>;
const annotations = JSON.parse(
  readFileSync(join(folder, "annotations.json"), "utf8"),
) as ReadonlyArray<Annotation>;

const numbered = (text: string): ReadonlyArray<string> =>
  text
    .split("\n")
    .map((line) => line.replace(/^\s*\d+\.\s*/, "").trim())
    .filter((line) => line !== "");

/** Some tool names occur on several servers; a registered name is unique, so those get their server's name. */
const registeredNames = new Map<string, string>();
const makeTools = (copies: number): ReadonlyArray<Tool.Any> => {
  const taken = new Set<string>();
  return Array.from({ length: copies }, (_, copy) => copy).flatMap((copy) =>
    catalogue.map((tool) => {
      const plain = copy === 0 ? tool.name : `${tool.name}_${copy}`;
      const name = taken.has(plain) ? `${tool.server}__${plain}` : plain;
      taken.add(name);
      registeredNames.set(name, tool.name);
      return Tool.dynamic(name, {
        description: tool.description ?? "",
        parameters: tool.inputSchema,
      }).annotate(ToolNamespace, copy === 0 ? tool.server : `${tool.server}-${copy}`);
    }),
  );
};
const recordOf = (tools: ReadonlyArray<Tool.Any>): Record<string, Tool.Any> =>
  Object.fromEntries(tools.map((tool) => [tool.name, tool]));

const known = new Set(catalogue.map((tool) => tool.name));
const questions: ReadonlyArray<Question> = annotations
  .map((annotation) => ({
    text: annotation.Question,
    steps: numbered(annotation["Annotator Metadata"].Steps),
    needed: Array.from(
      new Set(numbered(annotation["Annotator Metadata"].Tools).filter((name) => known.has(name))),
    ),
  }))
  .filter((question) => question.needed.length > 0);

interface Found {
  readonly names: ReadonlySet<string>;
  readonly bytes: number;
  readonly milliseconds: number;
}

const caller = (
  search: ToolDiscovery.Search<never, never> | undefined,
  tools: Record<string, Tool.Any>,
) => {
  const discovery = ToolDiscovery.make({
    maxResultBytes: 262_144,
    ...(search === undefined ? {} : { search }),
  });
  return async (query: string): Promise<Found> => {
    const started = process.cpuUsage();
    const result = await Effect.runPromise(
      Effect.gen(function* () {
        const toolkit = yield* Toolkit.make(discovery.tool);
        const results = yield* Stream.runCollect(
          yield* toolkit.handle("discover_tools", { query }),
        );
        return results[0];
      }).pipe(
        Effect.provideService(ToolDiscovery.DiscoveryCatalogue, { tools }),
        Effect.provide(discovery.handlers),
      ),
    );
    // Processor time, so that other work on the machine does not count.
    const used = process.cpuUsage(started);
    const milliseconds = (used.user + used.system) / 1_000;
    const value = result?.result;
    const names = value !== undefined && "toolNames" in value ? value.toolNames : [];
    return {
      names: new Set(names.map((name) => registeredNames.get(name) ?? name)),
      bytes: Buffer.byteLength(JSON.stringify(result?.encodedResult)),
      milliseconds,
    };
  };
};

const mean = (numbers: ReadonlyArray<number>): number =>
  numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
const quantile = (numbers: ReadonlyArray<number>, share: number): number =>
  numbers.toSorted((left, right) => left - right)[
    Math.min(numbers.length - 1, Math.floor(numbers.length * share))
  ] ?? 0;
const clip = (text: string): string => text.slice(0, 512);

const bench = async (
  label: string,
  search: () => ToolDiscovery.Search<never, never> | undefined,
): Promise<void> => {
  const ask = caller(search(), recordOf(makeTools(1)));
  const whole: Array<number> = [];
  const steps: Array<number> = [];
  const all: Array<Found> = [];
  await ask("warm up");
  for (const question of questions) {
    const top = await ask(clip(question.text));
    all.push(top);
    whole.push(
      question.needed.filter((name) => top.names.has(name)).length / question.needed.length,
    );
    const perStep: Array<Found> = [];
    for (const step of question.steps) perStep.push(await ask(clip(step)));
    all.push(...perStep);
    steps.push(
      question.needed.filter((name) => perStep.some((found) => found.names.has(name))).length /
        question.needed.length,
    );
  }
  const large = recordOf(makeTools(19));
  const askLarge = caller(search(), large);
  const firstLarge = (await askLarge("warm up")).milliseconds;
  const timesLarge: Array<number> = [];
  for (const question of questions)
    timesLarge.push((await askLarge(clip(question.text))).milliseconds);
  const times = all.map(({ milliseconds }) => milliseconds);
  console.log(
    [
      label.padEnd(8),
      `recall@8 questions ${mean(whole).toFixed(3)}`,
      `steps ${mean(steps).toFixed(3)}`,
      `bytes mean ${Math.round(mean(all.map(({ bytes }) => bytes)))}`,
      `CPU ms p50 ${quantile(times, 0.5).toFixed(1)} p95 ${quantile(times, 0.95).toFixed(1)}`,
      `${Object.keys(large).length} tools: first ${firstLarge.toFixed(0)} ms, then p50 ${quantile(timesLarge, 0.5).toFixed(1)} p95 ${quantile(timesLarge, 0.95).toFixed(1)}`,
    ].join(" | "),
  );
};

console.log(`${questions.length} questions, ${catalogue.length} tools`);
await bench("default", () => undefined);
await bench("ranked", ToolDiscovery.rankedSearch);

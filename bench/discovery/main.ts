/**
 * How many of the tools that people said they needed are among the first eight, on LiveMCPBench.
 *
 *     npm run bench -- discovery --data ../shared/data/livemcpbench [--held-out]
 *
 * Each query goes through the handler of a discovery tool, as in a run. Reported for the default search, plain
 * BM25 and the ranked search: recall at 8 for whole questions and for annotated steps, bytes of results, processor
 * time per query, and the same time with 10,000 tools. `--held-out` also chooses the ranked search's weights on
 * half of the questions and judges them on the other half (about a minute). Ends with 1 when the ranked search does
 * not beat plain BM25 on both, or takes more than 20 ms (95 of 100 queries) with 10,000 tools.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import * as ToolDiscovery from "#lib/tool-discovery.ts";
import { readData } from "./data.ts";
import { heldOutRecall } from "./held-out.ts";
import { makeAsk, mean, measureRecall, quantile, type Recall, type Search } from "./measure.ts";
import { plainBm25 } from "./plain-bm25.ts";

const { values } = parseArgs({
  options: { data: { type: "string" }, "held-out": { type: "boolean", default: false } },
});
if (values.data === undefined || !existsSync(join(values.data, "catalogue.json"))) {
  console.error(
    "Say where the data is: npm run bench -- discovery --data ../shared/data/livemcpbench",
  );
  process.exit(1);
}
const data = readData(values.data);
const large = data.makeTools(19);

interface Row {
  readonly recall: Recall;
  readonly slowest: number;
}

const measure = async (label: string, search: () => Search | undefined): Promise<Row> => {
  const ask = makeAsk(search(), data.makeTools(1), data.plainName);
  await ask("warm up");
  const recall = await measureRecall(ask, data.questions);
  const times = recall.found.map(({ milliseconds }) => milliseconds);
  const askLarge = makeAsk(search(), large, data.plainName);
  const first = (await askLarge("warm up")).milliseconds;
  const timesLarge: Array<number> = [];
  for (const { text } of data.questions) timesLarge.push((await askLarge(text)).milliseconds);
  const slowest = quantile(timesLarge, 0.95);
  console.log(
    [
      label.padEnd(10),
      `recall@8 questions ${recall.questions.toFixed(3)}`,
      `steps ${recall.steps.toFixed(3)}`,
      `bytes mean ${Math.round(mean(recall.found.map(({ bytes }) => bytes)))}`,
      `CPU ms p50 ${quantile(times, 0.5).toFixed(1)} p95 ${quantile(times, 0.95).toFixed(1)}`,
      `${Object.keys(large).length} tools: index ${first.toFixed(0)} ms, then p50 ${quantile(timesLarge, 0.5).toFixed(1)} p95 ${slowest.toFixed(1)}`,
    ].join(" | "),
  );
  return { recall, slowest };
};

console.log(`${data.questions.length} questions, ${Object.keys(data.makeTools(1)).length} tools`);
await measure("default", () => undefined);
const plain = await measure("plain BM25", plainBm25);
const ranked = await measure("ranked", ToolDiscovery.rankedSearch);
if (values["held-out"]) {
  const { chosen, questions, steps } = await heldOutRecall(data);
  console.log(
    `ranked, weights chosen on the other half of the questions: recall@8 questions ${questions.toFixed(3)} | steps ${steps.toFixed(3)} | chosen ${JSON.stringify(chosen)}`,
  );
}
const beats =
  ranked.recall.questions > plain.recall.questions && ranked.recall.steps > plain.recall.steps;
if (!beats || ranked.slowest > 20) process.exitCode = 1;

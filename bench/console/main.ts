/**
 * The console on a seeded database: lists, counts, a long run, a large argument, live events, decisions and streams, each beside its target.
 *
 *     npm run seed -- --runs 1000000 [--url postgres://...]
 *     npm run bench -- console [--url postgres://...] [--part lists] [--rounds 5] [--events 2000000]
 *
 * Without `--url` it takes DATABASE_URL, else the bundled database of DATA_DIR, as the seed does.
 * It prints figures and asserts nothing: how they come out depends on what else the machine does, so
 * each line ends with the load while it was measured. It denies some pending approvals of the seed.
 */
import path from "node:path";
import { parseArgs } from "node:util";
import { Effect, Exit, Scope } from "effect";
import { start } from "#server/postgres/embedded/EmbeddedPostgres.ts";
import { firstPageWeight } from "../../scripts/lib/first-page.mjs";
import { openDatabase } from "./database.ts";
import { figure, say } from "./figures.ts";
import { measureLists } from "./lists.ts";
import { measureDecisions, measurePages, measureTab } from "./pages.ts";
import { startProduct } from "./product.ts";
import { measureLive, measureStreams } from "./streams.ts";

const { values } = parseArgs({
  options: {
    url: { type: "string" },
    part: { type: "string", multiple: true },
    rounds: { type: "string", default: "5" },
    events: { type: "string", default: "100000" },
    streams: { type: "string", default: "5000" },
    subscribers: { type: "string", default: "200" },
    seconds: { type: "string", default: "15" },
  },
});

const scope = Scope.makeUnsafe();
const databaseUrl = async (): Promise<string> => {
  const given = values.url ?? process.env["DATABASE_URL"];
  if (given !== undefined && given !== "") return given;
  const folder = path.resolve(process.env["DATA_DIR"] ?? ".data", "postgres");
  const bundled = start({ folder, name: "effect_agent" }).pipe(Scope.provide(scope));
  return (await Effect.runPromise(bundled)).url;
};
const url = await databaseUrl();
const rounds = Math.max(1, Number(values.rounds));
const product = await startProduct(url);
const database = await openDatabase(url);

const parts: Readonly<Record<string, () => Promise<void> | void>> = {
  lists: () => measureLists(product, rounds),
  pages: () => measurePages(product, database, rounds),
  live: () =>
    measureLive(product, database, {
      subscribers: Number(values.subscribers),
      perSecond: 500,
      seconds: Number(values.seconds),
    }),
  decisions: () => measureDecisions(product, database, 40),
  tab: () => measureTab(product, database, Number(values.events)),
  streams: () => measureStreams(product, database, Number(values.streams)),
  weight: () => {
    const weight = firstPageWeight();
    if (weight === undefined) return say("  there is no build to weigh");
    return figure("JavaScript of the first page, gzip", weight.bytes / 1_024, "KB", 250);
  },
};

try {
  for (const [name, measure] of Object.entries(parts)) {
    if (values.part !== undefined && !values.part.includes(name)) continue;
    say(`\n${name}`);
    await measure();
  }
} finally {
  await database.close();
  await product.stop();
  await Effect.runPromise(Scope.close(scope, Exit.void));
}

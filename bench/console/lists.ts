/** The run list and its counts: first, middle and last page, with every filter and every pair of filters. */
import { Schema } from "effect";
import { encodeCursor } from "#server/views/cursor.ts";
import { figure, quantile, say } from "./figures.ts";
import { type Product, timedGet } from "./product.ts";

const Page = Schema.fromJsonString(
  Schema.Struct({
    items: Schema.Array(Schema.Struct({ runId: Schema.String, createdAt: Schema.Number })),
    count: Schema.Struct({ value: Schema.Number, capped: Schema.Boolean }),
    next: Schema.optionalKey(Schema.String),
  }),
);
const decodePage = Schema.decodeUnknownSync(Page);

const day = 86_400_000;
const now = Date.now();

const filters: Readonly<Record<string, string>> = {
  state: "state=failed",
  "three states": "state=waiting&state=aborted&state=unknown",
  outcome: "outcome=completed",
  "frequent agent": "agentId=retail-desk",
  "rare agent": "agentId=pilot-desk",
  "frequent tool": "tool=get_order_details",
  "rare tool": "tool=delete_customer",
  "frequent failure": "failureTag=ModelFailed",
  "rare failure": "failureTag=CorruptEvidence",
  since: `from=${now - 60 * day}`,
  until: `to=${now - 60 * day}`,
  "long until": `to=${now - 170 * day}`,
  "frequent words": "text=gift%20card",
  "rare words": "text=W0001",
  "no such words": "text=zebra",
  "short word": "text=W0",
};

/** A cursor as the list gives it, at a moment of the history: the middle, or close to its end. */
const cursorAt = (millis: number): string =>
  encodeCursor([
    `${new Date(millis).toISOString().replace("T", " ").replace("Z", "")}+00`,
    "run_f",
  ]);

const places = [
  ["first", undefined],
  ["middle", cursorAt(now - 90 * day)],
  ["last", cursorAt(now - 179.9 * day)],
] as const;

/** One address has each filter's name once, so two filters of one kind are no pair. */
const pairsOf = (
  all: ReadonlyArray<readonly [name: string, query: string]>,
): ReadonlyArray<readonly [name: string, query: string]> => {
  const kind = (query: string) => query.slice(0, query.indexOf("="));
  return all.flatMap(([one, first], at) =>
    all
      .slice(at + 1)
      .filter(([, second]) => kind(first) !== kind(second))
      .map(([two, second]) => [`${one} + ${two}`, `${first}&${second}`] as const),
  );
};

export const measureLists = async (product: Product, rounds: number): Promise<void> => {
  const queries = [
    ["no filter", ""] as const,
    ...Object.entries(filters),
    ...pairsOf(Object.entries(filters)),
  ];
  const everything: Array<number> = [];
  const slow: Array<readonly [millis: number, name: string]> = [];
  for (const [place, cursor] of places) {
    const millis: Array<number> = [];
    for (const [name, query] of queries) {
      const address = `/runs?limit=50&${query}${cursor === undefined ? "" : `&cursor=${encodeURIComponent(cursor)}`}`;
      decodePage((await timedGet(product, address)).text);
      const times: Array<number> = [];
      for (let round = 0; round < rounds; round++)
        times.push((await timedGet(product, address)).millis);
      millis.push(...times);
      slow.push([quantile(times, 0.95), `${place} page, ${name}`]);
    }
    everything.push(...millis);
    figure(
      `run list, ${place} page, p95 of ${queries.length} filters and pairs`,
      quantile(millis, 0.95),
      "ms",
      100,
      `median ${quantile(millis, 0.5).toFixed(1)} ms, worst ${Math.max(...millis).toFixed(0)} ms`,
    );
  }
  const worst = slow.toSorted(([left], [right]) => right - left).slice(0, 8);
  for (const [millis, name] of worst) say(`  slowest: ${millis.toFixed(0)} ms p95, ${name}`);
  const counts: Array<number> = [];
  for (let round = 0; round < rounds * 10; round++)
    counts.push((await timedGet(product, "/counts")).millis);
  figure("counts of the badges, p95", quantile(counts, 0.95), "ms", 100);
  await measureOtherLists(product, rounds);
};

/** The filters of each other list, alone and in every pair of two kinds. */
const otherLists: Readonly<Record<string, ReadonlyArray<string>>> = {
  approvals: [
    ...["approved", "denied", "expired", "withdrawn"].map((state) => `state=${state}`),
    "agentId=retail-desk",
    "agentId=pilot-desk",
    "agentId=nobody",
  ],
  unknowns: ["state=open", "state=resolved"],
  denials: ["kind=denial", "kind=check-error", "acknowledged=yes", "acknowledged=no"],
  diagnostics: [],
  obligations: [],
  audit: ["verb=decide-approval", "verb=wake-run", "actorId=nobody", "accepted=yes", "accepted=no"],
};

const Linked = Schema.fromJsonString(
  Schema.Struct({ next: Schema.optionalKey(Schema.String), items: Schema.Array(Schema.Unknown) }),
);
const decodeLinked = Schema.decodeUnknownSync(Linked);
/** Pages of 200 that are walked to a page far behind the first. */
const deepPages = 20;

/** Every other list with its filters: the first page, and one behind as many pages as there are, 20 at most. */
const measureOtherLists = async (product: Product, rounds: number): Promise<void> => {
  for (const [list, alone] of Object.entries(otherLists)) {
    const queries = [
      "",
      ...alone,
      ...pairsOf(alone.map((query) => [query, query])).map(([, query]) => query),
    ];
    const millis: Array<number> = [];
    let worst: readonly [millis: number, query: string] = [0, ""];
    for (const query of queries) {
      let cursor: string | undefined;
      const addressOf = (limit: number) =>
        `/${list}?limit=${limit}&${query}${cursor === undefined ? "" : `&cursor=${encodeURIComponent(cursor)}`}`;
      for (const depth of [0, deepPages]) {
        for (let page = 0; page < depth; page++) {
          const { next } = decodeLinked((await timedGet(product, addressOf(200))).text);
          if (next === undefined) break;
          cursor = next;
        }
        await timedGet(product, addressOf(50));
        const times: Array<number> = [];
        for (let round = 0; round < rounds; round++)
          times.push((await timedGet(product, addressOf(50))).millis);
        millis.push(...times);
        const slow = quantile(times, 0.95);
        if (slow > worst[0]) worst = [slow, `${query} ${depth === 0 ? "first page" : "deep page"}`];
      }
    }
    figure(
      `list of ${list}, first and deep page, p95 of ${queries.length} filters and pairs`,
      quantile(millis, 0.95),
      "ms",
      100,
      `worst ${worst[0].toFixed(0)} ms, ${worst[1] || "no filter"}`,
    );
  }
};

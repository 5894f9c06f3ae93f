/**
 * A chaos plan: what is asked of the hosts and what goes wrong meanwhile, from two
 * numbers. The plan is the same each time; what the processes make of it is not,
 * which is the point.
 */
import { failpoints } from "#lib/testing/failpoints.ts";
import { type EffectTool, effectTools, type Script, type ScriptedCall } from "../fleet/agent.ts";

export type Mishap =
  | { readonly atMs: number; readonly what: "kill" | "pause"; readonly host: number }
  | { readonly atMs: number; readonly what: "restart-postgres" }
  | { readonly atMs: number; readonly what: "abort"; readonly submission: number };

export interface Plan {
  readonly seed: number;
  readonly number: number;
  /** 1: a host that works alone; 2: members of a cluster. */
  readonly hosts: number;
  /** Where the first host dies by itself, and the how-manieth time it comes there. */
  readonly killAt: string | undefined;
  /** Submissions in order; the same lane is the same thread. */
  readonly submissions: ReadonlyArray<{ readonly lane: number; readonly script: Script }>;
  /** In order of time. */
  readonly mishaps: ReadonlyArray<Mishap>;
  /** One answer after the other, again from the start when they run out. */
  readonly decisions: ReadonlyArray<"approved" | "denied">;
}

/** mulberry32: small, fast, and the same on every machine. */
const generator = (seed: number) => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const between = (low: number, high: number) => low + Math.floor(next() * (high - low + 1));
  return {
    between,
    chance: (probability: number) => next() < probability,
    many: <A>(count: number, make: (index: number) => A): ReadonlyArray<A> =>
      Array.from({ length: count }, (_, index) => make(index)),
    oneOf: <A>(first: A, ...rest: ReadonlyArray<A>): A =>
      [first, ...rest][between(0, rest.length)] ?? first,
  };
};
type Generator = ReturnType<typeof generator>;

const callOf = (random: Generator): ScriptedCall => {
  if (random.chance(0.15)) return { tool: "look" };
  const tool: EffectTool = random.oneOf(...effectTools);
  return {
    tool,
    params: {
      amount: random.between(1, 1_000),
      beforeMs: random.between(0, 120),
      afterMs: random.between(0, 120),
      decline: random.chance(tool === "transfer" ? 0.1 : 0.05),
    },
  };
};

const scriptOf = (random: Generator): Script => ({
  modelMs: random.between(0, 60),
  turns: random.many(random.between(1, 3), () =>
    random.many(random.between(1, 4), () => callOf(random)),
  ),
});

/** Milliseconds in which things go wrong; what is left after them is finished in peace. */
export const stormMillis = 1_500;

const mishapOf = (random: Generator, hosts: number, submissions: number): Mishap => {
  const atMs = random.between(50, stormMillis);
  const dice = random.between(1, 10);
  if (dice <= 4) return { atMs, what: "kill", host: random.between(0, hosts - 1) };
  if (dice <= 6) return { atMs, what: "pause", host: random.between(0, hosts - 1) };
  if (dice <= 9) return { atMs, what: "abort", submission: random.between(0, submissions - 1) };
  return { atMs, what: "restart-postgres" };
};

/** Host places only: what operators do happens in the process of the proof. */
const killPlaces = failpoints.filter(
  (place) =>
    !/decide-approval|resolve-unknown|abort-run|extend-approval|probe-unknown|wake-run|retry-run|acknowledge-denial|export-proof|:admit|during-effect|probe:/.test(
      place,
    ),
);

export const planOf = (seed: number, number: number): Plan => {
  const random = generator(Math.imul(seed, 1_000_003) + number);
  const hosts = random.chance(0.3) ? 2 : 1;
  const lanes = random.between(2, 6);
  const submissions = random.many(random.between(lanes, lanes * 2), (index) => ({
    lane: index < lanes ? index : random.between(0, lanes - 1),
    script: scriptOf(random),
  }));
  const [firstPlace = "after:claim", ...places] = killPlaces;
  return {
    seed,
    number,
    hosts,
    killAt: random.chance(0.5)
      ? `${random.oneOf<string>(firstPlace, ...places)}:${random.between(1, 3)}`
      : undefined,
    submissions,
    mishaps: random
      .many(random.between(1, 5), () => mishapOf(random, hosts, submissions.length))
      .toSorted((one, other) => one.atMs - other.atMs),
    decisions: random.many(16, () => (random.chance(0.75) ? "approved" : "denied")),
  };
};

/** One line that says what a plan holds. */
export const describePlan = (plan: Plan): string =>
  [
    `seed ${plan.seed} plan ${plan.number}`,
    `${plan.hosts} host${plan.hosts === 1 ? "" : "s"}`,
    `${plan.submissions.length} submissions`,
    ...(plan.killAt === undefined ? [] : [`kill at ${plan.killAt}`]),
    ...plan.mishaps.map((mishap) => `${mishap.what}@${mishap.atMs}`),
  ].join(", ");

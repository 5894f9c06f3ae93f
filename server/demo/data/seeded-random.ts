/**
 * A small deterministic generator (mulberry32). The bundled shop must be the
 * same on every machine and every Node release, so it owns its arithmetic.
 */
export interface SeededRandom {
  /** A whole number in [0, bound). */
  readonly below: (bound: number) => number;
  readonly pick: <A>(from: ReadonlyArray<A>) => A;
  /** `count` different elements, in random order. */
  readonly sample: <A>(from: ReadonlyArray<A>, count: number) => Array<A>;
  /** A string of `length` digits that does not start with 0. */
  readonly digits: (length: number) => string;
}

export const makeSeededRandom = (seed: number): SeededRandom => {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const below = (bound: number) => next() % bound;
  const pick = <A>(from: ReadonlyArray<A>): A => {
    if (from.length === 0) throw new RangeError("pick from an empty list");
    // The index is below the length, so the element exists even where A includes undefined.
    return from[below(from.length)] as A;
  };
  const sample = <A>(from: ReadonlyArray<A>, count: number): Array<A> => {
    const rest = [...from];
    const chosen: Array<A> = [];
    while (chosen.length < count && rest.length > 0)
      chosen.push(...rest.splice(below(rest.length), 1));
    return chosen;
  };
  const digits = (length: number) =>
    Array.from({ length }, (_, index) => (index === 0 ? 1 + below(9) : below(10))).join("");
  return { below, pick, sample, digits };
};

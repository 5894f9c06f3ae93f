/**
 * Imported first: moves every clock reading of this process by FLEET_CLOCK_SKEW_MS
 * milliseconds, as a host with a wrong clock has it. Timers keep their pace, as they do there.
 */
const skew = Number(process.env["FLEET_CLOCK_SKEW_MS"] ?? "0");

if (skew !== 0) {
  const Real = Date;
  class SkewedDate extends Real {
    constructor(...values: ReadonlyArray<unknown>) {
      // Only `new Date()` reads the clock; the other forms say which moment they mean.
      super(...((values.length === 0 ? [Real.now() + skew] : values) as [number]));
    }
    static override now(): number {
      return Real.now() + skew;
    }
  }
  // Called without `new`, Date gives a string; a class does not, and nothing here calls it so.
  globalThis.Date = SkewedDate as DateConstructor;
}

export {};

/**
 * The server's clock as seen from here. Countdowns, ages and expiries are computed from it, so a
 * browser whose clock is wrong shows the same times as everyone else (OP-10).
 */

export interface ServerClock {
  /**
   * Takes one answer that carried the server's time.
   *
   * @param serverTime milliseconds since 1970 as the server said
   * @param sentAt local milliseconds when the request left
   * @param receivedAt local milliseconds when the answer was here
   */
  readonly observe: (serverTime: number, sentAt: number, receivedAt: number) => void;
  /** The server's time now, in milliseconds since 1970; the local clock until the first answer. */
  readonly now: () => number;
}

/** A sample older than this no longer beats a newer one with a longer way. */
const sampleLifeMillis = 120_000;

/** @param localNow a clock in milliseconds since 1970 that does not jump, for instance `performance.timeOrigin + performance.now()` */
export const makeServerClock = (localNow: () => number): ServerClock => {
  let offset = 0;
  let roundTrip = Number.POSITIVE_INFINITY;
  let sampledAt = Number.NEGATIVE_INFINITY;
  return {
    observe: (serverTime, sentAt, receivedAt) => {
      const trip = Math.max(0, receivedAt - sentAt);
      const stale = receivedAt - sampledAt > sampleLifeMillis;
      // The shortest way gives the least doubt about when the server looked at its clock.
      if (!stale && trip > roundTrip) return;
      offset = serverTime - (sentAt + trip / 2);
      roundTrip = trip;
      sampledAt = receivedAt;
    },
    now: () => Math.round(localNow() + offset),
  };
};

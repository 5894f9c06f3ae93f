/**
 * What a batch must do, written as plainly as possible: an event simulation
 * without fibers, to compare the real scheduler with.
 */
export interface ModelCall {
  readonly name: number;
  readonly millis: number;
  readonly outcome: "ok" | "fail" | "die";
  readonly barrier: boolean;
  /** How long its finalizer takes when it is interrupted. */
  readonly closingMillis: number;
}

export type CallFact =
  | { readonly at: number; readonly name: number; readonly what: "start" | "ok" | "fail" | "die" }
  | { readonly at: number; readonly name: number; readonly what: "closed" };

export interface Schedule {
  readonly facts: ReadonlyArray<CallFact>;
  readonly outcome: "ok" | "fail" | "die";
  readonly endsAt: number;
}

const segmentsOf = (calls: ReadonlyArray<ModelCall>): ReadonlyArray<ReadonlyArray<ModelCall>> => {
  const segments: Array<Array<ModelCall>> = [];
  let mayJoin = false;
  for (const call of calls) {
    if (mayJoin && !call.barrier) segments.at(-1)?.push(call);
    else segments.push([call]);
    mayJoin = !call.barrier;
  }
  return segments;
};

export const referenceSchedule = (
  calls: ReadonlyArray<ModelCall>,
  concurrency: number,
): Schedule => {
  const facts: Array<CallFact> = [];
  let now = 0;
  for (const segment of segmentsOf(calls)) {
    const waiting = [...segment];
    let running: Array<{ readonly call: ModelCall; readonly endsAt: number }> = [];
    while (waiting.length > 0 || running.length > 0) {
      while (running.length < concurrency) {
        const call = waiting.shift();
        if (call === undefined) break;
        facts.push({ at: now, name: call.name, what: "start" });
        running.push({ call, endsAt: now + call.millis });
      }
      const next = running.reduce((first, other) => (other.endsAt < first.endsAt ? other : first));
      running = running.filter((other) => other !== next);
      now = next.endsAt;
      facts.push({ at: now, name: next.call.name, what: next.call.outcome });
      if (next.call.outcome !== "ok") {
        const endsAt = Math.max(now, ...running.map(({ call }) => now + call.closingMillis));
        for (const { call } of running)
          facts.push({ at: now + call.closingMillis, name: call.name, what: "closed" });
        return { facts, outcome: next.call.outcome, endsAt };
      }
    }
  }
  return { facts, outcome: "ok", endsAt: now };
};

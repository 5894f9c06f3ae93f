/**
 * What a whole run must do, written as plainly as possible: the rules of preflight, batches, failures and
 * interruption over the reference schedule of one batch. No fibers, no engine.
 */
import { type CallFact, referenceSchedule } from "#tests/scheduling/reference-schedule.ts";

/** `soft` returns its failures to the model, `work` and `barrier` end the run with them; `barrier` runs alone. */
export type PlannedTool = "work" | "soft" | "barrier";

export interface PlannedCall {
  readonly name: number;
  readonly tool: PlannedTool;
  readonly millis: number;
  readonly closingMillis: number;
  readonly outcome: "ok" | "fail" | "die";
  readonly arguments: "valid" | "invalid" | "unknown-tool";
}

/** One batch per turn; after the last one the model answers. */
export interface PlannedRun {
  readonly batches: ReadonlyArray<ReadonlyArray<PlannedCall>>;
  readonly concurrency: number;
  /** When the caller interrupts, in milliseconds from the start. */
  readonly interruptAt: number | undefined;
}

/** A result as the next request shows it; what a rejection says is not the model's business here. */
export interface ModelSees {
  readonly name: number;
  readonly kind: "ok" | "fail" | "rejected";
}

export interface ExpectedRun {
  readonly facts: ReadonlyArray<CallFact>;
  readonly outcome: "completed" | "failed" | "defect" | "refused" | "interrupted";
  /** Whose failure ended the run. */
  readonly endedBy: number | undefined;
  /** Results per request after the first, each in declaration order (B-05). */
  readonly requests: ReadonlyArray<ReadonlyArray<ModelSees>>;
  /** Calls with a settled event, in the order in which they ended; rejections of a batch come first. */
  readonly settled: ReadonlyArray<number>;
  readonly endsAt: number;
  /** False when the run was over, or already failing, before the caller interrupts. */
  readonly interrupts: boolean;
}

/** One refused call refuses its batch; only a `soft` call with invalid arguments keeps its slot (B-02, F-06). */
const isRefused = (batch: ReadonlyArray<PlannedCall>): boolean =>
  batch.some(
    (call) =>
      call.arguments === "unknown-tool" || (call.arguments === "invalid" && call.tool !== "soft"),
  );

/** A failure that goes back to the model does not end its batch (F-02). */
const isReturned = (call: PlannedCall | undefined): boolean =>
  call?.tool === "soft" && call.outcome === "fail";

const seen = (call: PlannedCall): ModelSees => ({
  name: call.name,
  kind: call.arguments === "invalid" ? "rejected" : call.outcome === "ok" ? "ok" : "fail",
});

/** Everything up to `at`; whatever runs then is interrupted and closes in its own time (B-07). */
const interruptedFacts = (
  facts: ReadonlyArray<CallFact>,
  calls: ReadonlyArray<PlannedCall>,
  at: number,
): ReadonlyArray<CallFact> => {
  const before = facts.filter((fact) => fact.at < at);
  const ended = new Set(before.filter((fact) => fact.what !== "start").map(({ name }) => name));
  const running = before.filter((fact) => fact.what === "start" && !ended.has(fact.name));
  const closingOf = (name: number) => calls.find((call) => call.name === name)?.closingMillis ?? 0;
  return [
    ...before,
    ...running.map(({ name }): CallFact => ({ at: at + closingOf(name), name, what: "closed" })),
  ];
};

export const referenceRun = (plan: PlannedRun): ExpectedRun => {
  const facts: Array<CallFact> = [];
  const requests: Array<ReadonlyArray<ModelSees>> = [];
  const settled: Array<number> = [];
  let now = 0;
  const end = (
    outcome: ExpectedRun["outcome"],
    endedBy: number | undefined = undefined,
    endsAt = now,
  ): ExpectedRun => ({
    facts,
    outcome,
    endedBy,
    requests,
    settled,
    endsAt,
    interrupts: outcome === "interrupted",
  });
  for (const batch of plan.batches) {
    if (isRefused(batch)) return end("refused");
    settled.push(...batch.filter((call) => call.arguments === "invalid").map(({ name }) => name));
    const running = batch.filter((call) => call.arguments === "valid");
    const schedule = referenceSchedule(
      running.map((call) => ({
        ...call,
        barrier: call.tool === "barrier",
        outcome: isReturned(call) ? "ok" : call.outcome,
      })),
      plan.concurrency,
    );
    const begun = now;
    const here = schedule.facts.map((fact): CallFact => ({
      at: begun + fact.at,
      name: fact.name,
      what:
        fact.what === "ok" && isReturned(batch.find(({ name }) => name === fact.name))
          ? "fail"
          : fact.what,
    }));
    const endedBy = here.find(
      (fact) =>
        (fact.what === "fail" || fact.what === "die") &&
        !isReturned(batch.find(({ name }) => name === fact.name)),
    );
    const decidedAt = endedBy?.at ?? begun + schedule.endsAt;
    const isEnd = (fact: CallFact) => fact.what === "ok" || fact.what === "fail";
    if (plan.interruptAt !== undefined && plan.interruptAt < decidedAt) {
      const cut = interruptedFacts(here, batch, plan.interruptAt);
      facts.push(...cut);
      settled.push(...cut.filter(isEnd).map(({ name }) => name));
      return end("interrupted", undefined, Math.max(plan.interruptAt, ...cut.map(({ at }) => at)));
    }
    facts.push(...here);
    settled.push(...here.filter(isEnd).map(({ name }) => name));
    now = begun + schedule.endsAt;
    if (endedBy !== undefined)
      return end(endedBy.what === "die" ? "defect" : "failed", endedBy.name);
    requests.push(batch.map(seen));
  }
  return end("completed");
};

/**
 * What every adapter of the durable ports must keep, as cases for any test runner.
 * Each is an effect over the ports that fails with a sentence; they share no state
 * and may run at once, on a store that holds anything else.
 *
 * ```ts
 * import { durableConformance } from "effect-agent/testing/durable-conformance"
 *
 * for (const { name, effect } of durableConformance) {
 *   it.live(name, () => effect.pipe(Effect.provide(myPorts)))
 * }
 * ```
 *
 * The clock must be a real one: the cases wait for a store that works in the background.
 */
import { approvalCases } from "./conformance/approval-cases.ts";
import { auditCases, diagnosticCases, eventCases } from "./conformance/evidence-cases.ts";
import type { ConformanceCase } from "./conformance/harness.ts";
import { journalCases } from "./conformance/journal-cases.ts";
import { ledgerCases } from "./conformance/ledger-cases.ts";
import { resultCases } from "./conformance/result-cases.ts";
import { unknownCases } from "./conformance/unknown-cases.ts";

export type { ConformanceCase, DurablePorts, PromiseBroken } from "./conformance/harness.ts";

export const durableConformance: ReadonlyArray<ConformanceCase> = [
  ...journalCases,
  ...ledgerCases,
  ...approvalCases,
  ...unknownCases,
  ...eventCases,
  ...auditCases,
  ...diagnosticCases,
  ...resultCases,
];

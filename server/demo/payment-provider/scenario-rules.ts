/**
 * Faults that the bundled shop's ready-made requests rely on; in force besides
 * whatever is switched on at run time. The orders are those of `data/featured.ts`.
 */
import type { FaultRule } from "./provider-contract.ts";

export const scenarioRules: ReadonlyArray<FaultRule> = [
  // Nadia Haddad's card issuer says no.
  { request_kind: "refund", order_id: "#W1000005", behaviour: "decline" },
  // Omar Castillo's refund is booked, and then the line goes dead: also for whoever asks how it went.
  { request_kind: "refund", order_id: "#W1000006", behaviour: "drop-after-commit" },
  { request_kind: "status", order_id: "#W1000006", behaviour: "drop-before-commit" },
  // Ruth Abebe's refund takes its time: long enough to kill the process while it is under way.
  { request_kind: "refund", order_id: "#W1000009", behaviour: "delay", delay_millis: 8_000 },
];

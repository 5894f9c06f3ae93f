/**
 * Which role an operator's act needs (Z-12). One total table: a new act does not
 * compile until it stands here. This is about people using the API; whether a
 * tool call may run is `authorization` and lives in the engine.
 */
import type { OperatorRole } from "#lib/contract/status.ts";

export type OperatorAct =
  | "view"
  | "decide-approval"
  | "extend-approval"
  | "look-at-approval"
  | "submit-input"
  | "abort-run"
  | "resolve-unknown"
  | "probe-unknown"
  | "wake-run"
  | "retry-run"
  | "acknowledge-denial"
  | "read-diagnostics"
  | "read-audit"
  | "export-proof"
  | "verify-journal"
  | "create-sign-in-link"
  | "set-own-password";

/** The lowest role that may do the act. */
export const neededRole: Record<OperatorAct, OperatorRole> = {
  view: "viewer",
  "decide-approval": "decider",
  "extend-approval": "decider",
  "look-at-approval": "decider",
  "submit-input": "operator",
  "abort-run": "operator",
  "resolve-unknown": "operator",
  "probe-unknown": "operator",
  "wake-run": "operator",
  "retry-run": "operator",
  "acknowledge-denial": "operator",
  "read-diagnostics": "operator",
  "read-audit": "operator",
  "export-proof": "operator",
  "verify-journal": "operator",
  "create-sign-in-link": "admin",
  "set-own-password": "viewer",
};

const rank: Record<OperatorRole, number> = { viewer: 0, decider: 1, operator: 2, admin: 3 };

export const mayAct = (role: OperatorRole, act: OperatorAct): boolean =>
  rank[role] >= rank[neededRole[act]];

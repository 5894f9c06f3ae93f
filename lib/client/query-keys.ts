/** Keys of every read, by resource first, so that an event can name what it makes old. */
import type { ListQuery } from "./api.ts";

export const keys = {
  me: ["me"] as const,
  counts: ["counts"] as const,
  agents: ["agents"] as const,
  workers: ["workers"] as const,
  run: (runId: string) => ["run", runId] as const,
  runTurns: (runId: string, first: number) => ["run-turns", runId, first] as const,
  runTimes: (runId: string, before: number) => ["run-times", runId, before] as const,
  runAt: (runId: string, sequence: number) => ["run-at", runId, sequence] as const,
  records: (runId: string, at?: number) =>
    at === undefined ? (["records", runId] as const) : (["records-at", runId, at] as const),
  exposure: (runId: string, turn: number) => ["exposure", runId, turn] as const,
  runExplanation: (runId: string) => ["run", runId, "explanation"] as const,
  explanation: (runId: string, turn: number, tool: string, at?: number) =>
    ["explanation", runId, turn, tool, at ?? "now"] as const,
  runs: (query: ListQuery) => ["runs", query] as const,
  approval: (requestId: string) => ["approval", requestId] as const,
  approvals: (query: ListQuery) => ["approvals", query] as const,
  /** What was, which no event changes. */
  approvalsAt: (sequence: number) => ["approvals-at", sequence] as const,
  unknownsAt: (sequence: number) => ["unknowns-at", sequence] as const,
  unknown: (unknownId: string) => ["unknown", unknownId] as const,
  unknowns: (query: ListQuery) => ["unknowns", query] as const,
  denials: (query: ListQuery) => ["denials", query] as const,
  diagnostic: (diagnosticId: string) => ["diagnostic", diagnosticId] as const,
  diagnostics: (query: ListQuery) => ["diagnostics", query] as const,
  obligations: (query: ListQuery) => ["obligations", query] as const,
  audit: (query: ListQuery) => ["audit", query] as const,
};

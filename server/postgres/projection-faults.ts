/** Differences between live and rebuilt rows as faults: the same row of both sides is one fault with the columns that differ. */
import type { JournalFault } from "#lib/durable/verify-thread.ts";
import { shown } from "#lib/durable/verify-thread.ts";
import type { ProjectionDifference } from "./rebuild-projections.ts";

/** What names a row of each table to a person. */
const keysOf: Readonly<Record<string, ReadonlyArray<string>>> = {
  runs: ["run_id"],
  run_tools: ["run_id", "tool_name"],
  turns: ["run_id", "turn"],
  tool_calls: ["run_id", "turn", "call_id"],
  approval_requests: ["request_id"],
  unknown_outcomes: ["unknown_id"],
  unknown_probes: ["probe_id"],
  denials: ["denial_id"],
  abort_requests: ["run_id"],
  submissions: ["submission_id"],
};

type Columns = Readonly<Record<string, unknown>>;

const columnsOf = (row: string): Columns => {
  const value: unknown = JSON.parse(row);
  return typeof value === "object" && value !== null ? { ...value } : {};
};

const textOf = (columns: Columns, names: ReadonlyArray<string>): string =>
  names.map((name) => `${name} ${JSON.stringify(columns[name])}`).join(", ");

export const projectionFaults = (
  differences: ReadonlyArray<ProjectionDifference>,
): ReadonlyArray<JournalFault> => {
  const rows = new Map<string, { name: string; live?: Columns; rebuilt?: Columns }>();
  for (const { table, side, row } of differences) {
    const columns = columnsOf(row);
    const name = `${table}: ${textOf(columns, keysOf[table] ?? ["run_id"])}`;
    rows.set(name, { ...rows.get(name), name, [side]: columns });
  }
  return [...rows.values()].map(({ name, live, rebuilt }): JournalFault => {
    const one = rebuilt ?? live ?? {};
    const differing = Object.keys(one).filter(
      (column) => JSON.stringify(live?.[column]) !== JSON.stringify(rebuilt?.[column]),
    );
    return {
      kind: "projection",
      where: String(one["thread_id"] ?? one["run_id"] ?? ""),
      sequence: null,
      expected: shown(
        rebuilt === undefined
          ? `no row ${name}`
          : live === undefined
            ? `a row ${name}`
            : `${name}: ${textOf(rebuilt, differing)}`,
      ),
      seen: shown(
        live === undefined ? "none" : rebuilt === undefined ? "one" : textOf(live, differing),
      ),
    };
  });
};

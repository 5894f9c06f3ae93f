/** The changes of one batch while they are collected; `projectRecords` makes one and hands out what it holds. */
import type { CallState, RunState } from "#lib/contract/status.ts";

export type Column = string | number | boolean | null | undefined;
export type Row = Record<string, Column>;

/** Rows by table; keys are columns. Absent parts change nothing. */
export interface ProjectionChanges {
  readonly run?: Row;
  readonly submission?: "waiting" | "unknown" | "settled";
  /** The run came further: attempts that were lost before this count no more. */
  readonly progressed?: true;
  readonly turns?: ReadonlyArray<Row>;
  readonly calls?: ReadonlyArray<Row>;
  readonly call_changes?: ReadonlyArray<Row>;
  /** What destinations answered about effects in doubt. */
  readonly probes?: ReadonlyArray<Row>;
  readonly people?: {
    readonly [Part in PeoplePart]?: ReadonlyArray<Row>;
  };
}

/** Whether the batch changed calls and nothing else, as nearly every one does; that the run came further counts as a call's. */
export const changesOnlyCalls = (changes: ProjectionChanges): boolean =>
  changes.call_changes !== undefined &&
  Object.keys(changes).every((part) => part === "call_changes" || part === "progressed");

type PeoplePart =
  | "approvals"
  | "decisions"
  | "unknowns"
  | "resolutions"
  | "reconciled"
  | "denials"
  | "aborts";

export class ProjectionDraft {
  run: Row | undefined;
  submission: "waiting" | "unknown" | "settled" | undefined;
  progressed = false;
  readonly turns: Array<Row> = [];
  readonly calls: Array<Row> = [];
  readonly callChanges = new Map<string, Row>();
  readonly probes: Array<Row> = [];
  readonly people: { [Part in PeoplePart]?: Array<Row> } = {};

  changeRun(columns: Row & { readonly state?: RunState }): void {
    this.run = { ...this.run, ...columns };
  }

  addToRun(counts: {
    readonly [
      Column in "attempts" | "turns" | "tool_calls" | "input_tokens" | "output_tokens"
    ]?: number;
  }): void {
    const run: Row = { ...this.run };
    for (const [column, count] of Object.entries(counts)) {
      const before = run[column];
      run[column] = (typeof before === "number" ? before : 0) + count;
    }
    this.run = run;
  }

  /** The UPDATE joins each call once, so several changes of one call are merged here. */
  changeCall(
    call: { readonly turn: number; readonly callId: string },
    columns: Row & { readonly state?: CallState },
  ): void {
    const key = JSON.stringify([call.turn, call.callId]);
    this.callChanges.set(key, {
      ...this.callChanges.get(key),
      turn: call.turn,
      call_id: call.callId,
      ...columns,
    });
  }

  addPeople(part: PeoplePart, row: Row): void {
    (this.people[part] ??= []).push(row);
  }

  changes(): ProjectionChanges {
    return {
      ...(this.run === undefined ? {} : { run: this.run }),
      ...(this.submission === undefined ? {} : { submission: this.submission }),
      ...(this.progressed ? { progressed: true } : {}),
      ...(this.turns.length === 0 ? {} : { turns: this.turns }),
      ...(this.calls.length === 0 ? {} : { calls: this.calls }),
      ...(this.callChanges.size === 0 ? {} : { call_changes: [...this.callChanges.values()] }),
      ...(this.probes.length === 0 ? {} : { probes: this.probes }),
      ...(Object.keys(this.people).length === 0 ? {} : { people: this.people }),
    };
  }
}

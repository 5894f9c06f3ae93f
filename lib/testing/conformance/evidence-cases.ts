import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import * as Stream from "effect/Stream";
import { DiagnosticId } from "#lib/contract/ids.ts";
import { Audit } from "#lib/durable/Audit.ts";
import type { AuditEntry } from "#lib/durable/audit-chain.ts";
import { Diagnostics } from "#lib/durable/Diagnostics.ts";
import { EventLog } from "#lib/durable/EventLog.ts";
import type { DiagnosticToStore } from "#lib/durable/Journal.ts";
import { makeAuditVerifier } from "#lib/durable/verify-audit.ts";
import {
  type ConformanceCase,
  follow,
  holds,
  newTenant,
  promise,
  same,
  started,
} from "./harness.ts";
import { ada } from "./run-records.ts";

const modelRequested = (turn: number) => ({
  event: { _tag: "ModelRequested", turn } as const,
  at: turn,
});

export const eventCases: ReadonlyArray<ConformanceCase> = [
  promise(
    "[OP-01] a reader that follows while eight runs write meets every event once, without a gap and in each run's order",
    Effect.gen(function* () {
      const tenantId = yield* newTenant;
      const turns = 12;
      const write = Effect.gen(function* () {
        const { writer, of } = yield* started({ tenantId });
        yield* writer.append([of.opened()]);
        for (let turn = 1; turn <= turns; turn++)
          yield* writer.append([], { events: [modelRequested(turn)] });
      });
      // Each run: queued, started, and one event per turn.
      const expected = 8 * (turns + 2);
      const [seen] = yield* Effect.all(
        [
          follow(tenantId, expected),
          Effect.forEach(Array.from({ length: 8 }), () => write, { concurrency: 8 }),
        ],
        { concurrency: 2 },
      );
      yield* same(
        "the sequence",
        seen.map((logged) => logged.sequence),
        Array.from({ length: expected }, (_, index) => index + 1),
      );
      const runs = new Map<string, Array<string>>();
      for (const { runId, event } of seen) {
        const words = event._tag === "ModelRequested" ? `turn ${event.turn}` : event._tag;
        runs.set(runId, [...(runs.get(runId) ?? []), words]);
      }
      const inOrder = [
        "RunQueued",
        "RunStarted",
        ...Array.from({ length: turns }, (_, index) => `turn ${index + 1}`),
      ];
      yield* same(
        "the events of each run",
        [...runs.values()],
        Array.from({ length: 8 }, () => inOrder),
      );
      const log = yield* EventLog;
      yield* same("the bounds", yield* log.bounds(tenantId), { first: 1, last: expected });
    }),
  ),
  promise(
    "[OP-01] events of an append come with its records: soft ones first, and none of an append that was refused",
    Effect.gen(function* () {
      const { place, writer, of } = yield* started();
      yield* writer.append([of.opened()], { events: [modelRequested(1)] });
      yield* Effect.exit(
        writer.append([of.opened(), of.runSettled(), of.runSettled()], {
          events: [modelRequested(2)],
        }),
      );
      yield* writer.append([of.attempt()]);
      const log = yield* EventLog;
      const { tenantId, runId } = place;
      yield* follow(tenantId, 4);
      const ofRun = yield* log.read({ tenantId, runId, after: 0, limit: 100 });
      yield* same(
        "the events",
        ofRun.map((logged) => logged.event._tag),
        ["RunQueued", "ModelRequested", "RunStarted", "AttemptStarted"],
      );
      yield* same(
        "a foreign tenant's",
        yield* log.read({ tenantId: yield* newTenant, runId, after: 0, limit: 9 }),
        [],
      );
    }),
  ),
  promise(
    "[PG-04] who subscribed before an append gets a hint after it",
    Effect.scoped(
      Effect.gen(function* () {
        const { place, writer, of } = yield* started();
        yield* follow(place.tenantId, 1);
        const log = yield* EventLog;
        const hints = yield* log.hints(place.tenantId);
        yield* writer.append([of.opened()]);
        const hint = yield* Stream.runHead(hints).pipe(Effect.timeoutOption("20 seconds"));
        yield* holds("a hint came", Option.isSome(hint));
      }),
    ),
  ),
];

const entryOf = (tenantId: string, act: number): AuditEntry => ({
  tenantId,
  actor: ada,
  verb: "abort-run",
  target: `run_${act}`,
  runId: null,
  accepted: act % 3 !== 0,
  reason: act === 4 ? "lone \ud800 and \u0000" : "enough",
  before: null,
  after: { act, text: "\u0000" },
  commandId: null,
});

export const auditCases: ReadonlyArray<ConformanceCase> = [
  promise(
    "[OP-09] acts written at once stand in one chain per tenant that a reader can recompute, refused ones too",
    Effect.gen(function* () {
      const audit = yield* Audit;
      const tenantId = yield* newTenant;
      const other = yield* newTenant;
      const sequences = yield* Effect.forEach(
        Array.from({ length: 20 }, (_, act) => act),
        (act) => Effect.map(audit.append(entryOf(tenantId, act)), (row) => row.sequence),
        { concurrency: 6 },
      );
      yield* audit.append(entryOf(other, 1));
      const inOrder = Array.from({ length: 20 }, (_, index) => index + 1);
      yield* same(
        "the places",
        sequences.toSorted((a, b) => a - b),
        inOrder,
      );
      const rows = yield* audit.read({ tenantId, after: 0, limit: 1_000 });
      const verifier = makeAuditVerifier(tenantId);
      yield* same("the faults", rows.flatMap(verifier.take), []);
      yield* same("the refused acts", rows.filter((row) => !row.accepted).length, 7);
    }),
  ),
  promise(
    "[A-10] what is written stays as it is: later acts change no row before them",
    Effect.gen(function* () {
      const audit = yield* Audit;
      const tenantId = yield* newTenant;
      for (let act = 0; act < 3; act++) yield* audit.append(entryOf(tenantId, act));
      const before = yield* audit.read({ tenantId, after: 0, limit: 3 });
      for (let act = 3; act < 6; act++) yield* audit.append(entryOf(tenantId, act));
      yield* same("the rows", yield* audit.read({ tenantId, after: 0, limit: 3 }), before);
      const page = yield* audit.read({ tenantId, after: 2, limit: 2 });
      yield* same(
        "a page",
        page.map((row) => row.sequence),
        [3, 4],
      );
    }),
  ),
];

const diagnosticOf = (
  number: number,
  more: Partial<DiagnosticToStore> = {},
): DiagnosticToStore => ({
  diagnosticId: DiagnosticId.make(`dia_${number}`),
  fingerprint: "print-1",
  title: "it failed",
  toolName: "refund",
  callId: "c1",
  encoded: { number },
  ...more,
});

export const diagnosticCases: ReadonlyArray<ConformanceCase> = [
  promise(
    "[DX-06] evidence is stored with the records that name it, once, and only its tenant finds it",
    Effect.gen(function* () {
      const { place, writer, of } = yield* started();
      const diagnostics = yield* Diagnostics;
      const first = diagnosticOf(1);
      yield* writer.append([of.opened()], { diagnostics: [first] });
      yield* writer.append([of.attempt()], { diagnostics: [diagnosticOf(1, { title: "again" })] });
      const { diagnosticId } = first;
      const found = yield* diagnostics.find({ tenantId: place.tenantId, diagnosticId });
      yield* same(
        "the evidence",
        Option.map(found, (row) => [row.title, row.runId, row.toolName, row.diagnostic]),
        Option.some(["it failed", place.runId, "refund", { number: 1 }]),
      );
      const foreign = yield* diagnostics.find({ tenantId: yield* newTenant, diagnosticId });
      yield* holds("another tenant finds nothing", Option.isNone(foreign));
    }),
  ),
  promise(
    "[DX-04] evidence is bounded: long titles and names are cut, and no list has more than 200 rows",
    Effect.gen(function* () {
      const { place, writer, of } = yield* started();
      const diagnostics = yield* Diagnostics;
      const long = { title: "t".repeat(10_000), toolName: "n".repeat(1_000), fingerprint: "long" };
      const many = Array.from({ length: 250 }, (_, number) =>
        diagnosticOf(number, { fingerprint: `print-${number}` }),
      );
      yield* writer.append([of.opened()], { diagnostics: [diagnosticOf(999, long), ...many] });
      const found = yield* diagnostics.find({
        tenantId: place.tenantId,
        diagnosticId: DiagnosticId.make("dia_999"),
      });
      const lengths = Option.map(found, (row) => [row.title.length, row.toolName?.length]);
      yield* same("the lengths", lengths, Option.some([4_000, 256]));
      yield* same("the run's rows", (yield* diagnostics.ofRun(place)).length, 200);
      const groups = yield* diagnostics.groups({ tenantId: place.tenantId, days: 9_999 });
      yield* same("the groups", groups.length, 200);
    }),
  ),
  promise(
    "[DX-03] failures with one fingerprint are one group, with how often and the newest of them",
    Effect.gen(function* () {
      const { place, writer, of } = yield* started();
      const diagnostics = yield* Diagnostics;
      yield* writer.append([of.opened()], { diagnostics: [diagnosticOf(1)] });
      yield* Effect.sleep("5 millis");
      yield* writer.append([of.attempt()], { diagnostics: [diagnosticOf(2, { title: "later" })] });
      const groups = yield* diagnostics.groups({ tenantId: place.tenantId, days: 1 });
      yield* same(
        "the groups",
        groups.map((group) => [group.occurrences, group.title, group.lastDiagnosticId]),
        [[2, "later", "dia_2"]],
      );
    }),
  ),
];

/** A true proof pack of a run that was interpreted for real: one call approved by two people, one denied, one free. */
import { createHash } from "node:crypto";
import { Effect, Schema } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import { RunId, TenantId, ThreadId } from "#lib/contract/ids.ts";
import { canonicalJson } from "#lib/contract/json/canonical-json.ts";
import type { Actor, RunRecord } from "#lib/contract/records.ts";
import { auditDigest } from "#lib/durable/audit-chain.ts";
import { chainRecords, emptyTail } from "#lib/durable/chain.ts";
import { sealOf } from "#lib/proof/link-seal.ts";
import { type ProofLine, proofVersion } from "#lib/proof/proof-lines.ts";
import { ScriptedModel, text, toolCalls } from "#lib/testing/ScriptedModel.ts";
import { approvalRule } from "#lib/tool-approval.ts";
import {
  attempt,
  decide,
  decider,
  makeStore,
  openRequests,
  recordsOf,
} from "#tests/engine/durable-harness.ts";

const parameters = Schema.Struct({ amount: Schema.Number });
const toolkit = Toolkit.make(
  approvalRule(
    Tool.make("wire_money", { parameters, success: Schema.String, needsApproval: true }),
    { approversRequired: 2, selfApproval: false },
  ),
  Tool.make("look_up", { parameters, success: Schema.String }),
);
const agent = Agent.make("banker", {
  input: Schema.String,
  output: Schema.String,
  instructions: "Serve.",
  toolkit,
  policy: { repeatedFailureLimit: 0 },
});
const second: Actor = { kind: "operator", id: "op-3", name: "Efe" };

/** The run's records, in order. */
export const sampleRecords: Effect.Effect<ReadonlyArray<RunRecord>> = Effect.gen(function* () {
  const layer = toolkit.toLayer({
    wire_money: () => Effect.succeed("sent"),
    look_up: () => Effect.succeed("seen"),
  });
  const store = makeStore();
  yield* attempt(store, agent, () => layer);
  for (const request of openRequests(store)) {
    const denied = request.callId === "second";
    store.undelivered.push(
      denied
        ? decide(request, "denied")
        : { ...decide(request, "approved"), approvers: [decider, second] },
    );
  }
  yield* attempt(store, agent, () => layer);
  return recordsOf(store);
}).pipe(
  Effect.provide(
    ScriptedModel.layer([
      toolCalls([
        { id: "first", name: "wire_money", params: { amount: 900 } },
        { id: "second", name: "wire_money", params: { amount: 5_000 } },
        { id: "third", name: "look_up", params: { amount: 1 } },
      ]),
      text("done"),
    ]),
  ),
);

const tenantId = TenantId.make("tenant");
export const threadId = ThreadId.make("thread-1");

const auditLines = (records: ReadonlyArray<RunRecord>): ReadonlyArray<ProofLine> => {
  let previousDigest = "0".repeat(64);
  return records
    .flatMap((record) =>
      record._tag === "ApprovalDecided"
        ? (record.approvers ?? [record.actor]).map((actor) => ({ record, actor }))
        : [],
    )
    .map(({ record, actor }, index) => {
      const entry = {
        tenantId,
        actor,
        verb: "decide-approval",
        target: record.requestId,
        runId: record.runId,
        accepted: true,
        reason: record.reason,
        commandId: `c${index}`,
        before: { state: "pending" },
        after: { state: record.decision },
      };
      const place = { sequence: index + 1, at: 1_000 + index, previousDigest };
      const digest = auditDigest(entry, place);
      previousDigest = digest;
      const { tenantId: _, ...row } = entry;
      const [before, after] = [canonicalJson(row.before), canonicalJson(row.after)];
      return { kind: "audit", ...row, ...place, before, after, digest };
    });
};

const approvalLines = (records: ReadonlyArray<RunRecord>): ReadonlyArray<ProofLine> =>
  records.flatMap((record): ReadonlyArray<ProofLine> => {
    if (record._tag !== "ApprovalDecided") return [];
    const { requestId, turn, callId, toolName, decision: state, parametersDigest } = record;
    const { decidedAt } = record;
    return [
      {
        kind: "approval",
        requestId,
        turn,
        callId,
        toolName,
        state,
        parametersDigest,
        approversRequired: 2,
        decidedBy: record.actor,
        decidedAt,
        approvers: (record.approvers ?? []).map(({ id, name }) => ({
          operatorId: id,
          name,
          decision: "approved",
          parametersDigest,
          at: 4,
        })),
      },
    ];
  });

/**
 * The lines of a pack of these records, the chain made anew: what a forger with all our tools would hand out.
 * The first record says whose pack it is; records of other runs become sealed links.
 */
export const packOf = (records: ReadonlyArray<RunRecord>): ReadonlyArray<ProofLine> => {
  const { rows, tail } = chainRecords(emptyTail, records, { threadId, epoch: 1 });
  const runId = records[0]?.runId ?? "";
  const own = records.filter((record) => record.runId === runId);
  const audits = auditLines(own);
  const lastAudit = audits.at(-1);
  return [
    {
      kind: "proof",
      version: proofVersion,
      tenantId,
      threadId,
      runId,
      exportedAt: 9,
      exportedBy: decider,
      threadTail: tail,
      runTail: tail,
      auditTail:
        lastAudit?.kind === "audit"
          ? { sequence: lastAudit.sequence, digest: lastAudit.digest }
          : emptyTail,
    },
    ...approvalLines(own),
    ...rows.map(({ sequence, digest, previousDigest, body }, index): ProofLine => {
      const link = { sequence, epoch: 1, digest, previousDigest };
      return records[index]?.runId === runId
        ? { kind: "record", ...link, recordedAt: 7, body }
        : { kind: "link", ...link, seal: sealOf({ ...link, threadId, body }) };
    }),
    ...audits,
  ];
};

/** The run's records with one of another run of the thread behind each but the last. */
export const amongOthers = (records: ReadonlyArray<RunRecord>): ReadonlyArray<RunRecord> =>
  records.flatMap((record, index): ReadonlyArray<RunRecord> =>
    index === records.length - 1
      ? [record]
      : [
          record,
          {
            _tag: "AbortRequested",
            runId: RunId.make("run-of-another"),
            actor: second,
            reason: `the ${index}th reason of another run`,
            requestedAt: index,
          },
        ],
  );

/** The digest of the run's last record: what people are told to note elsewhere. */
export const lastDigest = (lines: ReadonlyArray<ProofLine>): string =>
  lines.flatMap((line) => (line.kind === "record" ? [line.digest] : [])).at(-1) ?? "";

/** The file's text lines, with the last line that closes it. */
export const closedLines = (lines: ReadonlyArray<ProofLine>): ReadonlyArray<string> => {
  const texts = lines.map((line) => JSON.stringify(line));
  const hash = createHash("sha256");
  for (const line of texts) hash.update(`${line}\n`);
  return [
    ...texts,
    JSON.stringify({ kind: "end", lines: texts.length, digest: hash.digest("hex") }),
  ];
};

/**
 * What a run's records must agree about, call by call: what ran is what was declared and approved, and every
 * call ended at most once. Pure, one record at a time.
 */
import { checkApprovers } from "#lib/approval/approver-rule.ts";
import { digestOf } from "#lib/contract/json/digest.ts";
import type { DeclaredCall, RecordOf, RunRecord } from "#lib/contract/records.ts";

/** What a pack promises; each is one line of the verifier's answer. */
export type ProofCheck =
  | "file"
  | "chain"
  | "readable"
  | "approved"
  | "refused"
  | "settled"
  | "audit";

export interface ProofFault {
  readonly check: ProofCheck;
  /** Where, in words: `record 12`, `call call_3 of turn 2`. */
  readonly where: string;
  readonly message: string;
}

interface CallFacts {
  declared: DeclaredCall | undefined;
  requested: RecordOf<"ApprovalRequested"> | undefined;
  decided: RecordOf<"ApprovalDecided"> | undefined;
  /** Why it must not run, once something says so. */
  refused: string | undefined;
  prepared: number;
  settled: number;
}

export interface CallRules {
  readonly take: (record: RunRecord, sequence: number) => ReadonlyArray<ProofFault>;
  /** Whether the run's first record has been seen. */
  readonly isOpened: () => boolean;
  readonly counts: () => {
    readonly declared: number;
    readonly executed: number;
    readonly approved: number;
  };
  /** What people were asked, and every decision, by people or not, as the records carry them. */
  readonly requests: () => ReadonlyArray<RecordOf<"ApprovalRequested">>;
  readonly decisions: () => ReadonlyArray<RecordOf<"ApprovalDecided">>;
}

export const makeCallRules = (runId: string): CallRules => {
  const calls = new Map<string, CallFacts>();
  const requests: Array<RecordOf<"ApprovalRequested">> = [];
  const decisions: Array<RecordOf<"ApprovalDecided">> = [];
  const executed = new Set<string>();
  let opened = 0;
  let ended: number | undefined;

  const callOf = (turn: number, callId: string): CallFacts => {
    const key = `${turn} ${callId}`;
    const known = calls.get(key);
    if (known !== undefined) return known;
    const fresh: CallFacts = {
      declared: undefined,
      requested: undefined,
      decided: undefined,
      refused: undefined,
      prepared: 0,
      settled: 0,
    };
    calls.set(key, fresh);
    return fresh;
  };

  const take = (record: RunRecord, sequence: number): ReadonlyArray<ProofFault> => {
    const faults: Array<ProofFault> = [];
    const at = (check: ProofCheck, where: string, message: string) =>
      faults.push({
        check,
        where: `record ${sequence}${where === "" ? "" : `, ${where}`}`,
        message,
      });
    if (record.runId !== runId) at("chain", "", `It belongs to another run, ${record.runId}.`);

    const declare = (turn: number, declared: DeclaredCall): void => {
      const where = `call ${declared.callId} of turn ${turn}`;
      const call = callOf(turn, declared.callId);
      if (call.declared !== undefined) at("settled", where, "It is declared a second time.");
      call.declared = declared;
      const { effectiveParameters } = declared;
      if (
        effectiveParameters !== undefined &&
        digestOf(effectiveParameters) !== declared.parametersDigest
      )
        at("approved", where, "Its arguments are not the ones of its digest.");
    };

    /** A handler was started, or its result stands there: everything that had to come before must have. */
    const execute = (turn: number, callId: string, digest: string | undefined): void => {
      const call = callOf(turn, callId);
      const where = `call ${callId} of turn ${turn}`;
      executed.add(`${turn} ${callId}`);
      if (ended !== undefined)
        at("settled", where, `It ran after the run had ended with record ${ended}.`);
      if (call.refused !== undefined) at("refused", where, `It ran although ${call.refused}.`);
      const { declared } = call;
      if (declared === undefined)
        return void at("approved", where, "It ran and was never declared.");
      if (digest !== undefined && digest !== declared.parametersDigest)
        at("approved", where, `It ran with other arguments (${digest}) than were declared.`);
      const why = declared.needsApproval ? unapproved(call, declared) : undefined;
      if (why !== undefined) at("approved", where, why);
    };

    switch (record._tag) {
      case "RunOpened":
        opened += 1;
        if (opened > 1) at("settled", "", "The run is opened a second time.");
        break;
      case "TurnRecorded":
        for (const declared of record.calls) declare(record.turn, declared);
        for (const rejection of record.rejections)
          callOf(record.turn, rejection.callId).refused = "its arguments were refused";
        break;
      case "InnerCallDeclared":
        declare(record.turn, record.declared);
        break;
      case "ApprovalRequested": {
        const call = callOf(record.turn, record.callId);
        call.requested = record;
        requests.push(record);
        const { effectiveParameters, parametersDigest } = record.request;
        if (digestOf(effectiveParameters) !== parametersDigest)
          at(
            "approved",
            `request ${record.requestId}`,
            "People were shown other arguments than its digest says.",
          );
        if (call.declared !== undefined && call.declared.parametersDigest !== parametersDigest)
          at(
            "approved",
            `request ${record.requestId}`,
            "It asks about other arguments than were declared.",
          );
        break;
      }
      case "ApprovalDecided": {
        const call = callOf(record.turn, record.callId);
        if (call.decided !== undefined)
          at("approved", `request ${record.requestId}`, "It is decided a second time.");
        call.decided = record;
        if (record.decision !== "approved")
          call.refused = `it was ${record.decision} by ${record.actor.name}`;
        decisions.push(record);
        break;
      }
      case "AuthorizationDenied":
        callOf(record.turn, record.callId).refused = "the policy denied it";
        break;
      case "AuthorizationCheckFailed":
        callOf(record.turn, record.callId).refused = "its policy check failed";
        break;
      case "ToolCallPrepared":
        callOf(record.turn, record.callId).prepared += 1;
        execute(record.turn, record.callId, record.parametersDigest);
        break;
      case "ToolCallSettled": {
        const call = callOf(record.turn, record.callId);
        const where = `call ${record.callId} of turn ${record.turn}`;
        call.settled += 1;
        if (call.settled > 1) at("settled", where, "It has a second result.");
        if (record.source !== "handler") break;
        execute(record.turn, record.callId, undefined);
        if (
          call.declared !== undefined &&
          call.declared.executionClass !== "readonly" &&
          call.prepared === 0
        )
          at("settled", where, "It has a result of its handler and was never prepared.");
        break;
      }
      case "RunSettled":
        if (ended !== undefined) at("settled", "", `The run ended before, with record ${ended}.`);
        ended = sequence;
        break;
      case "AttemptStarted":
      case "StepRecorded":
      case "ToolCallUnknown":
      case "UnknownProbed":
      case "UnknownResolved":
      case "AbortRequested":
      case "RunSuspended":
        // They say nothing about what may run or how it ended.
        break;
    }
    return faults;
  };

  return {
    take,
    requests: () => requests,
    decisions: () => decisions,
    isOpened: () => opened > 0,
    counts: () => ({
      declared: [...calls.values()].filter(({ declared }) => declared !== undefined).length,
      executed: executed.size,
      approved: [...calls.values()].filter(({ decided }) => decided?.decision === "approved")
        .length,
    }),
  };
};

/** Why a call that needs an approval may not run, if so (A-02, A-09, A-12). */
const unapproved = (
  { requested, decided }: CallFacts,
  declared: DeclaredCall,
): string | undefined => {
  if (requested === undefined) return "It needed an approval and nobody was asked.";
  if (decided === undefined) return "It ran before anybody had decided.";
  if (decided.requestId !== requested.requestId) return "The decision answers another request.";
  if (decided.parametersDigest !== declared.parametersDigest)
    return `What was approved (${decided.parametersDigest}) is not what ran (${declared.parametersDigest}).`;
  if (decided.actor.kind !== "operator") return undefined;
  const approvers = (decided.approvers ?? [decided.actor]).map(({ id }) => id);
  return checkApprovers(requested.request, approvers)._tag === "granted"
    ? undefined
    : `It needed ${requested.request.approversRequired} different people${requested.request.selfApproval ? "" : " and not the requester"}; ${new Set(approvers).size} approved.`;
};

import * as Schema from "effect/Schema";
import {
  type AbortRun,
  type AcknowledgeDenial,
  type DecideApproval,
  type ExtendApproval,
  type ResolveUnknown,
  type RetryRun,
  type SignIn,
  SubmissionReceipt,
  type SubmitInput,
  type WakeRun,
} from "../contract/commands.ts";
import { DiagnosticListItem } from "../contract/http/diagnostic-list-item.ts";
import { ApprovalsMoment, UnknownsMoment } from "../contract/http/moments.ts";
import { RunListPage } from "../contract/http/run-list-page.ts";
import { type CallBody, RunMoment, RunTimes, RunTurns } from "../contract/http/run-parts.ts";
import { ApprovalDetail, ApprovalListItem, ApprovalLooker } from "../contract/approval-views.ts";
import { AgentView, WorkerView } from "../contract/agent-views.ts";
import { AuditView } from "../contract/audit-views.ts";
import { DenialListItem, DiagnosticView } from "../contract/denial-views.ts";
import { ObligationView, RetryReceipt, RunExplanation } from "../contract/obligation-views.ts";
import { page } from "../contract/page-views.ts";
import { ExposureExplanation, ExposureView, RecordView, RunDetail } from "../contract/run-views.ts";
import { Counts, Me } from "../contract/shell-views.ts";
import { UnknownDetail, UnknownListItem } from "../contract/unknown-views.ts";
import { type QueryValue, request, type Surroundings } from "./request.ts";

/** Filters of a list as they stand in the address; `undefined` leaves one out. */
export type ListQuery = Readonly<Record<string, QueryValue>>;

/** What a command needs beside its content: the id that makes a repeat harmless (OP-09). */
type WithoutId<Command extends { readonly commandId: string }> = Omit<Command, "commandId">;

const records = page(RecordView);
const approvals = page(ApprovalListItem);
const lookers = Schema.Struct({ lookers: Schema.Array(ApprovalLooker) });
const unknowns = page(UnknownListItem);
const denials = page(DenialListItem);
const diagnostics = page(DiagnosticListItem);
const obligations = page(ObligationView);
const audit = page(AuditView);
const agents = Schema.Struct({ items: Schema.Array(AgentView) });
const workers = Schema.Struct({ items: Schema.Array(WorkerView) });
const nothing = Schema.Unknown;

const part = (id: string): string => encodeURIComponent(id);

/**
 * Every call of the console. Each rejects with `ApiFailure`. A GET changes nothing; each command takes
 * a command id that the caller made once per press, so that the same press acts once (C021, C023).
 */
export const makeApi = (surroundings: Surroundings) => {
  const get = async <S extends Schema.ConstraintDecoder<unknown>>(
    path: string,
    answer: S,
    signal?: AbortSignal,
    query?: ListQuery,
  ): Promise<S["Type"]> =>
    (
      await request(surroundings, {
        path,
        answer,
        signal,
        ...(query === undefined ? {} : { query }),
      })
    ).value;
  const post = async <S extends Schema.ConstraintDecoder<unknown>>(
    path: string,
    body: unknown,
    answer: S,
    headers?: Readonly<Record<string, string>>,
  ): Promise<S["Type"]> =>
    (
      await request(surroundings, {
        method: "POST",
        path,
        body,
        answer,
        ...(headers === undefined ? {} : { headers }),
      })
    ).value;

  return {
    newCommandId: (): string => `c${surroundings.randomId()}`,
    me: (signal?: AbortSignal) => get("/me", Me, signal),
    signIn: (credentials: SignIn) => post("/session", credentials, Me),
    signOut: () =>
      request(surroundings, { method: "DELETE", path: "/session", answer: nothing }).then(
        () => undefined,
      ),
    setPassword: (password: string) => post("/me/password", { password }, Me),
    counts: (signal?: AbortSignal) => get("/counts", Counts, signal),

    agents: (signal?: AbortSignal) => get("/agents", agents, signal),
    submit: (input: SubmitInput, idempotencyKey: string) =>
      post("/submissions", input, SubmissionReceipt, { "idempotency-key": idempotencyKey }),

    runs: (query: ListQuery, signal?: AbortSignal) => get("/runs", RunListPage, signal, query),
    run: (runId: string, signal?: AbortSignal) => get(`/runs/${part(runId)}`, RunDetail, signal),
    /** The run as it was after an event of the log. */
    runAt: (runId: string, sequence: number, signal?: AbortSignal) =>
      get(`/runs/${part(runId)}/moments/${sequence}`, RunMoment, signal),
    runTurns: (runId: string, first: number, signal?: AbortSignal) =>
      get(`/runs/${part(runId)}/turns`, RunTurns, signal, { first }),
    runTimes: (runId: string, before: number, signal?: AbortSignal) =>
      get(`/runs/${part(runId)}/times`, RunTimes, signal, { before }),
    /** Where one whole value of a call is downloaded. */
    callBodyAddress: (runId: string, turn: number, callId: string, body: CallBody): string =>
      `/api/v1/runs/${part(runId)}/turns/${turn}/body?callId=${part(callId)}&body=${body}`,
    records: (runId: string, query: ListQuery, signal?: AbortSignal) =>
      get(`/runs/${part(runId)}/records`, records, signal, query),
    exposure: (runId: string, turn: number, signal?: AbortSignal) =>
      get(`/runs/${part(runId)}/turns/${turn}/exposure`, ExposureView, signal),
    explainExposure: (
      runId: string,
      turn: number,
      tool: string,
      at: number | undefined,
      signal?: AbortSignal,
    ) =>
      get(`/runs/${part(runId)}/exposure-explanation`, ExposureExplanation, signal, {
        tool,
        turn,
        at,
      }),
    explainRun: (runId: string, signal?: AbortSignal) =>
      get(`/runs/${part(runId)}/explanation`, RunExplanation, signal),
    wakeRun: (runId: string, commandId: string, command: WithoutId<WakeRun>) =>
      post(`/runs/${part(runId)}/wake`, { ...command, commandId }, RunExplanation),
    retryRun: (runId: string, commandId: string, command: WithoutId<RetryRun>) =>
      post(`/runs/${part(runId)}/retry`, { ...command, commandId }, RetryReceipt),
    /** The run's proof pack as a file. */
    exportProof: async (runId: string, commandId: string) => {
      // Rarely asked for: no part of the first page.
      const { exportProof } = await import("./export-proof.ts");
      return exportProof(surroundings, runId, commandId);
    },
    abortRun: (runId: string, commandId: string, command: WithoutId<AbortRun>) =>
      post(`/runs/${part(runId)}/abort`, { ...command, commandId }, RunDetail),

    /** The queues as they were after an event of the log. */
    approvalsAt: (sequence: number, signal?: AbortSignal) =>
      get(`/approvals/moments/${sequence}`, ApprovalsMoment, signal),
    unknownsAt: (sequence: number, signal?: AbortSignal) =>
      get(`/unknowns/moments/${sequence}`, UnknownsMoment, signal),
    approvals: (query: ListQuery, signal?: AbortSignal) =>
      get("/approvals", approvals, signal, query),
    /** With the text of the answer: the arguments are shown from it, digit by digit. */
    approval: (requestId: string, signal?: AbortSignal) =>
      request(surroundings, {
        path: `/approvals/${part(requestId)}`,
        answer: ApprovalDetail,
        signal,
      }),
    decideApproval: (requestId: string, commandId: string, command: WithoutId<DecideApproval>) =>
      request(surroundings, {
        method: "POST",
        path: `/approvals/${part(requestId)}/decision`,
        body: { ...command, commandId },
        answer: ApprovalDetail,
      }),
    /** Says that this browser shows the request, or does not any more; answers who else looks. */
    lookAtApproval: (requestId: string, looking: boolean, signal?: AbortSignal) =>
      request(surroundings, {
        method: "POST",
        path: `/approvals/${part(requestId)}/look`,
        body: { looking },
        answer: lookers,
        signal,
      }).then(({ value }) => value.lookers),
    extendApproval: (requestId: string, commandId: string, command: WithoutId<ExtendApproval>) =>
      request(surroundings, {
        method: "POST",
        path: `/approvals/${part(requestId)}/extend`,
        body: { ...command, commandId },
        answer: ApprovalDetail,
      }),

    unknowns: (query: ListQuery, signal?: AbortSignal) => get("/unknowns", unknowns, signal, query),
    unknown: (unknownId: string, signal?: AbortSignal) =>
      request(surroundings, {
        path: `/unknowns/${part(unknownId)}`,
        answer: UnknownDetail,
        signal,
      }),
    resolveUnknown: (unknownId: string, commandId: string, command: WithoutId<ResolveUnknown>) =>
      request(surroundings, {
        method: "POST",
        path: `/unknowns/${part(unknownId)}/resolution`,
        body: { ...command, commandId },
        answer: UnknownDetail,
      }),

    probeUnknown: (unknownId: string, commandId: string) =>
      request(surroundings, {
        method: "POST",
        path: `/unknowns/${part(unknownId)}/probe`,
        body: { commandId },
        answer: UnknownDetail,
        // The destination has 10 s, and the answer is stored after that.
        seconds: 20,
      }),

    denials: (query: ListQuery, signal?: AbortSignal) => get("/denials", denials, signal, query),
    denial: (denialId: string, signal?: AbortSignal) =>
      get(`/denials/${part(denialId)}`, DenialListItem, signal),
    acknowledgeDenial: (
      denialId: string,
      commandId: string,
      command: WithoutId<AcknowledgeDenial>,
    ) => post(`/denials/${part(denialId)}/acknowledge`, { ...command, commandId }, DenialListItem),

    diagnostics: (query: ListQuery, signal?: AbortSignal) =>
      get("/diagnostics", diagnostics, signal, query),
    diagnostic: (diagnosticId: string, signal?: AbortSignal) =>
      request(surroundings, {
        path: `/diagnostics/${part(diagnosticId)}`,
        answer: DiagnosticView,
        signal,
      }),
    obligations: (query: ListQuery, signal?: AbortSignal) =>
      get("/obligations", obligations, signal, query),
    workers: (signal?: AbortSignal) => get("/workers", workers, signal),
    audit: (query: ListQuery, signal?: AbortSignal) => get("/audit", audit, signal, query),
  };
};

export type Api = ReturnType<typeof makeApi>;

/**
 * The places where a crash drill kills a process: before and after every durable
 * mutation, an operator's too, inside a handler around its effect, the model's call
 * or a program's, and while a destination is asked (PG-09). A closed list; a test
 * fails when a mutation has no place in it.
 */
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import type { RunRecordKind } from "#lib/contract/records.ts";
import { Journal } from "#lib/durable/Journal.ts";
import { SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";

const mutations = [
  "admit",
  "claim",
  "append:RunOpened",
  "append:AttemptStarted",
  "append:TurnRecorded",
  "append:ApprovalRequested",
  "append:ApprovalDecided",
  "append:AuthorizationDenied",
  "append:AuthorizationCheckFailed",
  "append:ToolCallPrepared",
  "append:InnerCallDeclared",
  "append:StepRecorded",
  "append:ToolCallSettled",
  "append:ToolCallUnknown",
  "append:UnknownProbed",
  "append:UnknownResolved",
  "append:AbortRequested",
  "append:RunSuspended",
  "append:RunSettled",
  "decide-approval",
  "resolve-unknown",
  "abort-run",
  "extend-approval",
  "probe-unknown",
  "wake-run",
  "retry-run",
  "acknowledge-denial",
  "export-proof",
] as const;
export type Mutation = (typeof mutations)[number];

const handlerPlaces = [
  "handler:before-effect",
  "handler:during-effect",
  "handler:after-effect",
  "inner:before-effect",
  "inner:during-effect",
  "inner:after-effect",
  "probe:while-asked",
] as const;

export type Failpoint = `before:${Mutation}` | `after:${Mutation}` | (typeof handlerPlaces)[number];

/** What a drill kills before and after. */
export const drilledMutations: ReadonlyArray<Mutation> = mutations;

/** Every failpoint, in the order in which a run passes them. */
export const failpoints: ReadonlyArray<Failpoint> = [
  ...mutations.flatMap((mutation) => [`before:${mutation}`, `after:${mutation}`] as const),
  ...handlerPlaces,
];

/** Said at each place; does nothing unless a drill is on. */
export const ReachFailpoint = Context.Reference<(place: Failpoint) => Effect.Effect<void>>(
  "effect-agent/testing/ReachFailpoint",
  { defaultValue: () => () => Effect.void },
);

/** Says the places around one mutation. */
export const around =
  (...names: ReadonlyArray<Mutation>) =>
  <A, E, R>(mutation: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.gen(function* () {
      const reach = yield* ReachFailpoint;
      for (const name of names) yield* reach(`before:${name}`);
      const result = yield* mutation;
      for (const name of names) yield* reach(`after:${name}`);
      return result;
    });

const appendOf = (kind: RunRecordKind): Mutation => `append:${kind}`;

/** The journal below it, with a failpoint around each append for each kind of record in it. */
export const journalLayer: Layer.Layer<Journal, never, Journal> = Layer.effect(
  Journal,
  Effect.gen(function* () {
    const journal = yield* Journal;
    const reach = yield* ReachFailpoint;
    return Journal.of({
      ...journal,
      append: (request) =>
        journal
          .append(request)
          .pipe(
            around(...new Set(request.records.map((record) => appendOf(record._tag)))),
            Effect.provideService(ReachFailpoint, reach),
          ),
    });
  }),
);

/** The ledger below it, with failpoints around admission and claim. */
export const ledgerLayer: Layer.Layer<SubmissionLedger, never, SubmissionLedger> = Layer.effect(
  SubmissionLedger,
  Effect.gen(function* () {
    const ledger = yield* SubmissionLedger;
    const reach = yield* ReachFailpoint;
    return SubmissionLedger.of({
      ...ledger,
      admit: (request) =>
        ledger.admit(request).pipe(around("admit"), Effect.provideService(ReachFailpoint, reach)),
      claim: (request) =>
        ledger.claim(request).pipe(around("claim"), Effect.provideService(ReachFailpoint, reach)),
    });
  }),
);

/** A person says what became of an effect in doubt, with reason and evidence (DU-07, C102). */
import * as Effect from "effect/Effect";
import type { ResolveUnknown } from "#lib/contract/commands.ts";
import type { UnknownId } from "#lib/contract/ids.ts";
import { judgeResolution } from "#lib/durable/judge-resolution.ts";
import { notFound } from "#lib/durable/not-found.ts";
import { columnText } from "#lib/durable/storable-text.ts";
import { Unknowns } from "#lib/durable/Unknowns.ts";
import { boundedJson } from "./bounded-json.ts";
import {
  actorOf,
  type Change,
  type Operator,
  refuse,
  requireRole,
  runCommand,
} from "./run-command.ts";
import { ToolSchemas } from "./ToolSchemas.ts";

const change = (operator: Operator, unknownId: UnknownId, command: ResolveUnknown) =>
  Effect.gen(function* () {
    const unknowns = yield* Unknowns;
    const { tenantId, operatorId } = operator;
    const seen = yield* Effect.flatMap(
      unknowns.find({ tenantId, unknownId }),
      Effect.fromOption(() => notFound("effect in doubt")),
    );
    // The same judgement that is made again under the lock: a result is looked at only where it would count.
    const judged = yield* Effect.fromResult(judgeResolution(seen, command, operatorId));
    if (judged.kind === "resolve" && judged.result !== undefined)
      yield* (yield* ToolSchemas).validateResult({
        agentId: seen.agentId,
        toolName: seen.toolName,
        result: judged.result,
        isFailure: judged.isFailure,
      });
    const { before: row, verdict } = yield* unknowns.resolve({
      ...command,
      tenantId,
      unknownId,
      actor: actorOf(operator),
    });
    const before = { state: row.state, resolution: row.resolution };
    const after = { state: "resolved", resolution: command.resolution };
    if (verdict.kind === "same") return { runId: row.runId, before, after } satisfies Change;
    return {
      runId: row.runId,
      before,
      after: { ...after, evidence: columnText(command.evidence) },
      wake: { tenantId, threadId: row.threadId },
    } satisfies Change;
  });

/** Resolves once; the run goes on when every effect of its batch in doubt has a resolution. */
export const resolveUnknown = Effect.fn("operator.resolveUnknown")(function* (
  operator: Operator,
  unknownId: UnknownId,
  command: ResolveUnknown,
) {
  const { commandId, ...payload } = command;
  const about = { operator, act: "resolve-unknown", target: unknownId, commandId } as const;
  yield* requireRole(about);
  // Before anything is digested or stored: the result is whatever a client sent.
  if (command.result !== undefined)
    yield* boundedJson(command.result, { path: "body.result" }).pipe(
      Effect.catch((error) => refuse(about, error)),
    );
  yield* runCommand(
    { ...about, payload, reason: command.reason },
    change(operator, unknownId, command),
  );
});

import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import type { AgentDefinitionError, ModelProtocolError } from "#lib/agent-error.ts";
import type { ExposureSnapshot } from "#lib/contract/exposure.ts";
import type { RunEvidence } from "#lib/durable/run-state.ts";
import { type ActiveSelection, resolveExposure } from "#lib/exposure/resolve-exposure.ts";
import { selectionAfterBatch } from "#lib/exposure/select.ts";
import { completionExposure } from "./completion.ts";
import type { RunContext } from "./RunContext.ts";

/** What visibility leaves today; undefined when no filter is installed. */
export const eligibleTools = (
  context: RunContext,
  turn: number,
): Effect.Effect<ReadonlyArray<string> | undefined> =>
  context.visibility === undefined
    ? Effect.undefined
    : context.visibility.visible({
        threadId: context.threadId,
        runId: context.runId,
        turn,
        input: structuredClone(context.input),
        toolNames: Object.keys(context.definition.toolkit.tools),
      });

/** The selection in force: the host's, replaced by what each complete batch selected. */
export const activeSelection = (
  context: RunContext,
  evidence: RunEvidence,
): ActiveSelection | undefined =>
  evidence.turns.reduce<ActiveSelection | undefined>(
    (previous, turn) =>
      selectionAfterBatch(
        previous,
        turn.calls.map(({ settled }) => ({
          isFailure: settled?.isFailure ?? true,
          selection: settled?.selection,
        })),
      ),
    context.hostSelection === undefined
      ? undefined
      : { source: "host", toolNames: context.hostSelection },
  );

/** Decides what the next request declares, before the model is called. */
export const exposeTools = (
  context: RunContext,
  evidence: RunEvidence,
  turn: number,
  isFinalAnswer: boolean,
): Effect.Effect<Result.Result<ExposureSnapshot, ModelProtocolError | AgentDefinitionError>> =>
  Effect.map(eligibleTools(context, turn), (eligible) =>
    resolveExposure({
      tools: context.definition.toolkit.tools,
      config: context.definition.toolExposure,
      selection: activeSelection(context, evidence),
      eligible,
      codecTransformer: context.codec.transformer,
      ...completionExposure(context.definition.completion, isFinalAnswer),
    }),
  );

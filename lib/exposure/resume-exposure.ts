import * as Result from "effect/Result";
import { ModelProtocolError } from "#lib/agent-error.ts";
import type { ExposureSnapshot } from "#lib/contract/exposure.ts";

/**
 * Which of a resumed batch's unfinished calls may still run: those that the original request exposed and
 * that are eligible today. Settled calls are not asked about; they stay what they are.
 *
 * @param stored the snapshot recorded with the response, if there is one
 * @param eligible what visibility leaves today; undefined when there is no filter
 * @param toolNames the tools of the unfinished calls
 * @returns the tools that may not run any more, empty when all may; or `ModelProtocolError`
 *   `missing-exposure` when a filtered run has no stored exposure to compare with
 */
export const withdrawnTools = (
  stored: ExposureSnapshot | undefined,
  eligible: ReadonlyArray<string> | undefined,
  toolNames: ReadonlyArray<string>,
): Result.Result<ReadonlyArray<string>, ModelProtocolError> => {
  if (stored === undefined) {
    if (eligible === undefined) return Result.succeed([]);
    return Result.fail(
      new ModelProtocolError({
        reason: "missing-exposure",
        message:
          "The stored response does not say which tools its request exposed, and this run filters tools by visibility; nothing of the batch can run.",
      }),
    );
  }
  const exposed = new Set(stored.exposed);
  const current = eligible === undefined ? undefined : new Set(eligible);
  const isWithdrawn = (name: string): boolean =>
    !exposed.has(name) || (current !== undefined && !current.has(name));
  return Result.succeed(Array.from(new Set(toolNames.filter(isWithdrawn))));
};

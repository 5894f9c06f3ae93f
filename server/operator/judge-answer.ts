/** What of an answer must hold before the store judges it: a suggestion the tool can read, and a fresh look (OP-05, C049, C059). */
import * as Effect from "effect/Effect";
import { basisChanges } from "#lib/approval/approval-basis.ts";
import type { DecideApproval } from "#lib/contract/commands.ts";
import { ApprovalChanged, InvalidInput } from "#lib/contract/errors.ts";
import type { TenantId } from "#lib/contract/ids.ts";
import { digestOf } from "#lib/contract/json/digest.ts";
import type { StoredApproval } from "#lib/durable/Approvals.ts";
import { readPendingBasis } from "#server/views/approval-basis.ts";
import { ToolSchemas } from "./ToolSchemas.ts";

const refused = (message: string) =>
  Effect.fail(new InvalidInput({ message, path: "body.suggestion" }));

/**
 * The suggested arguments in the tool's own encoding, or undefined where none are.
 * What runs is never touched by them: they are words to the model.
 */
export const readSuggestion = Effect.fnUntraced(function* (
  row: StoredApproval,
  command: DecideApproval,
) {
  if (command.suggestion === undefined) return undefined;
  if (command.decision !== "denied")
    return yield* refused(
      "Other arguments can be suggested with a denial only: an approval runs what was declared.",
    );
  const schemas = yield* ToolSchemas;
  const { agentId, toolName } = row;
  const suggestion = yield* schemas.checkArguments({ agentId, toolName, text: command.suggestion });
  return digestOf(suggestion) === row.parametersDigest
    ? yield* refused("The suggested arguments are the ones that were asked for.")
    : suggestion;
});

/** Denying is right whatever has changed around a call; approving it needs a fresh look at what has. */
export const requireFreshLook = Effect.fnUntraced(function* (
  tenantId: TenantId,
  row: StoredApproval,
  command: DecideApproval,
) {
  if (command.decision === "denied" || command.basis === undefined) return;
  const changes = basisChanges(command.basis, yield* readPendingBasis(tenantId, row));
  if (changes.length === 0) return;
  return yield* new ApprovalChanged({
    message:
      "The arguments are the ones you were shown, but what the call is judged by has changed since. Look at it again.",
    seenDigest: command.parametersDigest,
    currentDigest: row.parametersDigest,
    changes,
  });
});

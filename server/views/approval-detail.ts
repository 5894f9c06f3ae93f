import * as Effect from "effect/Effect";
import type { CurrentOperator } from "#lib/contract/http/authentication.ts";
import type { ApprovalRequestId } from "#lib/contract/ids.ts";
import { readBasis } from "./approval-basis.ts";
import { readApproval, readBatch, readExecution } from "./approval-rows.ts";
import { assembleApproval } from "./assemble-approval.ts";
import { clockSlackMillis, readEventsOfActs } from "./moment-place.ts";
import { inSnapshot, newest } from "./snapshot.ts";

/** One request as this operator may see and answer it; `NotFound` for a missing or foreign one. */
export const readApprovalDetail = Effect.fn("views.readApprovalDetail")(function* (
  operator: CurrentOperator["Service"],
  requestId: ApprovalRequestId,
) {
  const read = yield* inSnapshot(
    operator.tenantId,
    Effect.gen(function* () {
      const row = yield* readApproval(operator.tenantId, requestId);
      const batch = yield* readBatch(operator.tenantId, row);
      const execution = yield* readExecution(operator.tenantId, row);
      const { now } = yield* newest(operator.tenantId);
      const events =
        row.decidedAt === null
          ? []
          : yield* readEventsOfActs(
              operator.tenantId,
              [
                {
                  runId: row.runId,
                  target: requestId,
                  at: row.decidedAt,
                  kinds: ["ApprovalDecided"],
                },
              ],
              // What a rule decided has its host's time.
              clockSlackMillis,
            );
      return { row, batch, execution, events, serverTime: now };
    }),
  );
  const basis = yield* readBasis({ ...read.row, input: read.row.input ?? null });
  const decided = read.events.find(
    ({ event }) => event._tag === "ApprovalDecided" && event.requestId === requestId,
  );
  return {
    ...assembleApproval({ ...read, basis, operator }),
    ...(decided === undefined ? {} : { moment: decided.sequence }),
  };
});

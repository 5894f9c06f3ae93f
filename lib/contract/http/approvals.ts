import * as Schema from "effect/Schema";
import { HttpApiEndpoint, HttpApiGroup } from "effect/unstable/httpapi";
import { DecideApproval, ExtendApproval, LookAtApproval } from "../commands.ts";
import {
  ApprovalAlreadyDecided,
  ApprovalChanged,
  ApproverRefused,
  IdempotencyConflict,
  InvalidInput,
} from "../errors.ts";
import { AgentId, ApprovalRequestId, RunId, Sequence } from "../ids.ts";
import { ApprovalState } from "../status.ts";
import { ApprovalDetail, ApprovalListItem, ApprovalLooker } from "../approval-views.ts";
import { page } from "../page-views.ts";
import { Authentication, DecodedInput } from "./authentication.ts";
import { ApprovalsMoment } from "./moments.ts";
import { pagingQuery } from "./paging.ts";
import { readRefusals, runListRefusals, runRefusals } from "./refusals.ts";

const requestId = { requestId: ApprovalRequestId };

/** Pending requests come nearest deadline first, decided ones latest decision first (OP-05). */
export const approvalsGroup = HttpApiGroup.make("approvals")
  .add(
    HttpApiEndpoint.get("list", "/approvals", {
      query: {
        /** Absent: pending. */
        state: Schema.optionalKey(ApprovalState),
        agentId: Schema.optionalKey(AgentId),
        runId: Schema.optionalKey(RunId),
        ...pagingQuery,
      },
      success: page(ApprovalListItem),
      error: [...runListRefusals, InvalidInput],
    }),
    /** The queue as it was after an event of the tenant's log. */
    HttpApiEndpoint.get("moment", "/approvals/moments/:sequence", {
      params: { sequence: Sequence },
      success: ApprovalsMoment,
      error: [...readRefusals, InvalidInput],
    }),
    HttpApiEndpoint.get("get", "/approvals/:requestId", {
      params: requestId,
      success: ApprovalDetail,
      error: runRefusals,
    }),
    HttpApiEndpoint.post("decide", "/approvals/:requestId/decision", {
      params: requestId,
      payload: DecideApproval,
      success: ApprovalDetail,
      error: [
        ...runRefusals,
        InvalidInput,
        IdempotencyConflict,
        ApprovalAlreadyDecided,
        ApprovalChanged,
        ApproverRefused,
      ],
    }),
    HttpApiEndpoint.post("extend", "/approvals/:requestId/extend", {
      params: requestId,
      payload: ExtendApproval,
      success: ApprovalDetail,
      error: [...runRefusals, InvalidInput, IdempotencyConflict, ApprovalAlreadyDecided],
    }),
    HttpApiEndpoint.post("look", "/approvals/:requestId/look", {
      params: requestId,
      payload: LookAtApproval,
      success: Schema.Struct({ lookers: Schema.Array(ApprovalLooker) }),
      error: runRefusals,
    }),
  )
  .middleware(DecodedInput)
  .middleware(Authentication);

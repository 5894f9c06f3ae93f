import * as Schema from "effect/Schema";
import { HttpApiEndpoint, HttpApiGroup } from "effect/unstable/httpapi";
import { ProbeUnknown, ResolveUnknown } from "../commands.ts";
import {
  ApprovalChanged,
  IdempotencyConflict,
  InvalidInput,
  ProbeRefused,
  RunAlreadySettled,
  UnknownAlreadyResolved,
} from "../errors.ts";
import { RunId, Sequence, UnknownId } from "../ids.ts";
import { page } from "../page-views.ts";
import { UnknownDetail, UnknownListItem } from "../unknown-views.ts";
import { Authentication, DecodedInput } from "./authentication.ts";
import { UnknownsMoment } from "./moments.ts";
import { pagingQuery } from "./paging.ts";
import { readRefusals, runListRefusals, runRefusals } from "./refusals.ts";

const unknownId = { unknownId: UnknownId };

/** Effects in doubt, oldest first while open (OP-08). */
export const unknownsGroup = HttpApiGroup.make("unknowns")
  .add(
    HttpApiEndpoint.get("list", "/unknowns", {
      query: {
        /** Absent: open. */
        state: Schema.optionalKey(Schema.Literals(["open", "resolved"])),
        runId: Schema.optionalKey(RunId),
        ...pagingQuery,
      },
      success: page(UnknownListItem),
      error: [...runListRefusals, InvalidInput],
    }),
    /** The queue as it was after an event of the tenant's log. */
    HttpApiEndpoint.get("moment", "/unknowns/moments/:sequence", {
      params: { sequence: Sequence },
      success: UnknownsMoment,
      error: [...readRefusals, InvalidInput],
    }),
    HttpApiEndpoint.get("get", "/unknowns/:unknownId", {
      params: unknownId,
      success: UnknownDetail,
      error: runRefusals,
    }),
    HttpApiEndpoint.post("resolve", "/unknowns/:unknownId/resolution", {
      params: unknownId,
      payload: ResolveUnknown,
      success: UnknownDetail,
      error: [
        ...runRefusals,
        InvalidInput,
        IdempotencyConflict,
        ApprovalChanged,
        UnknownAlreadyResolved,
        RunAlreadySettled,
      ],
    }),
    HttpApiEndpoint.post("probe", "/unknowns/:unknownId/probe", {
      params: unknownId,
      payload: ProbeUnknown,
      success: UnknownDetail,
      error: [...runRefusals, IdempotencyConflict, ProbeRefused],
    }),
  )
  .middleware(DecodedInput)
  .middleware(Authentication);

import * as Schema from "effect/Schema";
import { HttpApiEndpoint, HttpApiGroup } from "effect/unstable/httpapi";
import { AcknowledgeDenial } from "../commands.ts";
import { IdempotencyConflict, InvalidInput } from "../errors.ts";
import { DenialId, RunId } from "../ids.ts";
import { DenialListItem } from "../denial-views.ts";
import { page } from "../page-views.ts";
import { Authentication, DecodedInput } from "./authentication.ts";
import { pagingQuery } from "./paging.ts";
import { runListRefusals, runRefusals } from "./refusals.ts";

const denialId = { denialId: DenialId };

/** Policy denials and authorization check errors, told apart by `kind` (OP-06, Z-06). */
export const denialsGroup = HttpApiGroup.make("denials")
  .add(
    HttpApiEndpoint.get("list", "/denials", {
      query: {
        kind: Schema.optionalKey(Schema.Literals(["denial", "check-error"])),
        acknowledged: Schema.optionalKey(Schema.Literals(["yes", "no"])),
        runId: Schema.optionalKey(RunId),
        ...pagingQuery,
      },
      success: page(DenialListItem),
      error: [...runListRefusals, InvalidInput],
    }),
    HttpApiEndpoint.get("get", "/denials/:denialId", {
      params: denialId,
      success: DenialListItem,
      error: runRefusals,
    }),
    HttpApiEndpoint.post("acknowledge", "/denials/:denialId/acknowledge", {
      params: denialId,
      payload: AcknowledgeDenial,
      success: DenialListItem,
      error: [...runRefusals, IdempotencyConflict],
    }),
  )
  .middleware(DecodedInput)
  .middleware(Authentication);

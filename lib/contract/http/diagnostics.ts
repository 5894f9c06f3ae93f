import * as Schema from "effect/Schema";
import { HttpApiEndpoint, HttpApiGroup } from "effect/unstable/httpapi";
import { InvalidInput } from "../errors.ts";
import { DiagnosticId, RunId } from "../ids.ts";
import { DiagnosticListItem } from "./diagnostic-list-item.ts";
import { DiagnosticView } from "../denial-views.ts";
import { page } from "../page-views.ts";
import { Authentication, DecodedInput } from "./authentication.ts";
import { pagingQuery } from "./paging.ts";
import { runListRefusals, runRefusals } from "./refusals.ts";

/** Private failure evidence, behind a permission of its own; lists carry no evidence (OP-04, DX-06, C079). */
export const diagnosticsGroup = HttpApiGroup.make("diagnostics")
  .add(
    HttpApiEndpoint.get("list", "/diagnostics", {
      query: {
        runId: Schema.optionalKey(RunId),
        fingerprint: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(128))),
        ...pagingQuery,
      },
      success: page(DiagnosticListItem),
      error: [...runListRefusals, InvalidInput],
    }),
    HttpApiEndpoint.get("get", "/diagnostics/:diagnosticId", {
      params: { diagnosticId: DiagnosticId },
      success: DiagnosticView,
      error: runRefusals,
    }),
  )
  .middleware(DecodedInput)
  .middleware(Authentication);

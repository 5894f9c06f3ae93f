/** The pages about the installation itself: what is owed, who works, who did what, and the badges. */
import * as Schema from "effect/Schema";
import { HttpApiEndpoint, HttpApiGroup } from "effect/unstable/httpapi";
import { InvalidInput } from "../errors.ts";
import { RunId } from "../ids.ts";
import { WorkerView } from "../agent-views.ts";
import { AuditView } from "../audit-views.ts";
import { ObligationView } from "../obligation-views.ts";
import { page } from "../page-views.ts";
import { Counts } from "../shell-views.ts";
import { Authentication, DecodedInput } from "./authentication.ts";
import { pagingQuery } from "./paging.ts";
import { listRefusals } from "./refusals.ts";

export const operationsGroup = HttpApiGroup.make("operations")
  .add(
    HttpApiEndpoint.get("counts", "/counts", { success: Counts, error: listRefusals }),
    HttpApiEndpoint.get("obligations", "/obligations", {
      query: pagingQuery,
      success: page(ObligationView),
      error: [...listRefusals, InvalidInput],
    }),
    HttpApiEndpoint.get("workers", "/workers", {
      success: Schema.Struct({ items: Schema.Array(WorkerView) }),
      error: listRefusals,
    }),
    HttpApiEndpoint.get("audit", "/audit", {
      query: {
        verb: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(100))),
        runId: Schema.optionalKey(RunId),
        actorId: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(128))),
        accepted: Schema.optionalKey(Schema.Literals(["yes", "no"])),
        ...pagingQuery,
      },
      success: page(AuditView),
      error: [...listRefusals, InvalidInput],
    }),
  )
  .middleware(DecodedInput)
  .middleware(Authentication);

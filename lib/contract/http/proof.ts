/** One run's records, approvals and audit rows as a file that can be checked without the server. */
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/unstable/httpapi";
import { ExportProof } from "../commands.ts";
import { IdempotencyConflict } from "../errors.ts";
import { RunId } from "../ids.ts";
import { Authentication, DecodedInput } from "./authentication.ts";
import { runRefusals } from "./refusals.ts";

/** Posted: an export is an audited act (C099). Lines of JSON; see lib/proof. */
export const proofGroup = HttpApiGroup.make("proof")
  .add(
    HttpApiEndpoint.post("export", "/runs/:runId/proof", {
      params: { runId: RunId },
      payload: ExportProof,
      success: HttpApiSchema.StreamUint8Array({ contentType: "application/x-ndjson" }),
      error: [...runRefusals, IdempotencyConflict],
    }),
  )
  .middleware(DecodedInput)
  .middleware(Authentication);

import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/unstable/httpapi";
import { IdempotencyKey, SubmissionReceipt, SubmitInput } from "../commands.ts";
import {
  Forbidden,
  IdempotencyConflict,
  InvalidInput,
  NotFound,
  StoreUnavailable,
} from "../errors.ts";
import { Authentication, DecodedInput } from "./authentication.ts";

/** 202 with the receipt, given only after durable admission (DU-11). */
export const submissionsGroup = HttpApiGroup.make("submissions")
  .add(
    HttpApiEndpoint.post("submit", "/submissions", {
      headers: { "idempotency-key": IdempotencyKey },
      payload: SubmitInput,
      success: SubmissionReceipt.pipe(HttpApiSchema.status(202)),
      error: [Forbidden, NotFound, InvalidInput, IdempotencyConflict, StoreUnavailable],
    }),
  )
  .middleware(DecodedInput)
  .middleware(Authentication);

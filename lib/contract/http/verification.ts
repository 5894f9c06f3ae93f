/** Checks what is stored of a thread against itself. A question, but one that costs and is audited, so it is posted. */
import { HttpApiEndpoint, HttpApiGroup } from "effect/unstable/httpapi";
import { InvalidInput } from "../errors.ts";
import { RunId, ThreadId } from "../ids.ts";
import { JournalVerification } from "../verification.ts";
import { Authentication, DecodedInput } from "./authentication.ts";
import { readRefusals, runRefusals } from "./refusals.ts";

/** A chain is whole or broken per thread, so a run is verified with the thread that it stands in (PG-02). */
export const verificationGroup = HttpApiGroup.make("verification")
  .add(
    HttpApiEndpoint.post("run", "/runs/:runId/verification", {
      params: { runId: RunId },
      success: JournalVerification,
      error: [...runRefusals, InvalidInput],
    }),
    HttpApiEndpoint.post("thread", "/threads/:threadId/verification", {
      params: { threadId: ThreadId },
      success: JournalVerification,
      error: [...readRefusals, InvalidInput],
    }),
  )
  .middleware(DecodedInput)
  .middleware(Authentication);

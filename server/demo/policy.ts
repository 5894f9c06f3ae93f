/** The desk's tool policy: what the agent may never do, whoever approves it. */
import { Effect, Layer } from "effect";

import { RunToolAuthorization, type ToolAuthorizationRequest } from "#lib/run-options.ts";

const denials: ReadonlyMap<string, { readonly reason: string; readonly rule: string }> = new Map([
  [
    "delete_customer",
    {
      reason: "Customer accounts are deleted by the privacy team only, never by the retail desk.",
      rule: "retail-desk/accounts-are-deleted-by-the-privacy-team",
    },
  ],
]);

export const retailPolicy = RunToolAuthorization.of({
  authorize: ({ call }: ToolAuthorizationRequest) => {
    const denial = denials.get(call.toolName);
    return Effect.succeed(
      denial === undefined
        ? { _tag: "allowed" as const }
        : // Evidence keeps a failure's known fields only; one named `rule` would be left out of it.
          { _tag: "denied" as const, reason: denial.reason, cause: { code: denial.rule } },
    );
  },
});

export const RetailPolicy = Layer.succeed(RunToolAuthorization, retailPolicy);

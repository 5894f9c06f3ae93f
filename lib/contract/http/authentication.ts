/**
 * Who is asking. Every route but health, readiness and sign-in runs behind
 * `Authentication`, which provides `CurrentOperator` or answers 401 (Z-12, C043).
 */
import * as Context from "effect/Context";
import { HttpApiMiddleware, HttpApiSecurity } from "effect/unstable/httpapi";
import { InvalidInput, OriginRefused, StoreUnavailable, Unauthenticated } from "../errors.ts";
import type { OperatorId, TenantId } from "../ids.ts";
import type { OperatorRole } from "../status.ts";

/** The operator behind the request; every read and write of the request is of this tenant only (PG-05). */
export class CurrentOperator extends Context.Service<
  CurrentOperator,
  {
    readonly tenantId: TenantId;
    readonly operatorId: OperatorId;
    readonly name: string;
    readonly email: string;
    readonly role: OperatorRole;
    /** How the operator proved who they are; a cookie also needs the same origin (OP-09). */
    readonly proof: "cookie" | "bearer";
    /** Digest of the presented credential; signing out ends exactly this one. */
    readonly credentialDigest: string;
  }
>()("effect-agent/contract/http/CurrentOperator") {}

/** The sign-in cookie: HttpOnly, SameSite=Strict, Path=/. */
export const signInCookieName = "effect_agent_sign_in";

export class Authentication extends HttpApiMiddleware.Service<
  Authentication,
  { provides: CurrentOperator; requires: never }
>()("effect-agent/contract/http/Authentication", {
  security: {
    bearer: HttpApiSecurity.bearer,
    cookie: HttpApiSecurity.apiKey({ in: "cookie", key: signInCookieName }),
  },
  error: [Unauthenticated, OriginRefused, StoreUnavailable],
}) {}

/** Turns a part of a request that does not fit its schema into `InvalidInput` with the place. */
export class DecodedInput extends HttpApiMiddleware.Service<DecodedInput>()(
  "effect-agent/contract/http/DecodedInput",
  { error: InvalidInput },
) {}

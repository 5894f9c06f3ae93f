/** Signing in and out, who I am, and the ways to sign in that an operator or an administrator makes. */
import * as Schema from "effect/Schema";
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/unstable/httpapi";
import { CreateSignInLink, SetPassword, SignIn, SignInLink } from "./sign-in-commands.ts";
import {
  Forbidden,
  NotFound,
  OriginRefused,
  StoreUnavailable,
  TooManyAttempts,
  Unauthenticated,
} from "../errors.ts";
import { Me } from "../shell-views.ts";
import { Authentication, DecodedInput } from "./authentication.ts";

/** Open: the credentials are in the body, and success sets the sign-in cookie. */
export const signInGroup = HttpApiGroup.make("signIn")
  .add(
    HttpApiEndpoint.post("signIn", "/session", {
      payload: SignIn,
      success: Me,
      error: [Unauthenticated, OriginRefused, TooManyAttempts, StoreUnavailable],
    }),
  )
  .middleware(DecodedInput);

export const meGroup = HttpApiGroup.make("me")
  .add(
    HttpApiEndpoint.delete("signOut", "/session", {
      success: HttpApiSchema.NoContent,
      error: StoreUnavailable,
    }),
    HttpApiEndpoint.get("me", "/me", { success: Me, error: StoreUnavailable }),
    HttpApiEndpoint.post("setPassword", "/me/password", {
      payload: SetPassword,
      success: Me,
      error: [StoreUnavailable, TooManyAttempts, Forbidden],
    }),
    HttpApiEndpoint.post("createSignInLink", "/operators/sign-in-links", {
      payload: CreateSignInLink,
      success: SignInLink,
      error: [Forbidden, NotFound, StoreUnavailable],
    }),
    HttpApiEndpoint.get("openApi", "/openapi.json", {
      success: Schema.Record(Schema.String, Schema.Json),
    }),
  )
  .middleware(DecodedInput)
  .middleware(Authentication);

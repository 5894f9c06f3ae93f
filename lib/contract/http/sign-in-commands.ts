/** What signing in takes and gives, beyond the commands of `commands.ts`. */
import * as Schema from "effect/Schema";
import { EpochMillis, OperatorId } from "../ids.ts";
import { OperatorRole } from "../status.ts";

export { SetPassword, SignIn } from "../commands.ts";

/** A one-time link for an operator: found by e-mail, made with this name and role when there is none. */
export const CreateSignInLink = Schema.Struct({
  email: Schema.String.check(
    Schema.isMaxLength(320),
    Schema.isPattern(/^[^\s@]+@[^\s@]+$/, { description: "an e-mail address" }),
  ),
  name: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(200), Schema.isPattern(/\S/)),
  role: OperatorRole,
});
export type CreateSignInLink = typeof CreateSignInLink.Type;

/** Shown once; the server keeps only the token's digest. Works once, for 24 hours. */
export const SignInLink = Schema.Struct({
  operatorId: OperatorId,
  token: Schema.String,
  /** Path and fragment to open on the console's own origin; the token is in the fragment, which no server logs. */
  path: Schema.String,
  expiresAt: EpochMillis,
});
export type SignInLink = typeof SignInLink.Type;

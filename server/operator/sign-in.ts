/** Proves who somebody is, by a one-time link or by e-mail and password; slow and counted for whoever guesses. */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import type { SignIn } from "#lib/contract/commands.ts";
import { Unauthenticated } from "#lib/contract/errors.ts";
import { Audit } from "#lib/durable/Audit.ts";
import { columnText } from "#server/postgres/columns.ts";
import { transaction, transition } from "#server/postgres/Database.ts";
import { decodeRows, orStoreUnavailable } from "#server/views/snapshot.ts";
import { operatorColumns, OperatorRow } from "./find-operator.ts";
import { passwordMatches } from "./passwords.ts";
import { secretDigest } from "./secrets.ts";
import { firstTenantId } from "./seed-installation.ts";
import {
  type AttemptSubject,
  countAttempt,
  digestOfSubject,
  forgetAttempts,
} from "./sign-in-attempts.ts";
import { startSignIn } from "./start-sign-in.ts";

/** The same sentence whatever was wrong: it tells nobody which accounts exist. */
const wrongPassword = () =>
  new Unauthenticated({ message: "The e-mail address and the password do not fit together." });

const wrongLink = () =>
  new Unauthenticated({
    message: "This sign-in link was used before or is older than 24 hours. Ask for a new one.",
  });

const useLink = (token: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient;
    const rows = yield* decodeRows(OperatorRow)(sql`
      UPDATE sign_in_links l SET used_at = clock_timestamp() FROM operators o
      WHERE l.link_digest = ${secretDigest(token)} AND l.used_at IS NULL
        AND l.expires_at > clock_timestamp() AND o.tenant_id = l.tenant_id
        AND o.operator_id = l.operator_id AND o.disabled_at IS NULL
      RETURNING ${sql.literal(operatorColumns)}`);
    const operator = rows[0] ?? (yield* wrongLink());
    return yield* startSignIn(operator, "link");
  });

const Account = Schema.Struct({
  ...OperatorRow.fields,
  passwordHash: Schema.NullOr(Schema.String),
});

/** The same address may be known to several tenants; at most 5 are tried. */
const accountsOf = (email: string) =>
  Effect.flatMap(SqlClient, (sql) =>
    transition(
      "accountsOf",
      decodeRows(Account)(sql`
        SELECT ${sql.literal(operatorColumns)}, o.password_hash AS "passwordHash" FROM operators o
        WHERE lower(o.email) = lower(${columnText(email)}) AND o.disabled_at IS NULL
        ORDER BY o.tenant_id LIMIT 5`),
    ),
  );

/** Known accounts get a row in their own tenant's audit log for every failure (C099). */
const noteFailure = (accounts: ReadonlyArray<OperatorRow>) =>
  Effect.gen(function* () {
    const audit = yield* Audit;
    for (const { tenantId, operatorId, name } of accounts)
      yield* audit.append({
        tenantId,
        actor: { kind: "operator", id: operatorId, name },
        verb: "sign-in",
        target: operatorId,
        runId: null,
        accepted: false,
        reason: "The password was wrong.",
        before: null,
        after: null,
        commandId: null,
      });
  });

/** Rows for unknown addresses in an hour: whoever tries many must not fill the log for those who read it. */
const unknownRowsPerHour = 100;

const Noted = Schema.Struct({ count: Schema.Int });

/**
 * An address that nobody has belongs to no tenant: the installation's first one keeps the row. The address
 * itself is not written down, it may be a person's who has nothing to do with us; the digest tells whether
 * two rows are about the same one.
 */
const noteUnknown = (account: AttemptSubject) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient;
    const audit = yield* Audit;
    const rows = yield* transition(
      "sign-in.noted",
      decodeRows(Noted)(sql`
        SELECT count(*)::int4 AS count FROM (
          SELECT verb, actor_id, at FROM audit_log WHERE tenant_id = ${firstTenantId}
          ORDER BY sequence DESC LIMIT ${10 * unknownRowsPerHour}) AS newest
        WHERE verb = 'sign-in' AND actor_id = ${nobody.id}
          AND at > clock_timestamp() - interval '1 hour'`),
    );
    if ((rows[0]?.count ?? 0) >= unknownRowsPerHour) return;
    yield* audit.append({
      tenantId: firstTenantId,
      actor: nobody,
      verb: "sign-in",
      target: `unknown-account-${digestOfSubject(account).slice(0, 16)}`,
      runId: null,
      accepted: false,
      reason: "Nobody has this e-mail address.",
      before: null,
      after: null,
      commandId: null,
    });
  });

const nobody = { kind: "system", id: "nobody", name: "Nobody" } as const;

const byPassword = (email: string, password: string, account: AttemptSubject) =>
  Effect.gen(function* () {
    const accounts = yield* accountsOf(email);
    // Nobody's hash is checked for an unknown address, so that both answers take as long.
    const candidates = accounts.length === 0 ? [{ passwordHash: null }] : accounts;
    for (const candidate of candidates) {
      if (!(yield* passwordMatches(candidate.passwordHash, password))) continue;
      if (!("tenantId" in candidate)) continue;
      const signedIn = yield* transaction("sign-in", startSignIn(candidate, "password"));
      yield* forgetAttempts([account]);
      return signedIn;
    }
    yield* accounts.length === 0 ? noteUnknown(account) : noteFailure(accounts);
    return yield* wrongPassword();
  });

/** Gives the operator and the cookie's secret. `address` is where the request came from. */
export const signIn = Effect.fn("operator.signIn")(function* (command: SignIn, address: string) {
  const from: AttemptSubject = { kind: "address", name: address };
  return yield* Effect.gen(function* () {
    if ("token" in command) {
      yield* countAttempt([from]);
      const signedIn = yield* transaction("sign-in", useLink(command.token));
      return signedIn;
    }
    const account: AttemptSubject = { kind: "account", name: command.email };
    yield* countAttempt([from, account]);
    return yield* byPassword(command.email, command.password, account);
  }).pipe(orStoreUnavailable);
});

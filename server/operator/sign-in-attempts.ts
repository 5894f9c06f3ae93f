/**
 * Limits guessing: per account and per address, counted in the database so that
 * every process sees them. An attempt is counted before its password is looked
 * at, so that attempts sent together cannot all slip through.
 */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { TooManyAttempts } from "#lib/contract/errors.ts";
import { decodeRows } from "#server/views/snapshot.ts";
import { transition } from "#server/postgres/Database.ts";
import { secretDigest } from "./secrets.ts";

/** Attempts in the window that may fail: one person mistypes, one office shares an address. */
export const attemptLimits = { account: 10, address: 50, windowSeconds: 900 } as const;

export interface AttemptSubject {
  readonly kind: "account" | "address";
  readonly name: string;
}

/** Stands for an address or an account where neither may be written down. */
export const digestOfSubject = (subject: AttemptSubject): string =>
  secretDigest(JSON.stringify([subject.kind, subject.name.toLowerCase()]));

const Row = Schema.Struct({ attempts: Schema.Int, waitSeconds: Schema.Int });

/** Past the limit nothing is added any more: a flood fills no table and does not prolong the wait. */
const countOne = (subject: AttemptSubject) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient;
    const digest = digestOfSubject(subject);
    const window = `${attemptLimits.windowSeconds} seconds`;
    yield* transition(
      "countSignInAttempt",
      sql`
        WITH forgotten AS (
          DELETE FROM sign_in_attempts WHERE subject_digest = ${digest}
            AND attempted_at < clock_timestamp() - ${window}::interval
        )
        INSERT INTO sign_in_attempts (subject_digest) SELECT ${digest}
        WHERE (SELECT count(*) FROM sign_in_attempts WHERE subject_digest = ${digest}
          AND attempted_at >= clock_timestamp() - ${window}::interval) <= ${attemptLimits[subject.kind]}::int4`,
    );
    const rows = yield* transition(
      "readSignInAttempts",
      decodeRows(Row)(sql`
        SELECT count(*)::int4 AS attempts, coalesce(ceil(extract(epoch FROM
          min(attempted_at) + ${window}::interval - clock_timestamp())), 0)::int4 AS "waitSeconds"
        FROM sign_in_attempts WHERE subject_digest = ${digest}
          AND attempted_at >= clock_timestamp() - ${window}::interval`),
    );
    const { attempts, waitSeconds } = rows[0] ?? { attempts: 0, waitSeconds: 0 };
    if (attempts <= attemptLimits[subject.kind]) return;
    const retryAfterSeconds = Math.max(1, waitSeconds);
    return yield* new TooManyAttempts({
      message: `Too many attempts to sign in. Try again in ${Math.ceil(retryAfterSeconds / 60)} min, or use a sign-in link.`,
      retryAfterSeconds,
    });
  });

/** Counts the attempt for each subject in turn; the first that is over its limit refuses it. */
export const countAttempt = (subjects: ReadonlyArray<AttemptSubject>) =>
  Effect.forEach(subjects, countOne, { discard: true });

/** A right password clears the account: whoever mistyped is not held up later. */
export const forgetAttempts = (subjects: ReadonlyArray<AttemptSubject>) =>
  Effect.flatMap(SqlClient, (sql) =>
    transition(
      "forgetSignInAttempts",
      sql`DELETE FROM sign_in_attempts WHERE subject_digest IN ${sql.in(subjects.map(digestOfSubject))}`,
    ),
  );

/** Argon2id with the parameters OWASP names (19 MiB, 2 passes); the hash text carries them, so they can grow. */
import { hash, verify } from "@node-rs/argon2";
import * as Effect from "effect/Effect";
import * as Semaphore from "effect/Semaphore";

/** Each hash takes 19 MiB and a core for about 70 ms; more at once would starve the workers. */
const atOnce = Semaphore.makeUnsafe(2);

export const hashPassword = (password: string): Effect.Effect<string> =>
  atOnce.withPermit(Effect.promise(() => hash(password)));

/**
 * The hash of no password anyone has. Checked against when the account is not
 * there or has no password, so that both take the same time (C042).
 */
const nobody =
  "$argon2id$v=19$m=19456,t=2,p=1$NqGclBFXj/+TcREBFeuFYw$AJGC4/jtCkuP6VFA0iAJI0C4cS2gvMMAlwzi7ZkA1Ik";

/** False for a wrong password and for an account without one, in the same time; never fails. */
export const passwordMatches = (
  passwordHash: string | null,
  password: string,
): Effect.Effect<boolean> =>
  atOnce.withPermit(
    Effect.promise(() => verify(passwordHash ?? nobody, password).catch(() => false)).pipe(
      Effect.map((matches) => matches && passwordHash !== null),
    ),
  );

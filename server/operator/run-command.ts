/**
 * What every operator's command has in common (OP-09, Z-12): the role first, one
 * transaction for the command id, the change, its event and its audit row, a wake
 * after the commit, and an audit row of its own for every refusal.
 */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { isSqlError, type SqlError } from "effect/unstable/sql/SqlError";
import {
  type ApiError,
  Forbidden,
  IdempotencyConflict,
  type StoreUnavailable,
} from "#lib/contract/errors.ts";
import type { CurrentOperator } from "#lib/contract/http/authentication.ts";
import type { CommandId, TenantId, ThreadId } from "#lib/contract/ids.ts";
import { canonicalJson } from "#lib/contract/json/canonical-json.ts";
import { digestOf } from "#lib/contract/json/digest.ts";
import type { Json } from "#lib/contract/json/json.ts";
import type { Actor } from "#lib/contract/records.ts";
import { StoreError } from "#lib/durable/StoreError.ts";
import { Wakes } from "#lib/durable/Wakes.ts";
import { Audit } from "#lib/durable/Audit.ts";
import { transaction } from "#server/postgres/Database.ts";
import { actForTenant, decodeRows, orStoreUnavailable } from "#server/views/snapshot.ts";
import { mayAct, neededRole, type OperatorAct } from "./permissions.ts";

export type Operator = CurrentOperator["Service"];

export interface Command {
  readonly operator: Operator;
  /** Also the verb of the audit row. */
  readonly act: OperatorAct;
  /** Id of what is acted on. */
  readonly target: string;
  readonly commandId: CommandId;
  /** Everything the command says besides its id: the same id with another payload is refused. */
  readonly payload: Json;
  readonly reason: string;
}

/** What the change did, for the audit row and for whoever must go on. */
export interface Change {
  readonly runId: string | null;
  readonly before: Json;
  readonly after: Json;
  /** Looks at this thread once the change is committed. */
  readonly wake?: { readonly tenantId: TenantId; readonly threadId: ThreadId };
}

export const actorOf = (operator: Pick<Operator, "operatorId" | "name">): Actor => ({
  kind: "operator",
  id: operator.operatorId,
  name: operator.name,
});

const Answered = Schema.Struct({
  operatorId: Schema.String,
  verb: Schema.String,
  target: Schema.String,
  payloadDigest: Schema.String,
});

/** True when this id acted before, in the same way; a repeat that overtakes the first waits for it here. */
const wasDone = (command: Command, payloadDigest: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient;
    const { operator, commandId } = command;
    const taken = yield* sql`
      INSERT INTO operator_commands (tenant_id, command_id, operator_id, verb, target, payload_digest, answer)
      VALUES (${operator.tenantId}, ${commandId}, ${operator.operatorId}, ${command.act},
        ${command.target}, ${payloadDigest}, 'null')
      ON CONFLICT DO NOTHING RETURNING command_id`;
    if (taken.length > 0) return false;
    const before = yield* decodeRows(Answered)(sql`
      SELECT operator_id AS "operatorId", verb, target, payload_digest AS "payloadDigest"
      FROM operator_commands WHERE tenant_id = ${operator.tenantId} AND command_id = ${commandId}`);
    const isSame = before.some(
      (row) =>
        row.operatorId === operator.operatorId &&
        row.verb === command.act &&
        row.target === command.target &&
        row.payloadDigest === payloadDigest,
    );
    if (isSame) return true;
    return yield* new IdempotencyConflict({
      message: `The command id ${commandId} was used before for something else; a new command needs a new id.`,
      key: commandId,
    });
  });

const act = <E, R>(command: Command, change: Effect.Effect<Change, E, R>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient;
    const audit = yield* Audit;
    const { operator, commandId } = command;
    yield* actForTenant(operator.tenantId);
    if (yield* wasDone(command, digestOf(command.payload))) return undefined;
    const done = yield* change;
    yield* sql`
      UPDATE operator_commands SET answer = ${canonicalJson(done.after)}
      WHERE tenant_id = ${operator.tenantId} AND command_id = ${commandId}`;
    yield* audit.append({
      tenantId: operator.tenantId,
      actor: actorOf(operator),
      verb: command.act,
      target: command.target,
      runId: done.runId,
      accepted: true,
      reason: command.reason,
      before: done.before,
      after: done.after,
      commandId,
    });
    return done;
  });

export interface RefusedAct {
  readonly operator: Operator;
  readonly act: OperatorAct;
  readonly target: string;
  readonly commandId: string | null;
}

/** Writes down that an act was refused, in a transaction of its own, and refuses it (C099). */
export const refuse = <E extends { readonly _tag: string; readonly message: string }>(
  refused: RefusedAct,
  error: E,
): Effect.Effect<never, E | StoreUnavailable, Audit> =>
  Effect.gen(function* () {
    const audit = yield* Audit;
    yield* audit
      .append({
        tenantId: refused.operator.tenantId,
        actor: actorOf(refused.operator),
        verb: refused.act,
        target: refused.target,
        runId: null,
        accepted: false,
        reason: error.message,
        before: null,
        after: { refusal: error._tag },
        commandId: refused.commandId,
      })
      .pipe(orStoreUnavailable);
    return yield* Effect.fail(error);
  });

/** Refuses unless the operator's role may do the act; nothing is read or written before (Z-12). */
export const requireRole = (refused: RefusedAct) => {
  const { operator, act: wanted } = refused;
  return mayAct(operator.role, wanted)
    ? Effect.void
    : refuse(
        refused,
        new Forbidden({
          message: `This needs the role ${neededRole[wanted]}; yours is ${operator.role}.`,
          needs: neededRole[wanted],
        }),
      );
};

/** A domain error on its way out of the transaction, told apart from what the store says. */
class Refused<E> {
  readonly _tag = "Refused";
  constructor(readonly error: E) {}
}

/** Runs the command once per command id. A repeat does nothing again and succeeds like the first. */
export const runCommand = <E extends ApiError, R>(
  command: Command,
  change: Effect.Effect<Change, E | SqlError | StoreError, R>,
) =>
  Effect.gen(function* () {
    yield* requireRole(command);
    const attempt = Effect.mapError(act(command, change), (error) =>
      isSqlError(error) || error instanceof StoreError
        ? error
        : // The store's errors are gone from the union; TypeScript does not subtract from a type parameter.
          new Refused(error as E | IdempotencyConflict),
    );
    const done = yield* transaction(command.act, attempt).pipe(
      orStoreUnavailable,
      Effect.catchTag("Refused", ({ error }) => refuse(command, error)),
    );
    if (done?.wake !== undefined) yield* (yield* Wakes).wake(done.wake);
  });

/** A durable host without HTTP: adapters, registry and driver on one test database. */
import { Effect, Layer, Redacted } from "effect";
import {
  AgentId,
  CommandId,
  type RunId,
  TenantId,
  type ThreadId,
  WorkerId,
} from "#lib/contract/ids.ts";
import type { Actor } from "#lib/contract/records.ts";
import { SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import * as Database from "#server/postgres/Database.ts";
import { portsLayer } from "#server/postgres/ports.ts";
import { EventHints } from "#server/postgres/EventHints.ts";
import { AgentRegistry, type RegisteredAgent } from "#lib/host/AgentRegistry.ts";
import { ThreadDriver } from "#lib/host/ThreadDriver.ts";

export const tenantId = TenantId.make("default");
export const workerId = WorkerId.make("worker-test");
export const requester: Actor = { kind: "operator", id: "op-requester", name: "Requester" };

/** The store's ports on a database. */
export const storeLayer = (url: string) =>
  portsLayer.pipe(
    Layer.provide(EventHints.layer),
    Layer.provideMerge(Database.layer({ url: Redacted.make(url) })),
  );

/** Driver and registry over the store; the model is the caller's. */
export const driverLayer = <E, R>(agents: Effect.Effect<ReadonlyArray<RegisteredAgent>, E, R>) =>
  ThreadDriver.layer(workerId).pipe(Layer.provideMerge(AgentRegistry.layer(agents)));

/** Submits text to an agent on a new thread. */
export const submit = (agentId: string, input: string, key: string, threadId?: ThreadId) =>
  Effect.gen(function* () {
    const ledger = yield* SubmissionLedger;
    return yield* ledger.admit({
      tenantId,
      agentId: AgentId.make(agentId),
      threadId,
      principal: requester,
      idempotencyKey: key,
      input,
      title: input.slice(0, 200),
    });
  });

export const commandId = (text: string) => CommandId.make(text);
export type { RunId };

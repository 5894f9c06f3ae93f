/** `Diagnostics` and `EventLog` in memory. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Option from "effect/Option";
import * as PubSub from "effect/PubSub";
import * as Stream from "effect/Stream";
import type { DiagnosticView } from "#lib/contract/denial-views.ts";
import { type DiagnosticGroup, Diagnostics } from "../Diagnostics.ts";
import { EventLog } from "../EventLog.ts";
import { keyOf, MemoryStore } from "./MemoryStore.ts";

const maxRows = 200;
const dayMillis = 86_400_000;

type Row = DiagnosticView & { readonly tenantId: string };

const viewOf = ({ tenantId: _, ...view }: Row): DiagnosticView => view;

const groupsOf = (rows: ReadonlyArray<Row>): ReadonlyArray<DiagnosticGroup> => {
  const groups = new Map<string, DiagnosticGroup>();
  for (const row of rows.toSorted((a, b) => a.capturedAt - b.capturedAt)) {
    const group = groups.get(row.fingerprint);
    groups.set(row.fingerprint, {
      fingerprint: row.fingerprint,
      title: row.title,
      occurrences: (group?.occurrences ?? 0) + 1,
      firstAt: group?.firstAt ?? row.capturedAt,
      lastAt: row.capturedAt,
      lastDiagnosticId: row.diagnosticId,
    });
  }
  return [...groups.values()].toSorted((a, b) => b.lastAt - a.lastAt).slice(0, maxRows);
};

/** Not durable: the evidence is gone with the layer. */
export const diagnosticsLayer: Layer.Layer<Diagnostics, never, MemoryStore> = Layer.effect(
  Diagnostics,
  Effect.map(MemoryStore, (store) =>
    Diagnostics.of({
      find: ({ tenantId, diagnosticId }) =>
        store.at((tables) =>
          Option.map(
            Option.fromUndefinedOr(tables.diagnostics.get(keyOf(tenantId, diagnosticId))),
            viewOf,
          ),
        ),
      ofRun: ({ tenantId, runId }) =>
        store.at((tables) =>
          [...tables.diagnostics.values()]
            .filter((row) => row.tenantId === tenantId && row.runId === runId)
            .toSorted((a, b) => a.capturedAt - b.capturedAt)
            .slice(0, maxRows)
            .map(viewOf),
        ),
      groups: ({ tenantId, days }) =>
        store.at((tables, now) => {
          const since = now - Math.min(Math.max(Math.trunc(days), 1), 90) * dayMillis;
          return groupsOf(
            [...tables.diagnostics.values()].filter(
              (row) => row.tenantId === tenantId && row.capturedAt > since,
            ),
          );
        }),
    }),
  ),
);

/** Not durable: the log is gone with the layer. The order of the log is the order of the changes. */
export const eventLogLayer: Layer.Layer<EventLog, never, MemoryStore> = Layer.effect(
  EventLog,
  Effect.map(MemoryStore, (store) =>
    EventLog.of({
      read: ({ tenantId, runId, after, limit }) =>
        store.at((tables) =>
          (tables.events.get(tenantId) ?? [])
            .filter((event) => event.sequence > after && (runId ?? event.runId) === event.runId)
            .slice(0, Math.min(Math.max(limit, 1), 1_000)),
        ),
      bounds: (tenantId) =>
        store.at((tables) => ({ first: 1, last: tables.events.get(tenantId)?.length ?? 0 })),
      hints: (tenantId) =>
        Effect.map(PubSub.subscribe(store.grown), (subscription) =>
          Stream.fromSubscription(subscription).pipe(
            Stream.filter((grown) => grown === tenantId),
            Stream.map((): void => undefined),
          ),
        ),
    }),
  ),
);

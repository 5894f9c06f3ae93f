/**
 * The doorbell of this process's event assigner. Whoever has committed events
 * rings for their tenant; rings merge, none is lost while the process lives, and
 * what a dead process did not ring for is found by the scan.
 */
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Queue from "effect/Queue";

export class EventHints extends Context.Service<
  EventHints,
  {
    /** Events of the tenant are committed and wait for their sequence. */
    readonly written: (tenantId: string) => Effect.Effect<void>;
    /** Waits for a ring and takes every tenant that was rung for. */
    readonly take: Effect.Effect<ReadonlyArray<string>>;
  }
>()("effect-agent/postgres/EventHints") {
  static readonly layer = Layer.effect(
    EventHints,
    Effect.gen(function* () {
      const bell = yield* Queue.dropping<void>(1);
      let waiting = new Set<string>();
      return EventHints.of({
        written: (tenantId) =>
          Effect.suspend(() => {
            waiting.add(tenantId);
            return Effect.asVoid(Queue.offer(bell, undefined));
          }),
        take: Effect.map(Queue.take(bell), () => {
          const tenants = [...waiting];
          waiting = new Set();
          return tenants;
        }),
      });
    }),
  );
}

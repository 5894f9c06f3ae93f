/** The two runs that nothing may choke on: one of 50,000 events, and one with a 20 MB argument. */
import * as Effect from "effect/Effect";
import type { TenantId } from "#lib/contract/ids.ts";
import { orderRecheck } from "#server/demo/RetailDesk.ts";
import { openSeedRun, type SeedCall } from "./journaled-runs.ts";

const callsPerTurn = 50;

const look = (turn: number, index: number): SeedCall => ({
  tool: "get_order_details",
  parameters: { order_id: `#W${String(1_000_000 + turn * callsPerTurn + index)}` },
});

/**
 * A run that waits for people at its end, so that it is still live, after at least `events` events.
 *
 * @returns how many events it caused
 */
export const writeLongRun = Effect.fn("seed.writeLongRun")(function* (
  tenantId: TenantId,
  events: number,
) {
  const run = yield* openSeedRun(
    tenantId,
    `Recheck of every order of the year (${events.toLocaleString("en")} events)`,
    `seed-long-run-${events}`,
    orderRecheck,
  );
  let turn = 1;
  for (; run.events < events - 100; turn++) {
    const calls = Array.from({ length: callsPerTurn }, (_, index) => look(turn, index));
    yield* run.append([run.turn(turn, calls, `Orders ${turn * callsPerTurn} and on.`)]);
    yield* run.append(calls.map((call, index) => run.prepared(turn, index, call)));
    yield* run.append(
      calls.map((call, index) =>
        run.settled(turn, index, call, {
          kind: (turn + index) % 97 === 0 ? "failed" : "succeeded",
          result: { status: "delivered", order: index },
          isFailure: (turn + index) % 97 === 0,
        }),
      ),
    );
  }
  const refunds = Array.from({ length: 20 }, (_, index): SeedCall => ({
    tool: "issue_refund",
    parameters: {
      amount: `${150 + index}.00`,
      order_id: `#W${String(1_000_000 + index)}`,
      payment_method_id: `credit_card_${index}`,
      reason: "overcharged",
    },
    asks: true,
  }));
  yield* run.append([
    run.turn(turn, refunds, "These orders were overcharged."),
    ...run.asked(turn, refunds),
    run.suspended("approval"),
  ]);
  return run.events;
});

/** A settled run whose one call has an argument of `bytes` bytes of text. */
export const writeLargeArgument = Effect.fn("seed.writeLargeArgument")(function* (
  tenantId: TenantId,
  bytes: number,
) {
  const run = yield* openSeedRun(
    tenantId,
    `Note with an argument of ${Math.round(bytes / 1_000_000)} MB`,
    `seed-large-argument-${bytes}`,
  );
  const lines = Math.ceil(bytes / 80);
  const call: SeedCall = {
    tool: "add_order_note",
    parameters: {
      order_id: "#W0000001",
      lines: Array.from(
        { length: lines },
        (_, index) => `${String(index).padStart(8, "0")} ${"x".repeat(68)}`,
      ),
    },
  };
  // The argument stands once in the record: `effectiveParameters` would double it.
  const turn = run.turn(1, [call], "I write it all down.");
  const slim =
    turn._tag === "TurnRecorded"
      ? {
          ...turn,
          response: [],
          calls: turn.calls.map(({ effectiveParameters: _same, ...kept }) => kept),
        }
      : turn;
  yield* run.append([slim]);
  yield* run.append([
    run.prepared(1, 0, call),
    run.settled(1, 0, call, { kind: "succeeded", result: { ok: true }, isFailure: false }),
    run.settledRun({ outcome: "completed", finishReason: "answered", output: "Written down." }),
  ]);
});

/** Whole runs of every kind that the console tells apart, so that each queue has something in it. */
import * as Effect from "effect/Effect";
import type { TenantId } from "#lib/contract/ids.ts";
import { openSeedRun, type SeedCall, type SeedRun } from "./journaled-runs.ts";

const order = (number: number): string => `#W${String(5_000_000 + number).slice(-7)}`;

const lookUp = (number: number): SeedCall => ({
  tool: "get_order_details",
  parameters: { order_id: order(number) },
});

/** Above the amount that the desk may refund by itself, so that a person is asked; or below it. */
const refund = (number: number, asks: boolean): SeedCall => ({
  tool: "issue_refund",
  parameters: {
    amount: `${asks ? 120 + (number % 900) : 20 + (number % 80)}.50`,
    order_id: order(number),
    payment_method_id: `credit_card_${1_000_000 + number}`,
    reason: "damaged parcel",
  },
  asks,
});

const deletion = (number: number): SeedCall => ({
  tool: "delete_customer",
  parameters: { user_id: `customer_${1_000_000 + number}` },
});
const deletionDenied =
  "Customer accounts are deleted by the privacy team only, never by the retail desk.";

const note = (number: number): SeedCall => ({
  tool: "add_order_note",
  parameters: { order_id: order(number), text: "The customer called." },
});

const answered = { outcome: "completed", finishReason: "answered" } as const;
const fine = { kind: "succeeded", result: { ok: true }, isFailure: false } as const;

/** One turn that looks the order up, as most runs begin. */
const begin = (run: SeedRun, number: number) =>
  Effect.andThen(
    run.append([run.turn(1, [lookUp(number)], "I look at the order first.")]),
    run.append([run.settled(1, 0, lookUp(number), fine)]),
  );

type Kind = (run: SeedRun, number: number) => ReturnType<SeedRun["append"]>;

const kinds: ReadonlyArray<readonly [title: string, write: Kind]> = [
  [
    "Refund for order",
    // Waits for a person; every third asks for two calls at once.
    (run, number) => {
      const calls =
        number % 3 === 0
          ? [refund(number, true), refund(number + 1, true)]
          : [refund(number, true)];
      return run.append([
        run.turn(2, calls, "I will refund this order."),
        ...run.asked(2, calls),
        run.suspended("approval"),
      ]);
    },
  ],
  [
    "Note on order",
    (run, number) =>
      Effect.andThen(
        run.append([run.turn(2, [note(number)], ""), run.prepared(2, 0, note(number))]),
        run.append([
          run.settled(2, 0, note(number), fine),
          run.turn(3, [], "The note is on the order."),
          run.settledRun({ ...answered, output: "The note is on the order." }),
        ]),
      ),
  ],
  [
    "Refund in doubt, order",
    (run, number) => {
      const call = refund(number, false);
      return run.append([
        run.turn(2, [call], "I will refund this order."),
        run.prepared(2, 0, call),
        run.unknown(2, 0, call),
        run.suspended("unknown"),
      ]);
    },
  ],
  [
    "Delete my account; my last order was",
    (run, number) => {
      const call = deletion(number);
      return run.append([
        run.turn(2, [call], "I will delete the account."),
        run.deniedByPolicy(2, 0, call, deletionDenied),
        run.settledRun({
          outcome: "failed",
          finishReason: "denied",
          failure: {
            errorTag: "AgentToolAuthorizationDenied",
            message: deletionDenied,
          },
        }),
      ]);
    },
  ],
  [
    "Where is order",
    (run, number) =>
      Effect.andThen(
        run.append([
          run.turn(2, [lookUp(number), note(number)], ""),
          run.prepared(2, 1, note(number)),
        ]),
        run.append([
          run.settled(2, 0, lookUp(number), {
            kind: "failed",
            result: "Error: order not found",
            isFailure: true,
            failureMode: "return",
            failureHandling: "returned-to-model",
            failure: { errorTag: "Refusal", message: "Order not found." },
          }),
          run.settled(2, 1, note(number), fine),
          run.settledRun({ ...answered, output: "There is no such order." }),
        ]),
      ),
  ],
];

/** Run number `number`, of the kind that it falls on; about six appends. */
export const writeSmallRun = Effect.fn("seed.writeSmallRun")(function* (
  tenantId: TenantId,
  number: number,
) {
  const [title, write] = kinds[number % kinds.length] ?? kinds[0] ?? [];
  if (title === undefined || write === undefined) return;
  const run = yield* openSeedRun(tenantId, `${title} ${order(number)}`, `seed-small-run-${number}`);
  yield* begin(run, number);
  yield* write(run, number);
});

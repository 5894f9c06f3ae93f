/** The work that every contender does: one response with many calls of one tool, its results, one last answer. */

const callCount = 50;

export interface OrderLine {
  readonly orderId: string;
  readonly quantity: number;
  readonly tags: ReadonlyArray<string>;
  readonly address: { readonly city: string; readonly zip: string };
}
export interface Receipt {
  readonly orderId: string;
  readonly total: number;
  readonly city: string;
}

/** What the model writes: the same arguments for everybody. */
const calls: ReadonlyArray<{ readonly id: string; readonly parameters: OrderLine }> = Array.from(
  { length: callCount },
  (_, index) => ({
    id: `call_${index}`,
    parameters: {
      orderId: `ORD-${1_000 + index}`,
      quantity: 1 + (index % 7),
      tags: ["gift", `batch-${index % 5}`],
      address: { city: "Lisbon", zip: `1${String(index).padStart(3, "0")}-001` },
    },
  }),
);

export interface Counter {
  handled: number;
}

/** The handler: asynchronous like one that asks a database, and without any wait of its own. */
const makeHandler =
  (counter: Counter) =>
  async (line: OrderLine): Promise<Receipt> => {
    await Promise.resolve();
    counter.handled += 1;
    return { orderId: line.orderId, total: line.quantity * 3, city: line.address.city };
  };

/** What everybody is given. */
export const workload = {
  calls,
  makeHandler,
  toolName: "place_order",
  toolDescription: "Places one order line.",
  prompt: "Place every order.",
  lastAnswer: "All orders are placed.",
} as const;
export type Workload = typeof workload;

/** One whole run: gives the final answer and how many calls reached the handler. */
export type Run = () => Promise<{ readonly answer: string; readonly handled: number }>;

export interface Contender {
  readonly name: string;
  readonly whole: Run;
  readonly streamed: Run;
  /** Another way to a whole answer: the model is asked for one piece, and nothing of it is seen before all is there. */
  readonly unstreamed?: { readonly name: string; readonly whole: Run };
}

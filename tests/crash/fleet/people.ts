/** The people of the process proofs: they decide what waits and resolve what is in doubt, as honest operators do. */
import type { RunId } from "#lib/contract/ids.ts";
import type { Provider } from "./provider.ts";
import type { Store } from "./store.ts";

/** Answers are given while hosts die and the database restarts; what was refused or lost is asked again later. */
const trying = (command: Promise<unknown>): Promise<void> =>
  command.then(
    () => undefined,
    () => undefined,
  );

/** One look at both queues; `decide` says what becomes of a request. */
export const answerOnce = async (
  store: Store,
  provider: Provider,
  decide: () => "approved" | "denied",
): Promise<void> => {
  for (const request of await store.pending()) await trying(store.decide(request, decide()));
  for (const open of await store.unknowns()) {
    // Whoever reads the provider's book waits until the request is off the wire.
    if (open.afterSettlement || provider.inFlight(open.key)) continue;
    await trying(store.resolve(open, provider.timesOf(open.key) > 0));
  }
};

const terminal = new Set(["completed", "failed", "aborted"]);

/** Runs that are not at their end. */
export const unfinished = async (store: Store): Promise<ReadonlyArray<RunId>> =>
  (await store.states()).filter(({ state }) => !terminal.has(state)).map(({ runId }) => runId);

export const approve = () => "approved" as const;

/** Answers everything until every run is settled; gives back what is not after the patience. */
export const settleAll = async (
  store: Store,
  provider: Provider,
  decide: () => "approved" | "denied",
  patienceMillis: number,
): Promise<ReadonlyArray<RunId>> => {
  const deadline = performance.now() + patienceMillis;
  for (;;) {
    await answerOnce(store, provider, decide).catch(() => undefined);
    const open = await unfinished(store).catch(() => undefined);
    if (open !== undefined && (open.length === 0 || performance.now() > deadline)) return open;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

/**
 * What one call costs: from the moment its work begins to the moment the next one's does, so its own
 * settlement and the next one's promise. The same for everybody, whatever a run has beside its calls: ours reads
 * a model's response and asks the model again, a workflow of the peers' does not.
 */
export interface CallClock {
  /** The work of a call begins. */
  readonly mark: () => void;
  readonly reset: () => void;
  /** Milliseconds from one call to the next; not a number with fewer than two. */
  readonly perCall: () => number;
}

export const makeCallClock = (): CallClock => {
  let first = 0;
  let last = 0;
  let count = 0;
  return {
    mark: () => {
      last = performance.now();
      if (count === 0) first = last;
      count += 1;
    },
    reset: () => {
      count = 0;
    },
    perCall: () => (count < 2 ? Number.NaN : (last - first) / (count - 1)),
  };
};

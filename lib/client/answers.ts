/**
 * Word that the server has answered a request: whoever waits to reach it again need not wait any longer.
 */
export interface Answers {
  /** A request was answered with what it asked for. */
  readonly came: () => void;
  /** Runs at each of them until the returned function is called. */
  readonly onAnswer: (run: () => void) => () => void;
}

export const makeAnswers = (): Answers => {
  const listeners = new Set<() => void>();
  return {
    came: () => {
      for (const run of listeners) run();
    },
    onAnswer: (run) => {
      listeners.add(run);
      return () => void listeners.delete(run);
    },
  };
};

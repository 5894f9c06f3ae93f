/** How many event streams each operator holds open in this process, and how many they may. */
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import { TooManyStreams } from "#lib/contract/errors.ts";

/** A browser holds one for all its tabs, and one more while a page reads earlier progress. */
export const StreamsPerOperator = Context.Reference<number>(
  "effect-agent/http/StreamsPerOperator",
  {
    defaultValue: () => 64,
  },
);

export class OpenStreams {
  private readonly counts = new Map<string, number>();

  constructor(private readonly limit: number) {}

  /** Refused when the operator holds as many as they may. Nothing is counted yet. */
  admit(operator: string): Effect.Effect<void, TooManyStreams> {
    return Effect.suspend(() =>
      this.of(operator) < this.limit
        ? Effect.void
        : Effect.fail(
            new TooManyStreams({
              message: `You follow ${this.limit} event streams at once, and no more are allowed: close a browser or a program that follows them.`,
              limit: this.limit,
            }),
          ),
    );
  }

  /**
   * Counts a stream for as long as its scope lives. It counts when the answer's body begins to be
   * read, not when it is admitted: a client that went away in between would be counted for ever.
   */
  hold(operator: string) {
    return Effect.acquireRelease(
      Effect.sync(() => void this.counts.set(operator, this.of(operator) + 1)),
      () =>
        Effect.sync(() => {
          const left = this.of(operator) - 1;
          if (left > 0) this.counts.set(operator, left);
          else this.counts.delete(operator);
        }),
    );
  }

  of(operator: string): number {
    return this.counts.get(operator) ?? 0;
  }
}

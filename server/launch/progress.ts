/** The launcher's own voice: plain lines on standard output, apart from the log. */
import * as Effect from "effect/Effect";

export const sayNow = (line: string): void => {
  process.stdout.write(`  ${line}\n`);
};

export const say = (line: string) => Effect.sync(() => sayNow(line));

/** Asks a discovery tool as a run would, through its handler, and counts what it found. */
import * as Effect from "effect/Effect";
import * as Stream from "effect/Stream";
import type * as Tool from "effect/unstable/ai/Tool";
import * as Toolkit from "effect/unstable/ai/Toolkit";
import * as ToolDiscovery from "#lib/tool-discovery.ts";
import type { Data, Question } from "./data.ts";

export type Search = ToolDiscovery.Search<never, never>;

export interface Found {
  readonly names: ReadonlySet<string>;
  readonly bytes: number;
  /** Processor time, so that other work on the machine does not count. */
  readonly milliseconds: number;
}

export type Ask = (query: string) => Promise<Found>;

export const makeAsk = (
  search: Search | undefined,
  tools: Readonly<Record<string, Tool.Any>>,
  plainName: Data["plainName"],
): Ask => {
  const discovery = ToolDiscovery.make({
    maxResultBytes: 262_144,
    ...(search === undefined ? {} : { search }),
  });
  return async (query) => {
    const started = process.cpuUsage();
    const result = await Effect.runPromise(
      Effect.gen(function* () {
        const toolkit = yield* Toolkit.make(discovery.tool);
        const results = yield* Stream.runCollect(
          // A query has at most 512 characters (D-02).
          yield* toolkit.handle("discover_tools", { query: query.slice(0, 512) }),
        );
        return results[0];
      }).pipe(
        Effect.provideService(ToolDiscovery.DiscoveryCatalogue, { tools }),
        Effect.provide(discovery.handlers),
      ),
    );
    const used = process.cpuUsage(started);
    const value = result?.result;
    const names = value !== undefined && "toolNames" in value ? value.toolNames : [];
    return {
      names: new Set(names.map(plainName)),
      bytes: Buffer.byteLength(JSON.stringify(result?.encodedResult)),
      milliseconds: (used.user + used.system) / 1_000,
    };
  };
};

export interface Recall {
  /** Share of a question's tools among the first eight for its whole text, averaged over the questions. */
  readonly questions: number;
  /** Share found by any of its annotated steps, each asked alone. */
  readonly steps: number;
  readonly found: ReadonlyArray<Found>;
}

export const mean = (numbers: ReadonlyArray<number>): number =>
  numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

export const quantile = (numbers: ReadonlyArray<number>, share: number): number =>
  numbers.toSorted((left, right) => left - right)[
    Math.min(numbers.length - 1, Math.floor(numbers.length * share))
  ] ?? 0;

export const measureRecall = async (
  ask: Ask,
  questions: ReadonlyArray<Question>,
): Promise<Recall> => {
  const whole: Array<number> = [];
  const steps: Array<number> = [];
  const found: Array<Found> = [];
  for (const { needed, steps: texts, text } of questions) {
    const share = (answers: ReadonlyArray<Found>): number =>
      needed.filter((name) => answers.some(({ names }) => names.has(name))).length / needed.length;
    const top = await ask(text);
    const perStep: Array<Found> = [];
    for (const step of texts) perStep.push(await ask(step));
    whole.push(share([top]));
    steps.push(share(perStep));
    found.push(top, ...perStep);
  }
  return { questions: mean(whole), steps: mean(steps), found };
};

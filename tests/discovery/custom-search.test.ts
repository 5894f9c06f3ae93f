import { assert, describe, it } from "@effect/vitest";
import * as Cause from "effect/Cause";
import * as Deferred from "effect/Deferred";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Fiber from "effect/Fiber";
import type * as Layer from "effect/Layer";
import * as Ref from "effect/Ref";
import type * as Tool from "effect/unstable/ai/Tool";
import { TestClock } from "effect/testing";
import * as ToolDiscovery from "#lib/tool-discovery.ts";
import {
  callDiscovery,
  catalogueOf,
  GetRecord,
  SearchIndex,
  SearchRecords,
  SearchUnavailable,
  sized,
} from "./desk.ts";

const indexed = ToolDiscovery.make({
  maxResults: 1,
  failure: SearchUnavailable,
  search: (request, catalogue) =>
    Effect.flatMap(SearchIndex, (index) => index.rank(request, catalogue)),
});
const desk = catalogueOf(SearchRecords, GetRecord, sized("loose", 1));

const answering = (
  ids: ReadonlyArray<string>,
  parameters: { query: string; namespace?: string } = { query: "q" },
) =>
  callDiscovery(indexed, desk, parameters).pipe(Effect.provide(SearchIndex.answering(() => ids)));
const reasonFor = (
  ids: ReadonlyArray<string>,
  parameters?: { query: string; namespace?: string },
) =>
  Effect.map(Effect.flip(answering(ids, parameters)), (error) =>
    error instanceof ToolDiscovery.ToolDiscoveryError ? error.reason : String(error),
  );

describe("custom search", () => {
  it.effect(
    "[D-12] [X-08] the search sees the eligible catalogue of the exact namespace, and its ranking is kept",
    () =>
      Effect.gen(function* () {
        const seen = yield* Ref.make<ReadonlyArray<string>>([]);
        const ranked = ToolDiscovery.make({
          search: (request, catalogue) =>
            Effect.as(Ref.set(seen, [JSON.stringify(request), ...catalogue.map(({ id }) => id)]), [
              "search_records",
              "get_record",
            ]),
        });
        const { result } = yield* callDiscovery(ranked, desk, {
          query: "anything",
          namespace: "records",
        });
        assert.deepStrictEqual(yield* Ref.get(seen), [
          '{"query":"anything","namespace":"records"}',
          "get_record",
          "search_records",
        ]);
        assert.deepStrictEqual(result.toolNames, ["search_records", "get_record"]);
      }),
  );

  it.effect(
    "[D-12] every id is validated before the count is limited: unknown, filtered-out and duplicate ids fail closed",
    () =>
      Effect.gen(function* () {
        assert.deepStrictEqual((yield* answering(["loose", "get_record"])).result.toolNames, [
          "loose",
        ]);
        assert.strictEqual(yield* reasonFor(["loose", "unknown"]), "unknown-match");
        assert.strictEqual(yield* reasonFor(["toString"]), "unknown-match");
        assert.strictEqual(
          yield* reasonFor(["loose"], { query: "q", namespace: "records" }),
          "unknown-match",
        );
        assert.strictEqual(yield* reasonFor(["loose", "get_record", "loose"]), "invalid-matches");
        assert.strictEqual(
          yield* reasonFor(Array.from({ length: 1_025 }, (_, index) => `x${index}`)),
          "invalid-matches",
        );
      }),
  );

  it.effect("[D-12] a search that returns no list of texts fails closed", () =>
    Effect.gen(function* () {
      // What an untyped search can do at run time.
      for (const ids of [undefined, "loose", [1], [{}]] as unknown as ReadonlyArray<
        ReadonlyArray<string>
      >) {
        assert.strictEqual(yield* reasonFor(ids), "invalid-matches");
      }
    }),
  );

  it.effect("[D-13] the declared failure comes out of the tool's error channel as itself", () =>
    Effect.gen(function* () {
      const failing = ToolDiscovery.make({
        failure: SearchUnavailable,
        search: () => Effect.fail(new SearchUnavailable({ message: "index is down" })),
      });
      const error = yield* Effect.flip(callDiscovery(failing, desk, { query: "q" }));
      assert.instanceOf(error, SearchUnavailable);
      assert.strictEqual(error.message, "index is down");
    }),
  );

  it.effect(
    "[D-14] success, failure, defect, timeout and interruption each close the search's own Scope",
    () =>
      Effect.gen(function* () {
        const opened = yield* Ref.make(0);
        const closed = yield* Ref.make(0);
        const acquire = Effect.acquireRelease(
          Ref.update(opened, (count) => count + 1),
          () => Ref.update(closed, (count) => count + 1),
        );
        const started = yield* Deferred.make<void>();
        const bodies: ReadonlyArray<Effect.Effect<ReadonlyArray<string>, SearchUnavailable>> = [
          Effect.succeed(["loose"]),
          Effect.fail(new SearchUnavailable({ message: "no" })),
          Effect.die("defect"),
          Effect.never,
          Effect.andThen(Deferred.succeed(started, undefined), Effect.never),
        ];
        const exits: Array<string> = [];
        for (const [index, body] of bodies.entries()) {
          const discovery = ToolDiscovery.make({
            failure: SearchUnavailable,
            search: () => Effect.andThen(acquire, body),
          });
          const call = callDiscovery(discovery, desk, { query: "q" }).pipe(
            Effect.timeout(index === 3 ? "1 second" : "1 hour"),
          );
          const fiber = yield* Effect.forkChild(call);
          if (index === 3) yield* TestClock.adjust("2 seconds");
          if (index === 4) {
            yield* Deferred.await(started);
            yield* Fiber.interrupt(fiber);
          }
          const exit = yield* Fiber.await(fiber);
          exits.push(
            Exit.isSuccess(exit)
              ? "success"
              : Cause.hasDies(exit.cause)
                ? "die"
                : Cause.hasInterruptsOnly(exit.cause)
                  ? "interrupt"
                  : "fail",
          );
          assert.deepStrictEqual(
            [yield* Ref.get(opened), yield* Ref.get(closed)],
            [index + 1, index + 1],
            exits.at(-1),
          );
        }
        assert.deepStrictEqual(exits, ["success", "fail", "die", "fail", "interrupt"]);
      }),
  );

  it.effect(
    "[D-12] the same eligible tools give the search the same arrays, so that it can keep an index",
    () =>
      Effect.gen(function* () {
        const seen: Array<ReadonlyArray<ToolDiscovery.Descriptor>> = [];
        const discovery = ToolDiscovery.make({
          search: (_request, catalogue) => Effect.sync(() => (seen.push(catalogue), [])),
        });
        const tools = [SearchRecords, GetRecord];
        yield* callDiscovery(discovery, catalogueOf(...tools), {
          query: "q",
          namespace: "records",
        });
        yield* callDiscovery(discovery, catalogueOf(...tools), {
          query: "r",
          namespace: "records",
        });
        yield* callDiscovery(discovery, catalogueOf(GetRecord), {
          query: "r",
          namespace: "records",
        });
        assert.strictEqual(seen[0], seen[1]);
        assert.deepStrictEqual(
          seen[2]?.map(({ id }) => id),
          ["get_record"],
        );
      }),
  );

  it("[D-13] requirements and failures of a search stay in the types", () => {
    const handlers: Layer.Layer<
      Tool.Handler<"discover_tools">,
      never,
      SearchIndex
    > = indexed.handlers;
    // @ts-expect-error the handlers require SearchIndex
    const closed: Layer.Layer<Tool.Handler<"discover_tools">> = indexed.handlers;
    const failure = (
      error: Tool.Failure<typeof indexed.tool>,
    ): "ToolDiscoveryError" | "SearchUnavailable" => error._tag;
    assert.strictEqual(handlers, closed);
    assert.strictEqual(failure(new SearchUnavailable({ message: "x" })), "SearchUnavailable");
  });
});

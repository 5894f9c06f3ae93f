import { isDeepStrictEqual } from "node:util";
import { assert, describe, it } from "@effect/vitest";
import { Effect, Exit, Schema } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as fc from "fast-check";
import * as Agent from "#lib/agent/Agent.ts";
import { canonicalJson } from "#lib/contract/json/canonical-json.ts";
import type { Json } from "#lib/contract/json/json.ts";
import { text, toolCalls } from "#lib/testing/ScriptedModel.ts";
import { jsonValue } from "#tests/contract-json/arbitrary-json.ts";
import { seeded } from "#tests/support/seeded.ts";
import { type ArgumentsText, argumentsText } from "./hostile-json.ts";
import { errorTagOf, resultsIn, terminalEvents, watch, type WatchedRun } from "./run-agent.ts";

const Keep = Tool.make("keep", {
  parameters: Schema.Struct({ value: Schema.Json }),
  success: Schema.Json,
  failure: Schema.String,
  failureMode: "return",
});
const Typed = Tool.make("typed", {
  parameters: Schema.Struct({ value: Schema.Array(Schema.String) }),
  success: Schema.Json,
});
const toolkit = Toolkit.make(Keep, Typed);
const maxResultBytes = 8_192;
const agent = Agent.make("keeper", {
  input: Schema.String,
  output: Schema.String,
  instructions: "Go.",
  toolkit,
  policy: { toolResultBounds: { maxBytes: maxResultBytes } },
});

interface Watched {
  readonly run: WatchedRun;
  /** What the handler got, each time it ran. */
  readonly got: ReadonlyArray<unknown>;
}

/** One call with this text; the handler answers with `answer`, or with what it got. */
const callWith = (name: "keep" | "typed", written: string, answer?: Json): Promise<Watched> => {
  const got: Array<unknown> = [];
  const handle = ({ value }: { readonly value: Json }) =>
    Effect.sync(() => {
      got.push(value);
      return answer === undefined ? value : answer;
    });
  return Effect.runPromise(
    Effect.map(
      watch(
        agent,
        toolkit.toLayer({ keep: handle, typed: handle }),
        [toolCalls([{ id: "c1", name, argumentsText: written }]), text("done")],
        { model: { chunkSize: 1_000_000 } },
      ),
      (run) => ({ run, got }),
    ),
  );
};

/** The arguments that the next request shows as the model's own. */
const shownArguments = ({ requests }: WatchedRun): unknown => {
  for (const message of requests[1]?.prompt.content ?? []) {
    if (message.role !== "assistant") continue;
    for (const part of message.content) if (part.type === "tool-call") return part.params;
  }
  return undefined;
};

/** Whatever was written, the run ends in one of the ways that are declared for it, and says so once. */
const assertEndsProperly = ({ events, error, exit }: WatchedRun) => {
  assert.strictEqual(terminalEvents(events).length, 1);
  if (Exit.isSuccess(exit)) return;
  assert.include(
    ["AgentToolCallRejected", "ModelProtocolError", "AiError"],
    errorTagOf({ events, error, exit, requests: [] }),
  );
};

const assertKept = ({ got, run }: Watched, { kind, text: written }: ArgumentsText) => {
  assertEndsProperly(run);
  if (kind === "malformed") assert.deepStrictEqual(got, []);
  if (kind === "valid") assert.strictEqual(got.length, 1, "a valid call never reached its handler");
  if (got.length === 0) return;
  assert.strictEqual(got.length, 1);
  // JSON.parse reads every text that is accepted; -0, lone surrogates and key order are compared as they are.
  const value: unknown = JSON.parse(written.replace(/^\ufeff/, ""));
  assert.isTrue(isDeepStrictEqual({ value: got[0] }, value), "the handler got another value");
  assert.isTrue(isDeepStrictEqual(shownArguments(run), value), "history shows other arguments");
};

/** The result that the next request shows: the very value, or the envelope of one that is too large. */
const assertResultKept = (run: WatchedRun, value: Json) => {
  const [[, result, isFailure] = []] = resultsIn(run.requests[1]);
  assert.isFalse(isFailure);
  const size = Buffer.byteLength(canonicalJson(value));
  if (size <= maxResultBytes)
    assert.isTrue(isDeepStrictEqual(result, value), "history shows another result");
  else {
    assert.isAtMost(Buffer.byteLength(JSON.stringify(result)), maxResultBytes);
    assert.deepInclude(result, { truncated: true, originalBytes: size });
  }
};

describe("random JSON through a run", () => {
  it(
    "[T-15][T-03][R36][R45][R46][R48][F-06][F-07] no text crashes a run, what is accepted reaches handler and history unchanged, and nothing else does",
    { timeout: 60_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(argumentsText, async (written) => {
          const watched = await callWith("keep", written.text);
          assertKept(watched, written);
          if (watched.got.length === 1) assertResultKept(watched.run, watched.got[0] as Json);
          assert.isUndefined(({} as Record<string, unknown>)["polluted"]);
        }),
        seeded("hostile argument texts", 500),
      );
    },
  );

  it(
    "[F-06][T-03] a handler with a narrower schema runs only for values of that schema",
    { timeout: 60_000 },
    async () => {
      const isNarrow = Schema.is(Typed.parametersSchema);
      await fc.assert(
        fc.asyncProperty(
          fc.oneof(
            argumentsText,
            fc
              .array(fc.oneof({ weight: 9, arbitrary: fc.string() }, jsonValue))
              .map((value): ArgumentsText => ({
                text: JSON.stringify({ value }),
                kind: "hostile",
              })),
          ),
          async (written) => {
            const { got, run } = await callWith("typed", written.text);
            assertEndsProperly(run);
            for (const value of got) assert.isTrue(isNarrow({ value }));
            if (got.length === 0) assert.isTrue(Exit.isFailure(run.exit));
          },
        ),
        seeded("hostile texts for a narrow schema", 200),
      );
    },
  );

  it(
    "[T-05][T-18][R45][R52] any JSON result reaches the next request unchanged, or as an envelope that tells its size",
    { timeout: 60_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.oneof(jsonValue, fc.string({ unit: "binary", minLength: 3_000, maxLength: 9_000 })),
          async (answer) => {
            const { run } = await callWith("keep", '{"value":null}', answer);
            assertResultKept(run, answer);
          },
        ),
        seeded("random results", 200),
      );
    },
  );

  const large = 10 * 1024 * 1024;
  const huge: ReadonlyArray<readonly [string, string]> = [
    ["one string", `{"value":"${"x".repeat(large)}"}`],
    ["NUL characters", `{"value":"${"\\u0000".repeat(large / 6)}"}`],
    ["lone surrogates", `{"value":"${"\ud800".repeat(large / 3)}"}`],
    ["a wide array", `{"value":[${"1,".repeat(large / 2)}1]}`],
    ["pairs of brackets", `{"value":[${"[],".repeat(large / 3)}[]]}`],
    ["one key", `{"${"k".repeat(large)}":1}`],
    ["digits", `{"value":${"9".repeat(large)}}`],
    ["white space", `{"value":1${" ".repeat(large)}}`],
    ["no JSON at all", "{".repeat(large)],
  ];
  it.each(huge)(
    "[R48][R49][PG-06] 10 MB of %s is refused before the handler, and not repeated",
    async (_, written) => {
      const { got, run } = await callWith("keep", written);
      assert.deepStrictEqual(got, []);
      assertEndsProperly(run);
      assert.isBelow(
        JSON.stringify([run.events, run.requests.map((one) => one.encodedPrompt)]).length,
        30_000,
      );
    },
  );

  it("[T-18][R54] a result of 10 MB is an envelope that tells its size", async () => {
    const answer = "\u0000\ud800€".repeat(large / 15);
    const { run } = await callWith("keep", '{"value":null}', answer);
    assertResultKept(run, answer);
  });
});

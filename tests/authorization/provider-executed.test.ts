import { assert, describe, it } from "@effect/vitest";
import { Effect, Exit, Layer, Schema } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import * as AgentRuntime from "#lib/engine/AgentRuntime.ts";
import { ScriptedModel, providerCall, text } from "#lib/testing/ScriptedModel.ts";

const WebSearch = Tool.providerDefined({
  id: "scripted.web_search",
  customName: "WebSearch",
  providerName: "web_search",
  parameters: Schema.Struct({ query: Schema.String }),
  success: Schema.Struct({ hits: Schema.Int }),
})(undefined as never);
const Note = Tool.make("note", { parameters: Schema.Struct({ text: Schema.String }) });
const toolkit = Toolkit.make(WebSearch, Note);
const agent = Agent.make("researcher", {
  input: Schema.String,
  output: Schema.String,
  instructions: "Search, then note.",
  toolkit,
});

describe("provider-executed calls", () => {
  it.effect("[Z-10] the policy is asked about application calls only", () =>
    Effect.gen(function* () {
      const asked: Array<string> = [];
      const handlers = toolkit.toLayer({ note: () => Effect.void });
      const exit = yield* AgentRuntime.run(agent, "go", {
        toolAuthorization: {
          authorize: ({ call }) => {
            asked.push(call.toolName);
            return Effect.succeed({ _tag: "allowed" });
          },
        },
      }).pipe(
        Effect.exit,
        Effect.provide(
          Layer.merge(
            handlers,
            ScriptedModel.layer([
              {
                parts: [
                  ...providerCall({
                    id: "p1",
                    name: "WebSearch",
                    params: { query: "x" },
                    result: { hits: 3 },
                  }),
                  {
                    _tag: "toolCall",
                    id: "n1",
                    name: "note",
                    argumentsText: `{"text":"3"}`,
                    providerExecuted: false,
                  },
                ],
              },
              text("done"),
            ]),
          ),
        ),
      );
      assert.isTrue(Exit.isSuccess(exit), String(exit));
      assert.deepStrictEqual(asked, ["note"]);
    }),
  );
});

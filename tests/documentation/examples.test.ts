/** Every ```ts run example of README.md and docs/library: type-checked as it stands there, run, and its output compared. */
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { format } from "node:util";
import { Effect, type Layer, Logger } from "effect";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { ScriptedModel, text, toolCalls, toolResultsOf } from "effect-agent/scripted-model";
import { documentedPages, examplesIn, readPage } from "./runnable-examples.ts";

const root = path.resolve(import.meta.dirname, "../..");
// Inside the package, so that its own name resolves to its sources; of this process, so that two runs never meet.
const folder = path.join(root, `.scratch/documented-${process.pid}`);
const examples = documentedPages().flatMap((page) => examplesIn(page, readPage(page)));

beforeAll(() => {
  mkdirSync(folder, { recursive: true });
  for (const { fileName, code } of examples) writeFileSync(path.join(folder, fileName), code);
  writeFileSync(
    path.join(folder, "tsconfig.json"),
    JSON.stringify({
      extends: "../../tsconfig.json",
      compilerOptions: { incremental: false, tsBuildInfoFile: null, noUnusedLocals: true },
      include: ["*.ts"],
      exclude: [],
    }),
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Loads the module, which runs it, and collects what it prints. */
const run = async (fileName: string): Promise<{ printed: string; module: object }> => {
  const lines: Array<string> = [];
  const log = vi.spyOn(console, "log").mockImplementation((...values: ReadonlyArray<unknown>) => {
    lines.push(format(...values));
  });
  try {
    const module: object = await import(/* @vite-ignore */ path.join(folder, fileName));
    return { printed: lines.join("\n").trim(), module };
  } finally {
    log.mockRestore();
  }
};

describe("the examples of the documentation", () => {
  it("each page of docs/library has one at least", () => {
    const pages = new Set(examples.map(({ place }) => place.split(":")[0]));
    const without = documentedPages().filter((page) => !pages.has(page));
    expect(without).toEqual([]);
  });

  it("each page is named by the index", () => {
    const index = readPage("docs/library/README.md");
    const names = documentedPages()
      .map((page) => page.split("/").at(-1) ?? "")
      .filter((name) => name !== "README.md");
    expect(names.filter((name) => !index.includes(`](${name})`))).toEqual([]);
  });

  it("type-check as they stand, without a name they do not use", { timeout: 60_000 }, () => {
    const compiler = path.join(root, "node_modules/typescript/bin/tsc");
    const { stdout, stderr } = spawnSync(process.execPath, [compiler, "-p", folder], {
      encoding: "utf8",
    });
    expect(stdout + stderr).toBe("");
  });

  for (const { place, fileName, printed } of examples) {
    it(`${place} prints what it says`, async () => {
      expect((await run(fileName)).printed).toBe(printed);
    });
  }
});

describe("the agent of the README", () => {
  it("[A-01] reads the order, and a refund above 100 ends it as suspended, unpaid", async () => {
    const [readme] = examples.filter(({ place }) => place.startsWith("README.md:"));
    const { module } = await run(readme?.fileName ?? "the README has no runnable example");
    // What it exports is what the type check above has seen: handlers and a program that needs them and a model.
    const { handlers, program } = module as {
      readonly handlers: Layer.Layer<never>;
      readonly program: Effect.Effect<unknown, { readonly _tag: string }, never>;
    };
    const paid: Array<unknown> = [];
    const log = Logger.make(({ message }) => paid.push(message));
    const outcome = (amount: number) =>
      Effect.gen(function* () {
        const exit = yield* Effect.result(program);
        return {
          ends: exit._tag === "Failure" ? exit.failure._tag : "completed",
          results: (yield* (yield* ScriptedModel).requests).flatMap(({ prompt }) =>
            toolResultsOf(prompt).map(({ result }) => result),
          ),
        };
      }).pipe(
        Effect.provide([
          handlers,
          Logger.layer([log]),
          ScriptedModel.layer([
            toolCalls([{ id: "read", name: "find_order", params: { id: "7" } }]),
            toolCalls([{ id: "pay", name: "refund", params: { orderId: "7", amount } }]),
            text("Done."),
          ]),
        ]),
        Effect.runPromise,
      );
    const order = { status: "order 7 was delivered", total: 129.9 };
    expect(await outcome(129.9)).toEqual({ ends: "AgentRunSuspended", results: [order] });
    expect(paid).toEqual([]);
    expect(await outcome(100)).toEqual({ ends: "completed", results: [order, order, null] });
    expect(paid).toEqual([["paid 100 back for 7"]]);
  });
});

describe("reading examples", () => {
  it("takes the marked blocks with the text right after them, and nothing else", () => {
    const fence = "```";
    const page = [
      `${fence}ts run`,
      "one",
      fence,
      "",
      `${fence}text`,
      "1",
      fence,
      `${fence}ts`,
      "no",
      fence,
      `${fence}ts run`,
      "two",
      fence,
      "words between",
      `${fence}text`,
      "not its output",
      fence,
    ].join("\n");
    expect(examplesIn("docs/a.md", page)).toEqual([
      { place: "docs/a.md:1", fileName: "docs-a-1.ts", code: "one", printed: "1" },
      { place: "docs/a.md:11", fileName: "docs-a-11.ts", code: "two", printed: "" },
    ]);
  });
});

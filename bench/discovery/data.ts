/** LiveMCPBench as tools and questions. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as Tool from "effect/unstable/ai/Tool";
import { ToolNamespace } from "#lib/tool-exposure.ts";

interface CatalogueTool {
  readonly server: string;
  readonly name: string;
  readonly description: string | null;
  readonly inputSchema: Record<string, unknown>;
}
interface Annotation {
  readonly Question: string;
  readonly "Annotator Metadata": { readonly Steps: string; readonly Tools: string };
}
export interface Question {
  readonly text: string;
  readonly steps: ReadonlyArray<string>;
  readonly needed: ReadonlyArray<string>;
}

export interface Data {
  readonly questions: ReadonlyArray<Question>;
  /** The catalogue's tools, so many times under other names and namespaces. */
  readonly makeTools: (copies: number) => Readonly<Record<string, Tool.Any>>;
  /** The name in the catalogue of a registered tool. */
  readonly plainName: (registered: string) => string;
}

const numbered = (text: string): ReadonlyArray<string> =>
  text
    .split("\n")
    .map((line) => line.replace(/^\s*\d+\.\s*/, "").trim())
    .filter((line) => line !== "");

export const readData = (folder: string): Data => {
  // The benchmark's own files, trusted as far as a benchmark needs.
  const catalogue = JSON.parse(
    readFileSync(join(folder, "catalogue.json"), "utf8"),
  ) as ReadonlyArray<CatalogueTool>;
  const annotations = JSON.parse(
    readFileSync(join(folder, "annotations.json"), "utf8"),
  ) as ReadonlyArray<Annotation>;
  /** Some tool names occur on several servers; a registered name is unique, so those get their server's name. */
  const registeredNames = new Map<string, string>();
  const makeTools = (copies: number): Readonly<Record<string, Tool.Any>> => {
    const taken = new Set<string>();
    const tools = Array.from({ length: copies }, (_, copy) => copy).flatMap((copy) =>
      catalogue.map((tool) => {
        const plain = copy === 0 ? tool.name : `${tool.name}_${copy}`;
        const name = taken.has(plain) ? `${tool.server}__${plain}` : plain;
        taken.add(name);
        registeredNames.set(name, tool.name);
        return Tool.dynamic(name, {
          description: tool.description ?? "",
          parameters: tool.inputSchema,
        }).annotate(ToolNamespace, copy === 0 ? tool.server : `${tool.server}-${copy}`);
      }),
    );
    return Object.fromEntries(tools.map((tool) => [tool.name, tool]));
  };
  const known = new Set(catalogue.map((tool) => tool.name));
  const questions = annotations
    .map((annotation) => ({
      text: annotation.Question,
      steps: numbered(annotation["Annotator Metadata"].Steps),
      needed: Array.from(
        new Set(numbered(annotation["Annotator Metadata"].Tools).filter((name) => known.has(name))),
      ),
    }))
    .filter((question) => question.needed.length > 0);
  return { questions, makeTools, plainName: (name) => registeredNames.get(name) ?? name };
};

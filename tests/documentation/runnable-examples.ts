/** The runnable examples of the documentation: ```ts run blocks, and what each says that it prints. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "../..");

export interface RunnableExample {
  /** The page and the line of its opening fence, as an editor jumps to it. */
  readonly place: string;
  /** A file name that is unique among all examples. */
  readonly fileName: string;
  readonly code: string;
  /** The ```text block right after it; empty where there is none. */
  readonly printed: string;
}

interface Fence {
  readonly info: string;
  readonly content: string;
  /** 1 for the first line of the page. */
  readonly line: number;
  /** The line of the closing fence. */
  readonly end: number;
}

const fencesOf = (markdown: string): ReadonlyArray<Fence> => {
  const fences: Array<Fence> = [];
  let open: { info: string; line: number; content: Array<string> } | undefined;
  for (const [index, text] of markdown.split("\n").entries()) {
    if (open === undefined) {
      if (text.startsWith("```"))
        open = { info: text.slice(3).trim(), line: index + 1, content: [] };
    } else if (text === "```") {
      fences.push({ ...open, content: open.content.join("\n"), end: index + 1 });
      open = undefined;
    } else open.content.push(text);
  }
  return fences;
};

/** Pure: the examples of one page, in their order. */
export const examplesIn = (page: string, markdown: string): ReadonlyArray<RunnableExample> => {
  const fences = fencesOf(markdown);
  return fences.flatMap((fence, place) => {
    if (fence.info !== "ts run") return [];
    const next = fences[place + 1];
    const between = markdown
      .split("\n")
      .slice(fence.end, next === undefined ? undefined : next.line - 1);
    const isOutput = next?.info === "text" && between.every((line) => line.trim() === "");
    return [
      {
        place: `${page}:${fence.line}`,
        fileName: `${page.replace(/\.md$/, "").replaceAll(/[^a-zA-Z0-9]+/g, "-")}-${fence.line}.ts`,
        code: fence.content,
        printed: isOutput ? next.content.trim() : "",
      },
    ];
  });
};

export const documentedPages = (): ReadonlyArray<string> => [
  "README.md",
  ...readdirSync(path.join(root, "docs/library"))
    .filter((name) => name.endsWith(".md"))
    .toSorted()
    .map((name) => `docs/library/${name}`),
];

export const readPage = (page: string): string => readFileSync(path.join(root, page), "utf8");

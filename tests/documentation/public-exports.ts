/** What users can import from lib/*.ts, followed to where it is declared, with its docstring. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

const lib = path.resolve(import.meta.dirname, "../../lib");

export interface PublicExport {
  readonly name: string;
  /** The file that declares it, below lib/. */
  readonly file: string;
  /** Text of the docstring right before the declaration; absent where there is none. */
  readonly docstring: string | undefined;
}

const resolveSpecifier = (from: string, specifier: string): string | undefined => {
  if (specifier.startsWith("#lib/")) return specifier.slice("#lib/".length);
  return specifier.startsWith(".")
    ? path.posix.join(path.posix.dirname(from), specifier)
    : undefined;
};

const declaration =
  /^export (?:declare )?(?:abstract )?(?:const|let|class|interface|type|function|enum) (\w+)/;

/** The block comment that ends on the line before `index`, without its stars. */
const docstringBefore = (lines: ReadonlyArray<string>, index: number): string | undefined => {
  if (!(lines[index - 1] ?? "").trimEnd().endsWith("*/")) return undefined;
  let start = index - 1;
  while (start >= 0 && !(lines[start] ?? "").includes("/**")) start -= 1;
  const text = lines
    .slice(start, index)
    .join("\n")
    .replaceAll(/^\s*(?:\/\*\*|\*\/|\*)|\*\/\s*$/gm, "")
    .trim();
  return text === "" ? undefined : text;
};

const declaredIn = (file: string): ReadonlyArray<PublicExport> => {
  const lines = readFileSync(path.join(lib, file), "utf8").split("\n");
  return lines.flatMap((line, index) => {
    const name = declaration.exec(line)?.[1];
    return name === undefined ? [] : [{ name, file, docstring: docstringBefore(lines, index) }];
  });
};

/** Everything one module exports, declared there or passed on; nothing of other packages. */
export const exportsOf = (
  file: string,
  seen: ReadonlySet<string> = new Set(),
): ReadonlyArray<PublicExport> => {
  if (seen.has(file)) return [];
  const further = new Set([...seen, file]);
  const source = readFileSync(path.join(lib, file), "utf8");
  const passedOn = [
    ...source.matchAll(/^export (?:type )?(\*(?: as \w+)?|\{[^}]*\}) from "([^"]+)";/gm),
  ];
  return [
    ...declaredIn(file),
    ...passedOn.flatMap(([, what = "", specifier = ""]) => {
      const target = resolveSpecifier(file, specifier);
      if (target === undefined) return [];
      const all = exportsOf(target, further);
      if (what.startsWith("*")) return all;
      return what
        .slice(1, -1)
        .split(",")
        .map(
          (entry) =>
            entry
              .trim()
              .replace(/^type /, "")
              .split(" as ")[0]
              ?.trim() ?? "",
        )
        .filter((name) => name !== "")
        .map(
          (name) =>
            all.find((one) => one.name === name) ?? { name, file: target, docstring: undefined },
        );
    }),
  ];
};

/** Numbers that a user sets in the `...Options` of a file, each with the docstring that must give its unit and bounds. */
export const numbersOf = (file: string): ReadonlyArray<PublicExport> => {
  const lines = readFileSync(path.join(lib, file), "utf8").split("\n");
  let options: string | undefined;
  return lines.flatMap((line, index) => {
    options =
      /^export interface (\w+Options)\b/.exec(line)?.[1] ?? (line === "}" ? undefined : options);
    const name = /^ {2}readonly (\w+)\??: (?:number|Duration\.Input)/.exec(line)?.[1];
    return options === undefined || name === undefined
      ? []
      : [{ name: `${options}.${name}`, file, docstring: docstringBefore(lines, index) }];
  });
};

/** The files that users import by name. */
export const publicFiles = (): ReadonlyArray<string> =>
  readdirSync(lib).filter((name) => name.endsWith(".ts"));

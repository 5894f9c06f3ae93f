/**
 * Which captured failures are the same failure again.
 */
import * as Option from "effect/Option";
import * as Schema from "effect/Schema";
import { CapturedDiagnostic, type DiagnosticNode } from "#lib/contract/diagnostic.ts";
import { digestOf } from "#lib/contract/json/digest.ts";
import type { Json } from "#lib/contract/json/json.ts";
import { boundedText } from "#lib/diagnostics/bounded-text.ts";

const decode = Schema.decodeUnknownOption(CapturedDiagnostic);

/**
 * Sixteen hexadecimal digits that are equal for failures of the same kind from the
 * same place: tags, codes, the wording of messages without ids, numbers and quoted
 * values, the nearest stack frames without line numbers, and the same of the
 * causes. JSON that is no diagnostic is fingerprinted as it is.
 */
export const fingerprint = (encoded: Json): string => {
  const identity = Option.match(decode(encoded), {
    onNone: (): Json => encoded,
    onSome: ({ root }) => identityOf(root, 0),
  });
  return digestOf(identity).slice(0, 16);
};

const maxDepth = 8;
const maxFrames = 3;

const identityOf = (node: DiagnosticNode, depth: number): Json => {
  if (depth > maxDepth) return "deeper";
  switch (node._tag) {
    case "Failure":
      return [
        node.tag ?? node.name ?? "",
        node.code ?? "",
        wordingOf(node.message ?? ""),
        framesOf(node.stack ?? ""),
        node.reason === undefined ? null : identityOf(node.reason, depth + 1),
        node.cause === undefined ? null : identityOf(node.cause, depth + 1),
        (node.errors ?? []).slice(0, maxDepth).map((error) => identityOf(error, depth + 1)),
      ];
    case "Cause":
      return node.reasons.slice(0, maxDepth).map((reason) => {
        switch (reason._tag) {
          case "Fail":
            return ["Fail", identityOf(reason.error, depth + 1)];
          case "Die":
            return ["Die", identityOf(reason.defect, depth + 1)];
          case "Interrupt":
            return ["Interrupt"];
        }
      });
    case "Text":
      return wordingOf(node.text);
    case "Scalar":
      return typeof node.value;
    case "Omitted":
      return node.reason;
  }
};

/** The part of a message that its author wrote. */
const wordingOf = (message: string): string =>
  message
    .slice(0, 512)
    .replace(/"[^"]*"|'[^']*'|`[^`]*`/g, "<quoted>")
    .replace(/\b[0-9a-f]{8,}(?:-[0-9a-f]{4,})*\b/gi, "<id>")
    .replace(/\S*\d\S*/g, "<value>")
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, 200);

/** Function and file of the nearest frames; line numbers and folders change without the failure changing. */
const framesOf = (stack: string): ReadonlyArray<string> =>
  stack
    .split("\n")
    .filter((line) => /^\s+at /.test(line))
    .slice(0, maxFrames)
    .map((line) =>
      line
        .trim()
        .replace(/:\d+:\d+\)?$/, "")
        .replace(/\(?(?:[a-z]+:\/\/)?\S*[/\\]/, ""),
    );

/**
 * One line for a list: tag or class, and the first line of the message; at most 200 bytes, already redacted.
 *
 * @param otherwise says what failed where the value itself has neither tag, class nor message; it must be safe to show
 */
export const diagnosticTitle = (encoded: Json, otherwise = "Failure"): string =>
  Option.match(decode(encoded), {
    onNone: () => boundedText(otherwise, 200),
    onSome: ({ root }) => boundedText(isNameless(root) ? otherwise : titleOf(root), 200),
  });

/** A plain object, or something left out: nothing of it could stand in a line. */
const isNameless = (node: DiagnosticNode): boolean =>
  node._tag === "Omitted" ||
  (node._tag === "Failure" &&
    node.tag === undefined &&
    node.name === undefined &&
    (node.message ?? "") === "");

const titleOf = (node: DiagnosticNode): string => {
  switch (node._tag) {
    case "Failure": {
      const [line] = (node.message ?? "").split("\n", 1);
      const name = node.tag ?? node.name ?? "Failure";
      return line === undefined || line === "" ? name : `${name}: ${line}`;
    }
    case "Cause": {
      const [first] = node.reasons;
      if (first?._tag === "Fail") return titleOf(first.error);
      if (first?._tag === "Die") return `Defect: ${titleOf(first.defect)}`;
      return first === undefined ? "Empty cause" : "Interrupted";
    }
    case "Text":
      return node.text.split("\n", 1)[0] ?? "";
    case "Scalar":
      return `Failure: ${String(node.value)}`;
    case "Omitted":
      return `Failure (${node.reason})`;
  }
};

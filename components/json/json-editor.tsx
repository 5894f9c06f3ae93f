"use client";
import { useDeferredValue, useId, useMemo, useRef, useState } from "react";
import { countOf } from "#components/ui/durations.ts";
import { VisibleText } from "#components/ui/visible-text.tsx";
import {
  type CheckedJson,
  checkJson,
  type JsonProblem,
  pathInMessage,
} from "#lib/client/check-json.ts";
import { offsetsOf, placeAt, type TextPlace } from "#lib/client/json-place.ts";

/** More than this is no longer read line by line. */
const mostShown = 8;

export interface EditedJson {
  readonly text: string;
  /** Nothing may be sent while the text is not JSON, or would be read as something else. */
  readonly isReadable: boolean;
}

const offsetOf = (text: string, { line, column }: TextPlace): number =>
  text
    .split("\n")
    .slice(0, line - 1)
    .join("\n").length +
  (line > 1 ? 1 : 0) +
  column -
  1;

/** What the server said of the text as it was sent, at the line that it names; nothing once the text is another. */
const useRefusal = (refused: string | undefined, text: string): ReadonlyArray<JsonProblem> => {
  const [seen, setSeen] = useState<{ readonly refused: string | undefined; readonly text: string }>(
    {
      refused: undefined,
      text: "",
    },
  );
  if (seen.refused !== refused) setSeen({ refused, text });
  return useMemo(() => {
    if (refused === undefined || seen.text !== text) return [];
    const offset = offsetsOf(text).get(pathInMessage(refused)) ?? 0;
    return [{ ...placeAt(text, offset), message: refused }];
  }, [refused, seen, text]);
};

/**
 * A JSON text, typed: 5, "5", null, {} and [] are different things, numbers stay as written, and what is
 * wrong is named by line while one types. What only the schema refuses is shown and may still be sent: the
 * server's own decoder decides.
 */
export function JsonEditor({
  label,
  edited,
  onEdit,
  schema,
  refused,
  rows = 8,
}: {
  label: string;
  edited: EditedJson;
  onEdit: (edited: EditedJson) => void;
  /** JSON Schema of the value; `{}` for none. */
  schema: unknown;
  /** What the server said of the value that was sent. */
  refused?: string | undefined;
  rows?: number;
}) {
  const id = useId();
  const box = useRef<HTMLTextAreaElement>(null);
  const gutter = useRef<HTMLPreElement>(null);
  const checkedText = useDeferredValue(edited.text);
  const checked = useMemo(() => checkJson(checkedText, schema), [checkedText, schema]);
  const refusal = useRefusal(refused, edited.text);
  const wrongLines = new Set([...checked.problems, ...refusal].map(({ line }) => line));
  const lines = edited.text.split("\n").length;
  const goTo = (place: TextPlace): void => {
    const offset = offsetOf(edited.text, place);
    box.current?.focus();
    box.current?.setSelectionRange(offset, offset);
  };
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="font-medium">
        {label}
      </label>
      <div className="flex max-h-80 overflow-hidden rounded-sm border border-edge bg-panel has-aria-invalid:border-danger has-[textarea:focus-visible]:outline-2 has-[textarea:focus-visible]:-outline-offset-1 has-[textarea:focus-visible]:outline-active">
        <pre
          ref={gutter}
          aria-hidden
          // On a phone lines are folded, and numbers beside them would stand beside others.
          className="mono m-0 overflow-hidden border-r max-md:hidden border-line px-2 py-1.5 text-right text-table leading-5 text-soft"
        >
          {Array.from({ length: lines }, (_, index) => (
            // A line is its number.
            // oxlint-disable-next-line react/no-array-index-key
            <span key={index} className={wrongLines.has(index + 1) ? "text-danger" : ""}>
              {`${wrongLines.has(index + 1) ? "!" : " "}${index + 1}\n`}
            </span>
          ))}
        </pre>
        <textarea
          id={id}
          ref={box}
          value={edited.text}
          rows={rows}
          spellCheck={false}
          autoComplete="off"
          wrap="off"
          aria-describedby={`${id}-problems`}
          {...(checked.value === undefined && edited.text !== "" ? { "aria-invalid": true } : {})}
          onScroll={(event) => {
            if (gutter.current !== null) gutter.current.scrollTop = event.currentTarget.scrollTop;
          }}
          onChange={(event) => {
            const text = event.target.value;
            onEdit({ text, isReadable: checkJson(text, {}).value !== undefined });
          }}
          className="mono min-w-0 flex-1 max-md:[white-space:pre-wrap] max-md:[overflow-wrap:anywhere] resize-y bg-transparent px-2 py-1.5 text-table leading-5 text-ink outline-none!"
        />
      </div>
      <Problems id={`${id}-problems`} checked={checked} refusal={refusal} onGo={goTo} />
    </div>
  );
}

function Problems({
  id,
  checked,
  refusal,
  onGo,
}: {
  id: string;
  checked: CheckedJson;
  refusal: ReadonlyArray<JsonProblem>;
  onGo: (place: TextPlace) => void;
}) {
  const { problems } = checked;
  return (
    <div id={id} className="text-table">
      {refusal.map((problem) => (
        <p role="alert" key={problem.message} className="text-danger">
          The server refuses it, line {problem.line}: <VisibleText text={problem.message} />
        </p>
      ))}
      {problems.length === 0 ? (
        <p className="text-soft">
          Readable, numbers exactly as written. The tool's own decoder checks it on the server.
        </p>
      ) : (
        <ul aria-label="Problems">
          {problems.slice(0, mostShown).map((problem) => (
            <li key={`${problem.line} ${problem.column} ${problem.message}`}>
              <button
                type="button"
                onClick={() => onGo(problem)}
                className="rounded-sm text-left text-danger underline-offset-2 hover:underline"
              >
                Line {problem.line}: <VisibleText text={problem.message} />
              </button>
            </li>
          ))}
          {problems.length > mostShown ? (
            <li className="text-soft">{countOf(problems.length - mostShown, "more")}</li>
          ) : null}
        </ul>
      )}
    </div>
  );
}

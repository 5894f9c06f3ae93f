"use client";
import { useMemo } from "react";
import { VisibleText } from "#components/ui/visible-text.tsx";
import { exactChanges, mostChanges } from "#lib/client/exact-diff.ts";
import { type ExactJson, exactJsonText } from "#lib/client/exact-json.ts";

const mostCharacters = 160;

/** A value on one line, cut with what is hidden said. */
function Short({ value }: { value: ExactJson | undefined }) {
  if (value === undefined) return <span className="text-soft">nothing</span>;
  const text = exactJsonText(value);
  return (
    <>
      <VisibleText text={text.slice(0, mostCharacters)} line />
      {text.length > mostCharacters ? (
        <span className="text-soft"> … {text.length - mostCharacters} characters hidden</span>
      ) : null}
    </>
  );
}

/** Each path that differs, before and after, values exactly as written. */
export function ExactChanges({ before, after }: { before: ExactJson; after: ExactJson }) {
  const changes = useMemo(() => exactChanges(before, after), [before, after]);
  if (changes.length === 0) return <p className="text-soft">Nothing is changed yet.</p>;
  return (
    <div className="max-h-48 overflow-auto rounded-sm border border-line">
      <table className="mono w-full text-table">
        <caption className="sr-only">Changed values</caption>
        <thead className="text-left text-soft">
          <tr>
            <th scope="col" className="px-2 py-1 font-normal">
              where
            </th>
            <th scope="col" className="px-2 py-1 font-normal">
              asked for
            </th>
            <th scope="col" className="px-2 py-1 font-normal">
              suggested
            </th>
          </tr>
        </thead>
        <tbody>
          {changes.map((change) => (
            <tr key={change.path} className="border-t border-line align-top">
              <th scope="row" className="px-2 py-1 text-left font-normal break-all">
                <VisibleText text={change.path} line />
              </th>
              <td className="px-2 py-1 break-all text-soft line-through decoration-danger">
                <Short value={change.before} />
              </td>
              <td className="px-2 py-1 break-all">
                <Short value={change.after} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {changes.length === mostChanges ? (
        <p className="px-2 py-1 text-soft">Only the first {mostChanges} differences are shown.</p>
      ) : null}
    </div>
  );
}

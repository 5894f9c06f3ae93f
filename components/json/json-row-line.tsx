import { ChevronDown, ChevronRight } from "lucide-react";
import { VisibleText } from "#components/ui/visible-text.tsx";
import { markOf } from "./json-marks.ts";
import { containerText, type JsonRow, scalarText } from "./json-rows.ts";
import { LongText } from "./long-text.tsx";

/** One line of a JSON value. */
export function JsonRowLine({
  row,
  index,
  id,
  active,
  placed,
  onChoose,
}: {
  row: JsonRow;
  index: number;
  id: string;
  active: boolean;
  /** The one that was moved to: it shows where it is, focused or not. */
  placed: boolean;
  onChoose: () => void;
}) {
  const Chevron = row.open ? ChevronDown : ChevronRight;
  return (
    // The keyboard is on the tree: it moves the active row, as a tree's items are not tab stops.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
    <div
      id={id}
      role="treeitem"
      tabIndex={-1}
      aria-level={row.depth + 1}
      aria-selected={active}
      {...(row.children > 0 ? { "aria-expanded": row.open } : {})}
      data-row={index}
      title={row.path}
      onClick={onChoose}
      className={`flex min-w-0 items-start gap-1 px-2 py-[3px] leading-4 ${placed ? "bg-chosen" : active ? "in-focus-visible:bg-chosen" : ""} ${row.children > 0 ? "cursor-pointer hover:bg-raised" : ""}`}
      style={{ paddingLeft: 8 + row.depth * 16 }}
    >
      <span aria-hidden className="w-3.5 shrink-0 text-soft">
        {row.children > 0 ? <Chevron size={13} /> : null}
      </span>
      <span className="min-w-0">
        {row.name === undefined ? null : (
          <span className="text-soft">
            <VisibleText text={String(row.name)} line />
            {": "}
          </span>
        )}
        <Scalar row={row} />
        <Mark row={row} />
      </span>
    </div>
  );
}

/** Says that something is missing here, and why. */
function Mark({ row }: { row: JsonRow }) {
  const words = markOf(row.value);
  if (words === undefined) return null;
  return (
    <span className="tone-attention tone-wash ml-1 rounded-sm border border-attention px-1 font-sans text-xs text-attention">
      {words}
    </span>
  );
}

function Scalar({ row }: { row: JsonRow }) {
  const { value } = row;
  switch (value.kind) {
    case "object":
    case "array":
      return row.open ? (
        <span className="text-soft">{value.kind === "object" ? "{" : "["}</span>
      ) : (
        <span className="text-soft">{containerText(value)}</span>
      );
    case "string":
      return <LongText text={value.value} quoted />;
    case "number":
      return <span className="text-active">{scalarText(value)}</span>;
    case "boolean":
    case "null":
      return <span className="font-semibold">{scalarText(value)}</span>;
  }
}

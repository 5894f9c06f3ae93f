"use client";
import dynamic from "next/dynamic";
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { CopyButton } from "#components/ui/copy-button.tsx";
import { countOf } from "#components/ui/durations.ts";
import { type ExactJson, exactJsonText } from "#lib/client/exact-json.ts";
import { downloadJson } from "./download-json.ts";
import { JsonRowLine } from "./json-row-line.tsx";
import { type JsonRow, jsonRows } from "./json-rows.ts";
import { type JsonHit, revealing, weightUpTo } from "./json-search.ts";

// Only larger values are searched and drawn in part, and only a chosen row has a place.
const JsonVirtualRows = dynamic(() => import("./json-virtual-rows.tsx"), {
  ssr: false,
  loading: () => <p className="px-2 font-sans text-soft">Drawing…</p>,
});
const JsonSearchBar = dynamic(() => import("./json-search-bar.tsx"), { ssr: false });
const JsonPlaceBar = dynamic(() => import("./json-place-bar.tsx"), { ssr: false });

/** From this many rows on only those in view are drawn. */
const virtualFrom = 120;
/** From this many rows on there is a search. */
const searchFrom = 30;
/** A value with more characters than this is drawn only when somebody asks for it. */
const heavyFrom = 524_288;

const sizeWords = (value: ExactJson): string => {
  if (value.kind === "object") return countOf(value.members.length, "member");
  return value.kind === "array" ? countOf(value.items.length, "item") : "one text";
};

/** A JSON value exactly as stored; a very large one waits until somebody asks for it. */
export function JsonViewer(props: { value: ExactJson; label: string; maxHeight?: number }) {
  const { value, label } = props;
  const heavy = useMemo(() => weightUpTo(value, heavyFrom) >= heavyFrom, [value]);
  const [asked, setAsked] = useState(false);
  if (!heavy || asked) return <JsonTree {...props} />;
  return (
    <div className="flex flex-wrap items-center gap-2 rounded-sm border border-line p-2" data-gate>
      <span className="min-w-0 flex-1">
        {label}: more than 512 KiB of JSON ({sizeWords(value)}), not drawn yet. Nothing of it is
        cut.
      </span>
      <Button onClick={() => setAsked(true)}>Show it</Button>
      <Button onClick={() => downloadJson(value, label)}>Download</Button>
    </div>
  );
}

/**
 * A JSON value exactly as stored: keys, order and numbers as written, text as text, long texts and large
 * containers closed with what is hidden said. One tab stop; the arrow keys move, Enter opens and closes.
 */
function JsonTree({
  value,
  label,
  maxHeight = 420,
}: {
  value: ExactJson;
  label: string;
  maxHeight?: number;
}) {
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const [active, setActive] = useState(0);
  const [placed, setPlaced] = useState(false);
  const [wanted, setWanted] = useState<string>();
  const rows = useMemo(() => jsonRows(value, toggled), [value, toggled]);
  const box = useRef<HTMLDivElement>(null);
  const id = useId();
  const virtual = rows.length > virtualFrom;
  const moveTo = (index: number): void => {
    const next = Math.min(rows.length - 1, Math.max(0, index));
    setActive(next);
    setPlaced(true);
    if (!virtual)
      box.current?.querySelector(`[data-row="${next}"]`)?.scrollIntoView({ block: "nearest" });
  };
  const toggle = (row: JsonRow): void => {
    if (row.children === 0) return;
    const next = new Set(toggled);
    if (!next.delete(row.path)) next.add(row.path);
    setToggled(next);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const row = rows[active];
    if (event.target !== event.currentTarget || row === undefined) return;
    const acts: Record<string, () => void> = {
      ArrowDown: () => moveTo(active + 1),
      ArrowUp: () => moveTo(active - 1),
      Home: () => moveTo(0),
      End: () => moveTo(rows.length - 1),
      Enter: () => toggle(row),
      " ": () => toggle(row),
      ArrowRight: () => (row.open ? moveTo(active + 1) : toggle(row)),
      ArrowLeft: () =>
        row.open
          ? toggle(row)
          : moveTo(rows.findLastIndex((one, at) => at < active && one.depth < row.depth)),
    };
    const act = Object.hasOwn(acts, event.key) ? acts[event.key] : undefined;
    if (act === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };
  const goTo = (hit: JsonHit): void => {
    setToggled(revealing(value, toggled, hit.names));
    setWanted(hit.path);
  };
  // A match in a closed container has a row only after the next drawing.
  useEffect(() => {
    if (wanted === undefined) return;
    const index = rows.findIndex(({ path }) => path === wanted);
    if (index >= 0) moveTo(index);
    setWanted(undefined);
    // moveTo is made anew with each drawing; the rows are what it waits for.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [wanted, rows]);

  const draw = (row: JsonRow, index: number) => (
    <JsonRowLine
      key={row.path}
      row={row}
      index={index}
      id={`${id}-${index}`}
      active={index === active}
      placed={placed && index === active}
      onChoose={() => {
        setActive(index);
        setPlaced(true);
        toggle(row);
      }}
    />
  );
  return (
    <div className="rounded-sm border border-line">
      <div className="flex flex-wrap items-center gap-2 border-b border-line px-2 py-0.5 text-table text-soft">
        <span>{label}</span>
        {rows.length > searchFrom || rows.some((row) => row.children > 0 && !row.open) ? (
          <JsonSearchBar value={value} label={label} onGo={goTo} />
        ) : null}
        <span className="ml-auto">
          <CopyButton text={() => exactJsonText(value, 2)} what={label} />
        </span>
      </div>
      <div
        ref={box}
        role="tree"
        aria-label={label}
        aria-activedescendant={`${id}-${active}`}
        tabIndex={0}
        onKeyDown={onKeyDown}
        style={{ maxHeight }}
        className="mono overflow-auto py-1 text-table"
      >
        {virtual ? (
          <JsonVirtualRows
            rows={rows}
            box={box}
            {...(placed ? { inView: active } : {})}
            draw={draw}
          />
        ) : (
          rows.map(draw)
        )}
      </div>
      {placed && rows[active] !== undefined ? <JsonPlaceBar row={rows[active]} /> : null}
    </div>
  );
}

"use client";
/* oxlint-disable react/incompatible-library */
// The virtualizer is the only state of its kind here, and it is read where it is made.
import { useVirtualizer } from "@tanstack/react-virtual";
import { ChevronDown, ChevronRight } from "lucide-react";
import dynamic from "next/dynamic";
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { CopyButton } from "#components/ui/copy-button.tsx";
import { VisibleText } from "#components/ui/visible-text.tsx";
import { type ExactJson, exactJsonText } from "#lib/client/exact-json.ts";
import { downloadJson } from "./download-json.ts";
import { markOf } from "./json-marks.ts";
import { containerText, type JsonRow, jsonRows, scalarText } from "./json-rows.ts";
import { type JsonHit, revealing, weightUpTo } from "./json-search.ts";
import { LongText } from "./long-text.tsx";

// Only larger values are searched, and only a chosen row has a place.
const JsonSearchBar = dynamic(() => import("./json-search-bar.tsx"), { ssr: false });
const JsonPlaceBar = dynamic(() => import("./json-place-bar.tsx"), { ssr: false });

/** From this many rows on only those in view are drawn. */
const virtualFrom = 120;
/** From this many rows on there is a search. */
const searchFrom = 30;
/** A value with more characters than this is drawn only when somebody asks for it. */
const heavyFrom = 524_288;

/** A JSON value exactly as stored; a very large one waits until somebody asks for it. */
export function JsonViewer(props: { value: ExactJson; label: string; maxHeight?: number }) {
  const { value, label } = props;
  const heavy = useMemo(() => weightUpTo(value, heavyFrom) >= heavyFrom, [value]);
  const [asked, setAsked] = useState(false);
  if (!heavy || asked) return <JsonTree {...props} />;
  return (
    <div className="flex flex-wrap items-center gap-2 rounded-sm border border-line p-2" data-gate>
      <span className="min-w-0 flex-1">
        {label}: more than 512 KiB of JSON ({containerText(value) || "one text"}). Nothing of it is
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
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => 22,
    overscan: 12,
    enabled: virtual,
  });
  const moveTo = (index: number): void => {
    const next = Math.min(rows.length - 1, Math.max(0, index));
    setActive(next);
    setPlaced(true);
    if (virtual) virtualizer.scrollToIndex(next);
    else box.current?.querySelector(`[data-row="${next}"]`)?.scrollIntoView({ block: "nearest" });
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
    <Row
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
          <div
            role="presentation"
            style={{ height: virtualizer.getTotalSize(), position: "relative" }}
          >
            {virtualizer.getVirtualItems().map((item) => {
              const row = rows[item.index];
              return row === undefined ? null : (
                <div
                  key={row.path}
                  role="presentation"
                  ref={virtualizer.measureElement}
                  data-index={item.index}
                  style={{
                    position: "absolute",
                    top: 0,
                    left: 0,
                    right: 0,
                    transform: `translateY(${item.start}px)`,
                  }}
                >
                  {draw(row, item.index)}
                </div>
              );
            })}
          </div>
        ) : (
          rows.map(draw)
        )}
      </div>
      {placed && rows[active] !== undefined ? <JsonPlaceBar row={rows[active]} /> : null}
    </div>
  );
}

function Row({
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

"use client";
/* oxlint-disable react/incompatible-library */
// The virtualizer is the only state of its kind here, and it is read where it is made.
import { useVirtualizer } from "@tanstack/react-virtual";
import { ChevronDown, ChevronRight } from "lucide-react";
import { type KeyboardEvent, useId, useMemo, useRef, useState } from "react";
import { CopyButton } from "#components/ui/copy-button.tsx";
import { countOf } from "#components/ui/durations.ts";
import { VisibleText } from "#components/ui/visible-text.tsx";
import { type ExactJson, exactJsonText } from "#lib/client/exact-json.ts";
import { containerText, type JsonRow, jsonRows, scalarText, searchText } from "./json-rows.ts";
import { LongText } from "./long-text.tsx";

/** From this many rows on only those in view are drawn. */
const virtualFrom = 120;

/**
 * A JSON value exactly as stored: keys, order and numbers as written, text as text, long texts and large
 * containers closed with what is hidden said. One tab stop; the arrow keys move, Enter opens and closes.
 */
export function JsonViewer({
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
  const [search, setSearch] = useState("");
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
  const hits = useMemo(() => {
    const wanted = search.trim().toLowerCase();
    return wanted === ""
      ? []
      : rows.flatMap((row, index) => (searchText(row).includes(wanted) ? [index] : []));
  }, [rows, search]);

  const moveTo = (index: number): void => {
    const next = Math.min(rows.length - 1, Math.max(0, index));
    setActive(next);
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
  const goToHit = (step: 1 | -1): void => {
    const next =
      step === 1
        ? (hits.find((hit) => hit > active) ?? hits[0])
        : (hits.findLast((hit) => hit < active) ?? hits.at(-1));
    if (next !== undefined) moveTo(next);
  };

  const draw = (row: JsonRow, index: number) => (
    <Row
      key={row.path}
      row={row}
      index={index}
      id={`${id}-${index}`}
      active={index === active}
      onChoose={() => {
        setActive(index);
        toggle(row);
      }}
    />
  );
  return (
    <div className="rounded-sm border border-line">
      <div className="flex flex-wrap items-center gap-2 border-b border-line px-2 py-0.5 text-table text-soft">
        <span>{label}</span>
        {rows.length > 30 ? (
          <span className="flex items-center gap-1">
            <input
              aria-label={`Search in ${label}`}
              placeholder="search"
              value={search}
              onChange={(event) => setSearch(event.target.value)}
              onKeyDown={(event) => {
                if (event.key === "Enter") goToHit(event.shiftKey ? -1 : 1);
              }}
              className="h-6 w-32 rounded-sm border border-edge bg-panel px-1 text-ink"
            />
            {search === "" ? null : <span>{countOf(hits.length, "match", "matches")}</span>}
          </span>
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
    </div>
  );
}

function Row({
  row,
  index,
  id,
  active,
  onChoose,
}: {
  row: JsonRow;
  index: number;
  id: string;
  active: boolean;
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
      onClick={row.children > 0 ? onChoose : undefined}
      className={`flex min-w-0 items-start gap-1 px-2 py-[3px] leading-4 ${active ? "in-focus-visible:bg-chosen" : ""} ${row.children > 0 ? "cursor-pointer hover:bg-raised" : ""}`}
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
      </span>
    </div>
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

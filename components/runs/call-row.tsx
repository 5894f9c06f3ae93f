"use client";
import { ChevronDown, ChevronRight } from "lucide-react";
import { type ReactNode, useEffect, useRef } from "react";
import { useNow } from "#components/shell/use-now.ts";
import { CallStateBadge } from "#components/status/status-badge.tsx";
import { countOf, durationText, secondsText } from "#components/ui/durations.ts";
import { VisibleText } from "#components/ui/visible-text.tsx";
import { callEnd } from "#components/timeline/call-end.ts";
import { isCutValue } from "#lib/contract/cut-value.ts";
import type { CallProgress } from "#lib/client/run-snapshot.ts";
import type { ToolCallView } from "#lib/contract/run-views.ts";
import { CallDetail } from "./call-detail.tsx";
import { callTimes } from "./call-times.ts";
import { Doubt } from "./doubt.tsx";

const previewCharacters = 160;

/** One call: its state, what it was asked to do, and where its time went. */
export function CallRow({
  call,
  runId,
  agentId,
  progress,
  open,
  onToggle,
  inside,
  children,
}: {
  call: ToolCallView;
  runId: string;
  agentId: string;
  progress: CallProgress | undefined;
  open: boolean;
  onToggle: () => void;
  /** Name of the tool whose program made the call; undefined for the model's own. */
  inside?: string;
  /** Drawn below the call: the calls that it made itself. */
  children?: ReactNode;
}) {
  const row = useRef<HTMLLIElement>(null);
  const first = useRef(open);
  useEffect(() => {
    // A link to a call brings it into view once; later the page stays where the reader is.
    if (first.current) row.current?.scrollIntoView({ block: "center" });
  }, []);
  const Chevron = open ? ChevronDown : ChevronRight;
  const last = progress?.values.at(-1);
  return (
    <li
      ref={row}
      className="border-b border-line last:border-0"
      data-call={call.callId}
      data-state={call.state}
    >
      <button
        type="button"
        aria-expanded={open}
        onClick={onToggle}
        className="grid w-full grid-cols-[14px_auto_minmax(0,1fr)] items-center gap-x-2 px-2 py-1.5 text-left text-table hover:bg-raised md:grid-cols-[14px_168px_minmax(0,1fr)_auto]"
      >
        <Chevron aria-hidden size={13} className="text-soft" />
        <CallStateBadge state={call.state} />
        <span className="min-w-0 truncate">
          <code className="font-semibold">
            <VisibleText text={call.toolName} line />
          </code>{" "}
          <code className="text-soft">
            <VisibleText text={preview(call.effectiveParameters ?? call.parameters)} line />
          </code>
        </span>
        <Times call={call} />
      </button>
      {call.state === "running" && last !== undefined ? (
        <p className="mono truncate px-2 pb-1.5 pl-[30px] text-table text-active" data-preliminary>
          {last.index + 1}: <VisibleText text={preview(last.value)} line />
        </p>
      ) : null}
      {call.failure === null ? null : (
        <p className="px-2 pb-1.5 pl-[30px] text-table break-words">
          <code className="text-danger">{call.failure.errorTag}</code>{" "}
          <VisibleText text={call.failure.message} />
        </p>
      )}
      {call.state === "unknown" && call.doubt !== undefined ? (
        <p className="px-2 pb-1.5 pl-[30px] text-table break-words" data-doubt>
          <Doubt doubt={call.doubt} />
        </p>
      ) : null}
      {open ? (
        <CallDetail
          call={call}
          runId={runId}
          agentId={agentId}
          progress={progress}
          inside={inside}
        />
      ) : null}
      {children}
    </li>
  );
}

const preview = (value: unknown): string => {
  const text = isCutValue(value) ? value.head : (JSON.stringify(value) ?? "");
  return text.length > previewCharacters ? `${text.slice(0, previewCharacters)}…` : text;
};

/** Queue, wait for a person and run told apart; what still goes on counts up. */
function Times({ call }: { call: ToolCallView }) {
  const end = callEnd(call);
  // Most calls have ended: they take no part in the page's tick.
  return end === null ? <OpenTimes call={call} /> : <TimesAt call={call} now={end} />;
}

const OpenTimes = ({ call }: { call: ToolCallView }) => <TimesAt call={call} now={useNow()} />;

function TimesAt({ call, now }: { call: ToolCallView; now: number }) {
  const times = callTimes(call, Math.max(now, call.declaredAt));
  const text = (millis: number, growing: boolean): string =>
    growing ? secondsText(millis) : durationText(millis);
  return (
    <span className="flex gap-x-3 text-soft max-md:col-start-2 max-md:col-end-4">
      {call.steps === undefined ? null : <span>{countOf(call.steps.length, "step")}</span>}
      <Time
        name={call.broke === true ? "queued and ran" : "queued"}
        value={text(times.queuedMillis, times.open === "queued")}
      />
      {times.personMillis === null ? null : (
        <Time name="person" value={text(times.personMillis, times.open === "person")} />
      )}
      {times.ranMillis === null ? null : (
        <Time
          name={times.ranAtMost ? "ran at most" : "ran"}
          value={text(times.ranMillis, times.open === "running")}
        />
      )}
    </span>
  );
}

const Time = ({ name, value }: { name: string; value: string }) => (
  <span className="whitespace-nowrap">
    {name} <span className="mono text-ink">{value}</span>
  </span>
);

"use client";
import { LongText } from "#components/json/long-text.tsx";
import { startTransition, useEffect, useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { useUrlState } from "#components/shell/use-url-state.ts";
import { bytesText, countOf, countText } from "#components/ui/durations.ts";
import { Section } from "#components/ui/facts.tsx";
import { At, Length } from "#components/ui/time.tsx";
import { callKey, type RunSnapshot } from "#lib/client/run-snapshot.ts";
import type { TurnView } from "#lib/contract/run-views.ts";
import { CallRow } from "./call-row.tsx";
import { exposureDiff } from "./exposure-diff.ts";
import { callPixels, drawnCalls } from "./turn-height.ts";

/** Calls of a batch that the first drawing has; the others follow when nothing else is to be done. */
const firstCalls = 16;

/** Longest wait for a quiet moment. */
const quietMillis = 1_000;

/** True once the browser has had nothing better to do: whoever presses something first is answered first. */
function useQuiet(): boolean {
  const [isQuiet, setQuiet] = useState(false);
  useEffect(() => {
    const draw = (): void => startTransition(() => setQuiet(true));
    // Not every browser tells when it is idle.
    if (typeof requestIdleCallback === "undefined") {
      const timer = setTimeout(draw, quietMillis / 4);
      return () => clearTimeout(timer);
    }
    const idle = requestIdleCallback(draw, { timeout: quietMillis });
    return () => cancelIdleCallback(idle);
  }, []);
  return isQuiet;
}

/** One model response and its batch. */
export function TurnBlock({
  turn,
  before,
  snapshot,
}: {
  turn: TurnView;
  before: TurnView | undefined;
  snapshot: RunSnapshot;
}) {
  const url = useUrlState();
  const chosen = url.get("turn") === String(turn.turn) ? url.get("call") : undefined;
  const diff =
    before === undefined ? undefined : exposureDiff(before.exposure.exposed, turn.exposure.exposed);
  const [showsAll, setShowsAll] = useState(false);
  const isQuiet = useQuiet();
  const most = showsAll ? turn.calls.length : isQuiet ? drawnCalls : firstCalls;
  // The chosen call is always among those that are drawn.
  const drawn =
    turn.calls.length <= most
      ? turn.calls
      : turn.calls.filter((call, index) => index < most || call.callId === chosen);
  const isLeft = !showsAll && turn.calls.length > drawnCalls && drawn.length < turn.calls.length;
  const choose = (callId: string): void =>
    url.set(
      chosen === callId
        ? { turn: undefined, call: undefined }
        : { turn: String(turn.turn), call: callId },
    );
  return (
    <Section
      title={`Turn ${turn.turn}`}
      aside={
        <ul className="flex flex-wrap gap-x-3 text-table text-soft">
          <li>
            <At at={turn.startedAt} timeOnly />
          </li>
          <li>
            model took <Length millis={turn.recordedAt - turn.startedAt} />
          </li>
          <li>
            {turn.usage.inputTokens === null
              ? "tokens not told"
              : `${countText(turn.usage.inputTokens)} tokens in`}
            {turn.usage.outputTokens === null ? "" : `, ${countText(turn.usage.outputTokens)} out`}
          </li>
          <li>
            <button
              type="button"
              className="underline underline-offset-2 hover:text-ink"
              onClick={() => url.set({ view: "exposure", turn: String(turn.turn) })}
            >
              saw {countOf(turn.exposure.exposed.length, "tool")},{" "}
              {bytesText(turn.exposure.schemaBytes)}
              {diff === undefined || diff.added.length + diff.removed.length === 0
                ? ""
                : ` (+${diff.added.length} −${diff.removed.length})`}
            </button>
          </li>
          <li>ended: {turn.finishReason}</li>
        </ul>
      }
    >
      {turn.text === "" ? null : (
        <div className="mb-2 border-l-2 border-line pl-3">
          <LongText text={turn.text} />
        </div>
      )}
      {turn.calls.length === 0 ? (
        turn.text === "" ? (
          <p className="text-soft">No text and no call.</p>
        ) : null
      ) : (
        <ol aria-label={`Calls of turn ${turn.turn}`} className="rounded-sm border border-line">
          {drawn.map((call) => (
            <CallRow
              key={call.callId}
              call={call}
              runId={snapshot.detail.runId}
              agentId={snapshot.detail.agentId}
              progress={snapshot.progress[callKey(turn.turn, call.callId)]}
              open={chosen === call.callId}
              onToggle={() => choose(call.callId)}
            >
              {call.inner === undefined ? null : (
                <ol
                  aria-label={`Calls made by ${call.toolName}`}
                  className="mb-1.5 ml-6 border-l border-line"
                >
                  {call.inner.map((inner) => (
                    <CallRow
                      key={inner.callId}
                      call={inner}
                      inside={call.toolName}
                      runId={snapshot.detail.runId}
                      agentId={snapshot.detail.agentId}
                      progress={snapshot.progress[callKey(turn.turn, inner.callId)]}
                      open={chosen === inner.callId}
                      onToggle={() => choose(inner.callId)}
                    />
                  ))}
                </ol>
              )}
            </CallRow>
          ))}
          {drawn.length < Math.min(drawnCalls, turn.calls.length) ? (
            // The place of those that follow at once, so that nothing below them jumps.
            <li
              aria-hidden
              style={{
                height: callPixels * (Math.min(drawnCalls, turn.calls.length) - drawn.length),
              }}
            />
          ) : null}
          {!isLeft ? null : (
            <li className="p-1.5">
              <Button kind="quiet" onClick={() => setShowsAll(true)}>
                Show the other {countOf(turn.calls.length - drawn.length, "call")}
              </Button>
            </li>
          )}
        </ol>
      )}
    </Section>
  );
}

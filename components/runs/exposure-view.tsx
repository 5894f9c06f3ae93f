"use client";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ErrorPanel } from "#components/feedback/error-panel.tsx";
import { Empty } from "#components/feedback/empty.tsx";
import { Retrying } from "#components/feedback/retrying.tsx";
import { SkeletonRows } from "#components/feedback/skeleton.tsx";
import { useConsole } from "#components/shell/console-context.tsx";
import { useMomentAddress } from "#components/shell/moment.tsx";
import { useUrlState } from "#components/shell/use-url-state.ts";
import { Button } from "#components/ui/button.tsx";
import { bytesText, countOf, countText } from "#components/ui/durations.ts";
import { Fact, Facts, Section } from "#components/ui/facts.tsx";
import { Field, Input, Select } from "#components/ui/field.tsx";
import { VisibleText } from "#components/ui/visible-text.tsx";
import { keys } from "#lib/client/query-keys.ts";
import type { SelectionSource } from "#lib/contract/exposure.ts";
import type { ExposureExplanation, RunDetail, TurnView } from "#lib/contract/run-views.ts";
import { useEarlierTurns } from "./earlier-turn.tsx";
import { exposureDiff } from "./exposure-diff.ts";

const sourceText: Record<SelectionSource, string> = {
  initial: "the agent's configuration",
  host: "the host's own selection",
  discovery: "the last discovery result",
  cleared: "a discovery result that selected nothing",
};

const verdictText: Record<ExposureExplanation["verdict"], string> = {
  offered: "offered",
  "hidden-by-visibility": "hidden by visibility",
  "not-selected": "not selected",
  "not-discovered": "not discovered",
  "over-budget": "over budget",
  unregistered: "not registered",
};

/** What the model was shown in one turn, what changed, and why any tool was or was not there. */
export function ExposureView({ detail }: { detail: RunDetail }) {
  const url = useUrlState();
  const last = detail.earlier.turns + detail.turnViews.length;
  const asked = Number(url.get("turn"));
  const wanted = Number.isInteger(asked) && asked >= 1 && asked <= last ? asked : last;
  // Turns that did not come with the run are read when one of them is chosen.
  const isEarlier = wanted >= 1 && wanted <= detail.earlier.turns;
  const earlier = useEarlierTurns(detail.runId, wanted, isEarlier);
  const turns = isEarlier ? (earlier.data?.items ?? []) : detail.turnViews;
  const turn = turns.find((one) => one.turn === wanted);
  if (last === 0) {
    return (
      <Empty kind="nothing-yet" title="No exposure recorded yet">
        What a request showed is stored with the response it led to.
      </Empty>
    );
  }
  return (
    <div className="max-w-[1100px] pb-8">
      <div className="flex items-center gap-2 px-4 py-3">
        <label className="flex items-center gap-2">
          Turn
          <Select
            value={wanted}
            onChange={(event) => url.set({ turn: event.target.value, call: undefined })}
            className="!w-auto"
          >
            {Array.from({ length: last }, (_, index) => (
              <option key={index + 1} value={index + 1}>
                {index + 1}
              </option>
            ))}
          </Select>
        </label>
        <span className="text-soft">Exposure is what the model could see. It permits nothing.</span>
      </div>
      {turn === undefined ? (
        earlier.error !== null ? (
          <ErrorPanel error={earlier.error} onRetry={() => void earlier.refetch()} />
        ) : (
          <>
            <Retrying failure={earlier.failureReason} />
            <SkeletonRows rows={6} label={`turn ${wanted}`} />
          </>
        )
      ) : (
        <>
          <Shown turn={turn} before={turns.find((one) => one.turn === wanted - 1)} />
          <Explainer runId={detail.runId} turn={turn.turn} />
        </>
      )}
    </div>
  );
}

function Shown({ turn, before }: { turn: TurnView; before: TurnView | undefined }) {
  const { exposure } = turn;
  const diff = exposureDiff(before?.exposure.exposed ?? [], exposure.exposed);
  return (
    <Section title={`${countOf(exposure.exposed.length, "tool")} shown`}>
      <Facts>
        <Fact name="Set from">
          {exposure.eager
            ? "everything eligible (nothing selects)"
            : sourceText[exposure.selectionSource]}
        </Fact>
        <Fact name="Schema bytes">
          {bytesText(exposure.schemaBytes)} of at most {bytesText(exposure.maxSchemaBytes)}
        </Fact>
        <Fact name="Tools">
          {countText(exposure.exposed.length)} of at most {countText(exposure.maxTools)}
        </Fact>
        {before === undefined ? null : (
          <Fact name={`Since turn ${before.turn}`}>
            {diff.added.length + diff.removed.length === 0 ? "nothing changed" : null}
            {diff.added.map((name) => (
              <code key={name} className="mr-2 text-success">
                + <VisibleText text={name} line />
              </code>
            ))}
            {diff.removed.map((name) => (
              <code key={name} className="mr-2 text-danger">
                − <VisibleText text={name} line />
              </code>
            ))}
          </Fact>
        )}
        <Fact name="Pinned">
          <Names names={exposure.pins} />
        </Fact>
        <Fact name="Discovery tools">
          <Names names={exposure.discoveryTools} />
        </Fact>
        <Fact name={`Hidden by visibility (${countText(exposure.hiddenByVisibilityCount)})`}>
          <Names names={exposure.hiddenByVisibility} />
        </Fact>
        <Fact name={`Not selected (${countText(exposure.notSelectedCount)})`}>
          <Names names={exposure.notSelected} />
        </Fact>
      </Facts>
      {exposure.warnings.map((warning) => (
        <p key={warning} className="mt-2 text-attention">
          <VisibleText text={warning} />
        </p>
      ))}
      <ul
        aria-label="Tools shown"
        className="mt-3 grid grid-cols-[repeat(auto-fill,minmax(220px,1fr))] gap-x-4 text-table"
      >
        {exposure.exposed.map((name) => (
          <li key={name} className="truncate border-b border-line py-1">
            <code>
              <VisibleText text={name} line />
            </code>
            {exposure.pins.includes(name) ? <span className="ml-2 text-soft">pinned</span> : null}
          </li>
        ))}
      </ul>
    </Section>
  );
}

const Names = ({ names }: { names: ReadonlyArray<string> }) =>
  names.length === 0 ? (
    <span className="text-soft">none</span>
  ) : (
    <code className="break-words">
      <VisibleText text={names.join(", ")} line />
    </code>
  );

/** Type any tool name: offered, or why not. */
function Explainer({ runId, turn }: { runId: string; turn: number }) {
  const { api } = useConsole();
  const [typed, setTyped] = useState("");
  const [asked, setAsked] = useState("");
  const at = useMomentAddress();
  const answer = useQuery({
    queryKey: keys.explanation(runId, turn, asked, at),
    queryFn: ({ signal }) => api.explainExposure(runId, turn, asked, at, signal),
    enabled: asked !== "",
  });
  return (
    <Section title="Why was a tool there, or not?">
      <form
        className="flex items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          setAsked(typed.trim());
        }}
      >
        <div className="w-72">
          <Field label="Tool name">
            {(ids) => (
              <Input
                {...ids}
                value={typed}
                maxLength={200}
                spellCheck={false}
                className="mono"
                onChange={(event) => setTyped(event.target.value)}
              />
            )}
          </Field>
        </div>
        <Button type="submit" disabled={typed.trim() === ""}>
          Explain
        </Button>
      </form>
      {answer.error === null ? null : (
        <ErrorPanel error={answer.error} onRetry={() => void answer.refetch()} />
      )}
      {answer.data === undefined ? null : (
        <output className="mt-2 block" data-verdict={answer.data.verdict}>
          <code>
            <VisibleText text={answer.data.toolName} line />
          </code>{" "}
          in turn {answer.data.turn}: <strong>{verdictText[answer.data.verdict]}</strong>.{" "}
          <VisibleText text={answer.data.explanation} />
        </output>
      )}
    </Section>
  );
}

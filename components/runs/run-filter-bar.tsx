"use client";
import { useQuery } from "@tanstack/react-query";
import { X } from "lucide-react";
import { type RefObject, useEffect, useState } from "react";
import { useConsole } from "#components/shell/console-context.tsx";
import type { useUrlState } from "#components/shell/use-url-state.ts";
import { runStateLook, runStates } from "#components/status/run-state.ts";
import { Button } from "#components/ui/button.tsx";
import { Input, Select } from "#components/ui/field.tsx";
import { VisibleText } from "#components/ui/visible-text.tsx";
import { keys } from "#lib/client/query-keys.ts";
import { activeFilters, filterNames, withChosen } from "./run-filters.ts";

type Url = ReturnType<typeof useUrlState>;

const foldedFilters = ["agentId", "tool", "failureTag", "from", "to"] as const;

/** Filters of the run list; each stands in the address. */
export function RunFilterBar({
  url,
  textRef,
}: {
  url: Url;
  textRef: RefObject<HTMLInputElement | null>;
}) {
  const { api } = useConsole();
  const agents = useQuery({ queryKey: keys.agents, queryFn: ({ signal }) => api.agents(signal) });
  const [more, setMore] = useState(false);
  const chosen = url.all("state");
  // A phone folds these away: that some of them filter is told all the same.
  const folded = foldedFilters.filter((name) => url.get(name) !== undefined).length;
  const toolNames = [
    ...new Set(agents.data?.items.flatMap((agent) => agent.tools.map((tool) => tool.name))),
  ];
  const toggle = (state: string): void =>
    url.set({
      state: chosen.includes(state) ? chosen.filter((one) => one !== state) : [...chosen, state],
    });
  const clear = (): void =>
    url.set({
      state: undefined,
      ...Object.fromEntries(filterNames.map((name) => [name, undefined])),
    });
  return (
    <>
      <fieldset
        aria-label="State"
        className="flex gap-1 max-md:w-full max-md:overflow-x-auto md:flex-wrap"
      >
        {runStates.map((state) => {
          const look = runStateLook[state];
          return (
            <button
              key={state}
              type="button"
              aria-pressed={chosen.includes(state)}
              onClick={() => toggle(state)}
              className="inline-flex h-7 shrink-0 items-center gap-1 rounded-sm border border-line px-2 text-soft hover:bg-raised aria-pressed:border-active aria-pressed:bg-chosen aria-pressed:text-ink"
            >
              <look.icon aria-hidden size={13} />
              {look.word}
            </button>
          );
        })}
      </fieldset>
      <TypedFilter
        url={url}
        name="text"
        label="Id or words of the title"
        inputRef={textRef}
        width="!w-48"
      />
      <Button
        kind="quiet"
        className="!h-7 md:hidden"
        aria-expanded={more}
        onClick={() => setMore(!more)}
      >
        More filters{folded === 0 ? "" : ` (${folded})`}
      </Button>
      <div className={`flex-wrap items-center gap-2 md:flex ${more ? "flex" : "hidden"}`}>
        <Select
          aria-label="Agent"
          value={url.get("agentId") ?? ""}
          onChange={(event) => url.set({ agentId: event.target.value })}
          className="!h-7 !w-auto"
        >
          <option value="">any agent</option>
          {withChosen(
            agents.data?.items.map(({ agentId }) => agentId) ?? [],
            url.get("agentId"),
          ).map((agentId) => (
            <option key={agentId} value={agentId}>
              {agentId}
            </option>
          ))}
        </Select>
        <Select
          aria-label="Tool"
          value={url.get("tool") ?? ""}
          onChange={(event) => url.set({ tool: event.target.value })}
          className="!h-7 !w-auto max-w-48"
        >
          <option value="">any tool</option>
          {withChosen(toolNames.toSorted(), url.get("tool")).map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </Select>
        <TypedFilter url={url} name="failureTag" label="Failure tag" width="!w-36" />
        <label className="flex items-center gap-1 text-soft" htmlFor="runs-from">
          from
          <Input
            id="runs-from"
            type="datetime-local"
            value={url.get("from") ?? ""}
            onChange={(event) => url.set({ from: event.target.value })}
            className="!h-7 !w-auto"
          />
        </label>
        <label className="flex items-center gap-1 text-soft" htmlFor="runs-to">
          to
          <Input
            id="runs-to"
            type="datetime-local"
            value={url.get("to") ?? ""}
            onChange={(event) => url.set({ to: event.target.value })}
            className="!h-7 !w-auto"
          />
        </label>
      </div>
      <LinkedFilter url={url} name="threadId" words="only of thread" />
      <LinkedFilter url={url} name="outcome" words="only with the outcome" />
      {activeFilters(url) > 0 || chosen.length > 0 ? (
        <Button kind="quiet" className="!h-7" onClick={clear}>
          Clear
        </Button>
      ) : null}
    </>
  );
}

/** A filter that comes by a link alone: it is told, and can be taken away by itself. */
function LinkedFilter({
  url,
  name,
  words,
}: {
  url: Url;
  name: "threadId" | "outcome";
  words: string;
}) {
  const value = url.get(name);
  if (value === undefined) return null;
  return (
    <span className="flex min-w-0 items-center gap-1 text-soft">
      {words}{" "}
      <code className="min-w-0 truncate text-ink">
        <VisibleText text={value} line />
      </code>
      <Button
        kind="quiet"
        className="!h-7 px-1.5"
        aria-label={`Not ${words}`}
        onClick={() => url.set({ [name]: undefined })}
      >
        <X aria-hidden size={14} />
      </Button>
    </span>
  );
}

const settleMillis = 300;

/** A text filter that waits until typing has settled before it asks. */
function TypedFilter({
  url,
  name,
  label,
  width,
  inputRef,
}: {
  url: Url;
  name: "text" | "failureTag";
  label: string;
  width: string;
  inputRef?: RefObject<HTMLInputElement | null>;
}) {
  const stored = url.get(name) ?? "";
  const [typed, setTyped] = useState(stored);
  const [seen, setSeen] = useState(stored);
  // Back, Clear and links change the address from outside: the field follows.
  if (seen !== stored) {
    setSeen(stored);
    if (typed.trim() !== stored) setTyped(stored);
  }
  useEffect(() => {
    if (typed === stored) return;
    const timer = setTimeout(() => url.set({ [name]: typed.trim() }), settleMillis);
    return () => clearTimeout(timer);
  }, [typed, stored, name, url]);
  return (
    <Input
      ref={inputRef}
      type="search"
      aria-label={label}
      placeholder={label}
      value={typed}
      maxLength={200}
      onChange={(event) => setTyped(event.target.value)}
      className={`!h-7 ${width}`}
    />
  );
}

"use client";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useMemo, useState } from "react";
import { Empty } from "#components/feedback/empty.tsx";
import { ErrorPanel } from "#components/feedback/error-panel.tsx";
import { QueryStates } from "#components/feedback/query-states.tsx";
import { SkeletonRows } from "#components/feedback/skeleton.tsx";
import { useConsole } from "#components/shell/console-context.tsx";
import { isAtLeast, useMe } from "#components/shell/me.ts";
import { useUrlState } from "#components/shell/use-url-state.ts";
import { Button } from "#components/ui/button.tsx";
import { countOf } from "#components/ui/durations.ts";
import { Field, Select, TextArea } from "#components/ui/field.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { VisibleText } from "#components/ui/visible-text.tsx";
import { keys } from "#lib/client/query-keys.ts";
import type { AgentView } from "#lib/contract/agent-views.ts";
import { inputKind, inputOfText, type InputProblem, startingText } from "./agent-input.ts";

/** Gives an agent a request and goes to its live run. */
export function NewRunPage() {
  const { api } = useConsole();
  const url = useUrlState();
  const agents = useQuery({ queryKey: keys.agents, queryFn: ({ signal }) => api.agents(signal) });
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <PageHeader title="New run" />
      <div className="min-h-0 flex-1 overflow-auto bg-panel">
        <QueryStates query={agents} loading={<SkeletonRows rows={8} label="agents" />}>
          {({ items }) => {
            const agent = items.find((one) => one.agentId === url.get("agent")) ?? items[0];
            return agent === undefined ? (
              <Empty kind="nothing-yet" title="No agent is registered">
                Agents are registered where the server is started.
              </Empty>
            ) : (
              <Form
                key={agent.agentId}
                agent={agent}
                agents={items}
                onAgent={(agentId) => url.set({ agent: agentId })}
              />
            );
          }}
        </QueryStates>
      </div>
    </div>
  );
}

function Form({
  agent,
  agents,
  onAgent,
}: {
  agent: AgentView;
  agents: ReadonlyArray<AgentView>;
  onAgent: (agentId: string) => void;
}) {
  const { api } = useConsole();
  const me = useMe();
  const router = useRouter();
  const kind = useMemo(() => inputKind(agent.inputSchema), [agent.inputSchema]);
  const [text, setText] = useState(() => startingText(kind));
  const [problem, setProblem] = useState<InputProblem>();
  // Made once per form: pressing twice, or again after a broken answer, starts one run (DU-11).
  const [key, setKey] = useState(() => `console-${api.newCommandId()}`);
  const start = useMutation({
    mutationFn: (input: Parameters<typeof api.submit>[0]["input"]) =>
      api.submit({ agentId: agent.agentId, input }, key),
    onSuccess: (receipt) => router.push(`/runs/${encodeURIComponent(receipt.runId)}`),
  });
  const change = (next: string): void => {
    setText(next);
    setProblem(undefined);
    // Another content is another submission.
    if (!start.isPending) setKey(`console-${api.newCommandId()}`);
  };
  const submit = (): void => {
    if (start.isPending || start.isSuccess) return;
    const read = inputOfText(kind, text);
    if ("problem" in read) setProblem(read);
    else start.mutate(read.input);
  };
  const may = isAtLeast(me, "operator");
  return (
    <div className="grid gap-6 p-4 lg:grid-cols-[minmax(0,1fr)_minmax(0,1fr)]">
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <Field
          label="Agent"
          hint={`${countOf(agent.toolCount, "tool")}; ${agent.policyInstalled ? "an authorization policy is installed" : "no authorization policy is installed"}`}
        >
          {(ids) => (
            <Select
              {...ids}
              value={agent.agentId}
              onChange={(event) => onAgent(event.target.value)}
            >
              {agents.map((one) => (
                <option key={one.agentId} value={one.agentId}>
                  {one.agentId}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <Field
          label={kind.kind === "json" ? "Input as JSON" : "Request"}
          hint={
            kind.kind === "json"
              ? "Numbers and keys go as written."
              : "Plain words, as a customer or a colleague would write them."
          }
          problem={problem?.problem}
        >
          {(ids) => (
            <TextArea
              {...ids}
              value={text}
              rows={kind.kind === "json" ? 10 : 5}
              spellCheck={kind.kind !== "json"}
              className={kind.kind === "json" ? "mono text-table" : ""}
              onChange={(event) => change(event.target.value)}
            />
          )}
        </Field>
        {start.isError ? <ErrorPanel error={start.error} small /> : null}
        <div className="flex items-center gap-3">
          <Button
            kind="primary"
            type="submit"
            disabled={!may || start.isPending || start.isSuccess || text.trim() === ""}
          >
            {start.isPending ? "Accepting…" : "Start the run"}
          </Button>
          <span className="text-soft">
            {may
              ? "The run starts when the submission is stored; calls that need a person wait for one."
              : `Starting runs needs the role operator; yours is ${me.role}.`}
          </span>
        </div>
      </form>
      {agent.examples.length === 0 ? null : (
        <section aria-label="Ready-made requests">
          <h2 className="mb-1 font-semibold">Ready-made requests</h2>
          <ul className="rounded-sm border border-line">
            {agent.examples.map((example) => (
              <li key={example.id} className="border-b border-line last:border-0">
                <button
                  type="button"
                  className="block w-full px-3 py-2 text-left hover:bg-raised"
                  onClick={() => change(startingText(kind, example.input))}
                >
                  <span className="font-medium">
                    <VisibleText text={example.title} line />
                  </span>
                  <span className="block text-table text-soft">
                    <VisibleText text={example.shows} line />
                  </span>
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

"use client";
import { useQuery } from "@tanstack/react-query";
import { ShieldAlert, ShieldCheck } from "lucide-react";
import Link from "next/link";
import { useState } from "react";
import { Empty } from "#components/feedback/empty.tsx";
import { QueryStates } from "#components/feedback/query-states.tsx";
import { SkeletonRows } from "#components/feedback/skeleton.tsx";
import { JsonValue } from "#components/json/json-value.tsx";
import { LongText } from "#components/json/long-text.tsx";
import { useConsole } from "#components/shell/console-context.tsx";
import { useUrlState } from "#components/shell/use-url-state.ts";
import { RiskBadge } from "#components/status/status-badge.tsx";
import { buttonClass } from "#components/ui/button.tsx";
import { CopyButton } from "#components/ui/copy-button.tsx";
import { bytesText, countOf, countText, durationText } from "#components/ui/durations.ts";
import { Fact, Facts, Section } from "#components/ui/facts.tsx";
import { Input, Select } from "#components/ui/field.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { VisibleText } from "#components/ui/visible-text.tsx";
import { keys } from "#lib/client/query-keys.ts";
import type { AgentToolView, AgentView } from "#lib/contract/agent-views.ts";

/** Agents with their tools: schema, failure mode, class, approval, namespace, pin; and whether a policy is there. */
export function AgentsPage() {
  const { api } = useConsole();
  const url = useUrlState();
  const agents = useQuery({ queryKey: keys.agents, queryFn: ({ signal }) => api.agents(signal) });
  const asked = url.get("agent");
  const items = agents.data?.items ?? [];
  const found = items.find((one) => one.agentId === asked);
  const agent = found ?? items[0];
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <PageHeader
        title="Agents"
        aside={
          agent === undefined ? null : (
            <>
              <Select
                aria-label="Agent"
                value={agent.agentId}
                onChange={(event) => url.set({ agent: event.target.value, tool: undefined })}
                className="!w-auto"
              >
                {items.map((one) => (
                  <option key={one.agentId} value={one.agentId}>
                    {one.agentId}
                  </option>
                ))}
              </Select>
              <Link
                href={`/runs/new?agent=${encodeURIComponent(agent.agentId)}`}
                className={`${buttonClass()} ml-auto`}
              >
                New run
              </Link>
            </>
          )
        }
      />
      <QueryStates query={agents} loading={<SkeletonRows rows={12} label="agents" />}>
        {() =>
          agent === undefined ? (
            <Empty kind="nothing-yet" title="No agent is registered">
              Agents are registered where the server is started.
            </Empty>
          ) : (
            <div className="min-h-0 flex-1 overflow-auto bg-panel">
              {asked === undefined || found !== undefined ? null : (
                <p role="note" className="border-b border-line px-4 py-2 text-attention">
                  No agent{" "}
                  <code className="break-all">
                    <VisibleText text={asked} line />
                  </code>{" "}
                  is registered here now; its runs are kept. Below is {agent.agentId}.
                </p>
              )}
              <About agent={agent} />
              <Tools key={agent.agentId} agent={agent} />
            </div>
          )
        }
      </QueryStates>
    </div>
  );
}

function About({ agent }: { agent: AgentView }) {
  return (
    <section aria-label="About the agent" className="px-4 py-3">
      <Facts>
        <Fact name="Authorization">
          {agent.policyInstalled ? (
            <span className="inline-flex items-center gap-1">
              <ShieldCheck aria-hidden size={14} className="text-success" /> a policy is installed
            </span>
          ) : (
            <span className="inline-flex items-center gap-1 text-attention">
              <ShieldAlert aria-hidden size={14} /> no policy is installed: every approved or
              ungated call may run
            </span>
          )}
        </Fact>
        <Fact name="Visibility">
          {agent.visibilityInstalled ? "a visibility service filters tools" : "no filter"}
        </Fact>
        <Fact name="Exposure">
          {agent.exposure === null
            ? "every eligible tool is shown"
            : `starts with ${countOf(agent.exposure.initialToolNames.length, "tool")}, at most ${countText(agent.exposure.maxTools)} tools and ${bytesText(agent.exposure.maxSchemaBytes)} of schemas`}
        </Fact>
        <Fact name="One run may use">
          {countOf(agent.budgets.maxTurns, "turn")}, {countOf(agent.budgets.maxToolCalls, "call")},{" "}
          {durationText(agent.budgets.maxDurationMillis)} of work,{" "}
          {countText(agent.budgets.toolConcurrency)} calls at once
        </Fact>
        <Fact name="Definition">
          <code className="break-all">{agent.definitionDigest}</code>
          <CopyButton text={agent.definitionDigest} what="the digest" />
        </Fact>
        <Fact name="Instructions">
          <LongText text={agent.instructions} />
        </Fact>
      </Facts>
    </section>
  );
}

const approvalText = {
  never: "no approval",
  always: "always approved by a person",
  "by-rule": "approval by rule",
} as const;

function Tools({ agent }: { agent: AgentView }) {
  const [filter, setFilter] = useState("");
  const wanted = filter.trim().toLowerCase();
  const tools = agent.tools.filter((tool) =>
    `${tool.name} ${tool.namespace ?? ""} ${tool.description ?? ""}`.toLowerCase().includes(wanted),
  );
  return (
    <Section
      title={countOf(agent.toolCount, "tool")}
      aside={
        <Input
          aria-label="Filter tools"
          placeholder="Filter by name, namespace or words"
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
          className="!h-7 !w-64"
        />
      }
    >
      {tools.length === 0 ? (
        <p className="text-soft">No tool matches.</p>
      ) : (
        <ul aria-label="Tools" className="rounded-sm border border-line">
          {tools.map((tool) => (
            <Tool key={tool.name} tool={tool} />
          ))}
        </ul>
      )}
    </Section>
  );
}

function Tool({ tool }: { tool: AgentToolView }) {
  const [open, setOpen] = useState(false);
  return (
    <li className="border-b border-line last:border-0">
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="flex w-full flex-wrap items-center gap-x-4 gap-y-0.5 px-3 py-1.5 text-left hover:bg-raised xl:grid xl:grid-cols-[260px_90px_80px_180px_190px_minmax(0,1fr)]"
      >
        <code className="max-w-full truncate font-semibold max-xl:w-64">
          <VisibleText text={tool.name} line />
        </code>
        <span className="text-table text-soft">{tool.namespace ?? "no namespace"}</span>
        <span className="text-table text-soft">{tool.executionClass}</span>
        <span className="text-table text-soft">
          failure {tool.failureMode === "return" ? "returns to the model" : "ends the batch"}
        </span>
        <span
          className={`text-table ${tool.approval === "never" ? "text-soft" : "text-attention"}`}
        >
          {approvalText[tool.approval]}
        </span>
        <span className="flex flex-wrap gap-x-4 text-table text-soft">
          {tool.risk === null ? null : <RiskBadge risk={tool.risk} />}
          {tool.pinned ? <span>pinned</span> : null}
          {tool.discovery ? <span>discovery</span> : null}
          {tool.programmaticTools === undefined ? null : <span>calls other tools</span>}
        </span>
      </button>
      {open ? (
        <div className="flex flex-col gap-2 border-t border-line p-3">
          <p>
            {tool.description === null ? (
              <span className="text-soft">No description.</span>
            ) : (
              <VisibleText text={tool.description} />
            )}
          </p>
          {tool.programmaticTools === undefined ? null : (
            <p>
              Its program may call{" "}
              <code>
                <VisibleText text={tool.programmaticTools.toolNames.join(", ")} line />
              </code>
              , {countOf(tool.programmaticTools.maxCalls, "call")} at most each time.
            </p>
          )}
          <JsonValue value={tool.parametersSchema} label="parameters schema" />
          <JsonValue value={tool.successSchema} label="result schema" maxHeight={260} />
          {tool.failureSchema === null ? (
            <p className="text-soft">The tool declares no failure.</p>
          ) : (
            <JsonValue value={tool.failureSchema} label="failure schema" maxHeight={260} />
          )}
          <p className="text-table text-soft">
            contract digest <code className="break-all">{tool.toolDigest}</code>
            {tool.requiresHandler ? "" : ", executed by the model's provider"}
          </p>
        </div>
      ) : null}
    </li>
  );
}

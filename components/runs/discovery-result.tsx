"use client";
import { useQuery } from "@tanstack/react-query";
import { useConsole } from "#components/shell/console-context.tsx";
import { bytesText, countOf } from "#components/ui/durations.ts";
import { Fact, Facts } from "#components/ui/facts.tsx";
import { VisibleText } from "#components/ui/visible-text.tsx";
import { type DiscoveryMatch, readDiscovery } from "#lib/client/discovery-result.ts";
import { keys } from "#lib/client/query-keys.ts";
import type { ToolCallView } from "#lib/contract/run-views.ts";

/** What a discovery call asked, found and activated, against its bounds (OP-03). */
export function DiscoveryResult({ call, agentId }: { call: ToolCallView; agentId: string }) {
  const { api } = useConsole();
  const agents = useQuery({ queryKey: keys.agents, queryFn: ({ signal }) => api.agents(signal) });
  const reading = readDiscovery(call);
  if (reading === undefined) return null;
  const bounds = agents.data?.items
    .find((agent) => agent.agentId === agentId)
    ?.tools.find((tool) => tool.name === call.toolName)?.discoveryBounds;
  return (
    <section aria-label="Discovery">
      <Facts>
        <Fact name="Searched for">
          <VisibleText text={reading.query} line />
          {reading.namespace === undefined ? null : (
            <>
              {" "}
              in namespace <VisibleText text={reading.namespace} line />
            </>
          )}
        </Fact>
        <Fact name="Found">
          {reading.matches === undefined ? (
            <span className="text-soft">cut for the model; the selection below is whole</span>
          ) : reading.matches.length === 0 ? (
            <span className="text-soft">nothing</span>
          ) : (
            <Matches matches={reading.matches} />
          )}
        </Fact>
        <Fact name="Callable next turn">
          {reading.activated.length === 0 ? (
            <span className="text-soft">nothing; the selection is cleared to the pinned tools</span>
          ) : (
            <code className="break-words">
              <VisibleText text={reading.activated.join(", ")} line />
            </code>
          )}
        </Fact>
        <Fact name="Size">
          {bytesText(reading.bytes)}
          {bounds === undefined || bounds === null
            ? ""
            : ` of at most ${bytesText(bounds.maxResultBytes)}; at most ${countOf(bounds.maxResults, "match", "matches")}`}
        </Fact>
        {reading.notice === undefined ? null : (
          <Fact name="Notice">
            <span className="text-attention">
              <VisibleText text={reading.notice} line />
            </span>
          </Fact>
        )}
      </Facts>
    </section>
  );
}

const Matches = ({ matches }: { matches: ReadonlyArray<DiscoveryMatch> }) => (
  <ul>
    {matches.map((match) => (
      <li key={match.name}>
        <code>
          <VisibleText text={match.name} line />
        </code>
        {match.description === undefined ? null : (
          <span className="text-soft">
            {" "}
            <VisibleText text={match.description} line />
          </span>
        )}
      </li>
    ))}
  </ul>
);

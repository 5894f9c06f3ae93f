"use client";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { type EditedJson, JsonEditor } from "#components/json/json-editor.tsx";
import { ExactChanges } from "#components/json/exact-changes.tsx";
import { useConsole } from "#components/shell/console-context.tsx";
import { type ExactJson, parseExactJson } from "#lib/client/exact-json.ts";
import { keys } from "#lib/client/query-keys.ts";
import type { ApprovalDetail } from "#lib/contract/approval-views.ts";

/**
 * Other arguments for the same tool, as words to the model. What was asked for is denied either way; it says
 * so, because "edit and approve" is what other consoles mean by such a box.
 */
export default function SuggestionEditor({
  detail,
  declared,
  edited,
  onEdit,
  refused,
}: {
  detail: ApprovalDetail;
  declared: ExactJson;
  edited: EditedJson;
  onEdit: (edited: EditedJson) => void;
  refused: string | undefined;
}) {
  const { api } = useConsole();
  const agents = useQuery({ queryKey: keys.agents, queryFn: ({ signal }) => api.agents(signal) });
  const tool = agents.data?.items
    .find(({ agentId }) => agentId === detail.agentId)
    ?.tools.find(({ name }) => name === detail.toolName);
  const suggested = useMemo(
    () => (edited.isReadable ? parseExactJson(edited.text) : undefined),
    [edited],
  );
  return (
    <div className="flex flex-col gap-2">
      <p className="font-medium">
        The call is denied and never runs with these. The model is told of them with your reason and
        may ask again; that is a new request, decided anew.
      </p>
      <JsonEditor
        label="Suggested arguments"
        edited={edited}
        onEdit={onEdit}
        schema={tool?.parametersSchema ?? {}}
        refused={refused}
      />
      {suggested === undefined ? null : <ExactChanges before={declared} after={suggested} />}
    </div>
  );
}

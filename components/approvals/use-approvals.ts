"use client";
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useConsole } from "#components/shell/console-context.tsx";
import { approvalCard } from "#lib/client/approval-card.ts";
import { isInDoubt } from "#lib/client/api-failure.ts";
import { keys } from "#lib/client/query-keys.ts";
import type { ApprovalBasis } from "#lib/contract/approval.ts";
import type { ApprovalState } from "#lib/contract/status.ts";

/** The queue in one state; pending ones nearest deadline first. */
export function useApprovals(state: ApprovalState) {
  const { api } = useConsole();
  return useInfiniteQuery({
    queryKey: keys.approvals({ state }),
    queryFn: ({ pageParam, signal }) =>
      api.approvals({ state, limit: 100, cursor: pageParam }, signal),
    initialPageParam: undefined as string | undefined, // the first page has no cursor
    getNextPageParam: (last) => last.next,
  });
}

/** One request with everything a person needs to decide it. */
export function useApprovalCard(requestId: string) {
  const { api } = useConsole();
  return useQuery({
    queryKey: keys.approval(requestId),
    queryFn: async ({ signal }) => approvalCard(await api.approval(requestId, signal)),
  });
}

/** What a press asks for. `commandId` was made with the press, so that its repeat acts once (C021, C023). */
export type ApprovalCommand =
  | {
      readonly kind: "decide";
      readonly commandId: string;
      readonly decision: "approved" | "denied";
      readonly parametersDigest: string;
      readonly reason: string;
      /** JSON text of other arguments, with a denial only. */
      readonly suggestion?: string;
      /** What the card showed around the arguments, with an approval. */
      readonly basis?: ApprovalBasis;
    }
  | {
      readonly kind: "extend";
      readonly commandId: string;
      readonly seconds: number;
      readonly reason: string;
    };

/**
 * Sends a command. Success means that the server has confirmed it; whatever else happens, the stored
 * truth is read again before the card offers anything (C039, C040).
 */
export function useApprovalCommand(requestId: string) {
  const { api } = useConsole();
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (command: ApprovalCommand) => {
      if (command.kind === "extend") {
        const { commandId, seconds, reason } = command;
        return approvalCard(await api.extendApproval(requestId, commandId, { seconds, reason }));
      }
      const { kind: _, commandId, ...answer } = command;
      // The digest is the one that the server itself sent with the card.
      const parametersDigest = command.parametersDigest as Parameters<
        typeof api.decideApproval
      >[2]["parametersDigest"];
      return approvalCard(
        await api.decideApproval(requestId, commandId, { ...answer, parametersDigest }),
      );
    },
    onSuccess: (card) => client.setQueryData(keys.approval(requestId), card),
    onError: async (error) => {
      await client.invalidateQueries({ queryKey: keys.approval(requestId) });
      if (!isInDoubt(error)) await client.invalidateQueries({ queryKey: ["approvals"] });
    },
  });
}

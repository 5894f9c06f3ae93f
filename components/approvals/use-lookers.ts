"use client";
import { useEffect, useState } from "react";
import { useConsole } from "#components/shell/console-context.tsx";
import { isAtLeast, useMe } from "#components/shell/me.ts";
import { useNow } from "#components/shell/use-now.ts";
import type { ApprovalDetail, ApprovalLooker } from "#lib/contract/approval-views.ts";

/** Passing by with `j` is no look. */
const firstAfterMillis = 1_200;
/** The server believes a look for 45 s. */
const againEveryMillis = 20_000;

/**
 * Tells others that this operator reads a pending request, while the page is in view, and answers who else
 * does. A courtesy: nothing waits for it, and a failure of it is nobody's concern.
 */
export function useLookers(detail: ApprovalDetail): ReadonlyArray<ApprovalLooker> {
  const { api } = useConsole();
  const me = useMe();
  const now = useNow();
  const [heard, setHeard] = useState<ReadonlyArray<ApprovalLooker>>([]);
  const { requestId } = detail;
  const looks = detail.state === "pending" && isAtLeast(me, "decider");

  useEffect(() => {
    if (!looks) return;
    const ended = new AbortController();
    let told = false;
    const tell = (): void => {
      if (document.visibilityState !== "visible") return;
      told = true;
      api.lookAtApproval(requestId, true, ended.signal).then(setHeard, () => {});
    };
    const first = setTimeout(tell, firstAfterMillis);
    const again = setInterval(tell, againEveryMillis);
    return () => {
      clearTimeout(first);
      clearInterval(again);
      ended.abort();
      if (told) api.lookAtApproval(requestId, false).catch(() => {});
    };
  }, [api, requestId, looks]);

  if (!looks) return [];
  const newest = new Map<string, ApprovalLooker>();
  for (const one of [...detail.lookers, ...heard]) {
    const known = newest.get(one.operatorId);
    if (one.until > now && (known === undefined || known.until < one.until))
      newest.set(one.operatorId, one);
  }
  return [...newest.values()];
}

"use client";
import type { ReactNode } from "react";
import { ApiFailure } from "#lib/client/api-failure.ts";
import { Archived, archivedReason } from "./archived.tsx";
import { Empty } from "./empty.tsx";
import { ErrorPanel } from "./error-panel.tsx";
import { Retrying } from "./retrying.tsx";
import { StaleNote } from "./stale.tsx";

/** The part of a query's result that decides what a page shows. */
export interface QueryShape<Data> {
  readonly data: Data | undefined;
  readonly error: Error | null;
  /** Why the last try failed, also while another one is made. */
  readonly failureReason: Error | null;
  readonly refetch: () => unknown;
}

/** Loading, failed, not allowed, or the content, with a note over it when it is old. */
export function QueryStates<Data>({
  query,
  loading,
  runId,
  children,
}: {
  query: QueryShape<Data>;
  loading: ReactNode;
  /** The run that is asked for, so that one that was put away is named. */
  runId?: string;
  children: (data: Data) => ReactNode;
}) {
  const { data, error, failureReason, refetch } = query;
  const again = () => void refetch();
  if (data === undefined) {
    if (error === null)
      return (
        <>
          <Retrying failure={failureReason} />
          {loading}
        </>
      );
    if (error instanceof ApiFailure && error.reason._tag === "Forbidden") {
      return (
        <Empty kind="no-permission" title="Your role does not show this">
          {error.reason.message} It needs the role {error.reason.needs}.
        </Empty>
      );
    }
    const archived = archivedReason(error);
    if (archived !== undefined) return <Archived reason={archived} runId={runId} />;
    return <ErrorPanel error={error} onRetry={again} />;
  }
  return (
    <>
      {error === null ? null : <StaleNote error={error} onRetry={again} />}
      {children(data)}
    </>
  );
}

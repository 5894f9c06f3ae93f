/** What every route below one run does, so that each answers for a run that was put away as the run itself does. */
import * as Effect from "effect/Effect";
import { CurrentOperator } from "#lib/contract/http/authentication.ts";
import type { RunId } from "#lib/contract/ids.ts";
import { orArchived, orArchivedItem } from "#server/views/archived-run.ts";

/** Where the run or something of it was not found, looks whether an archive has it: `RunArchived` then. */
export const ofRun =
  (runId: RunId) =>
  <A, E, R>(answer: Effect.Effect<A, E, R>) =>
    Effect.flatMap(CurrentOperator, ({ tenantId }) => answer.pipe(orArchived(tenantId, runId)));

/** The same for a request, doubt, denial or diagnostic that is asked for by an id of its own. */
export const ofItem =
  (itemId: string) =>
  <A, E, R>(answer: Effect.Effect<A, E, R>) =>
    Effect.flatMap(CurrentOperator, ({ tenantId }) =>
      answer.pipe(orArchivedItem(tenantId, itemId)),
    );

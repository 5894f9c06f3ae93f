import { assert, describe, it } from "@effect/vitest";
import * as fc from "fast-check";
import { applyToRunRow } from "#lib/client/apply-list-event.ts";
import { type ListPage, patchPages } from "#lib/client/patch-rows.ts";
import type { RunListItem } from "#lib/contract/run-views.ts";
import { answerAt, eventLog } from "./event-log.ts";

const about = {
  ofRow: (row: RunListItem) => row.runId,
  ofEvent: ({ runId }: { readonly runId: string }) => runId,
};

describe("a list under events", () => {
  it("[OP-01][C064] a row becomes what its own newer events make of it, whatever else happens beside it", () => {
    fc.assert(
      fc.property(eventLog, fc.nat(), (log, at) => {
        const asOf = at % (log.length + 1);
        const pages = ["run-1", "run-2"].map((runId): ListPage<RunListItem> => ({
          items: [answerAt(log, runId, asOf)],
          asOf,
        }));
        const plain = pages.map((page) => ({
          ...page,
          items: page.items.map((row: RunListItem) =>
            log.filter((event) => event.sequence > asOf).reduce(applyToRunRow, row),
          ),
        }));
        assert.deepStrictEqual(patchPages(pages, log, about, applyToRunRow) ?? pages, plain);
      }),
    );
  });

  it("[OP-01] events of no row, and events that a page has already, make no new list", () => {
    fc.assert(
      fc.property(eventLog, (log) => {
        const asOf = log.length;
        const pages = [{ items: [answerAt(log, "run-1", asOf)], asOf }];
        assert.isUndefined(patchPages(pages, log, about, applyToRunRow));
        const others = { ...about, ofEvent: () => undefined };
        assert.isUndefined(
          patchPages([{ ...pages[0], asOf: 0 }] as never, log, others, applyToRunRow),
        );
      }),
    );
  });
});

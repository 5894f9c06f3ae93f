/** The event stream applied to the query cache, and what the truth strip says about it. */
import type { InfiniteData, QueryClient } from "@tanstack/react-query";
import type { ApprovalCard } from "#lib/client/approval-card.ts";
import {
  applyToApprovalRow,
  applyToCounts,
  applyToRunRow,
  runStateAfter,
} from "#lib/client/apply-list-event.ts";
import { applyToRun } from "#lib/client/apply-run-event.ts";
import {
  type ConnectionState,
  readEvent,
  readHeartbeat,
  readReset,
  type StreamFrame,
} from "#lib/client/event-stream.ts";
import { type ListPage, patchPages } from "#lib/client/patch-rows.ts";
import { keys } from "#lib/client/query-keys.ts";
import type { RecentEvents } from "#lib/client/recent-events.ts";
import type { RunSnapshot } from "#lib/client/run-snapshot.ts";
import type { ServerClock } from "#lib/client/server-clock.ts";
import { touchedBy } from "#lib/client/touched-resources.ts";
import type { LoggedEvent } from "#lib/contract/events.ts";
import type { ApprovalListItem } from "#lib/contract/approval-views.ts";
import type { RunListItem } from "#lib/contract/run-views.ts";
import type { Counts } from "#lib/contract/shell-views.ts";
import { wordsFor } from "./announcements.ts";

/** What is known of the connection, as one value that changes at most four times a second. */
export interface LiveStatus {
  readonly connection: ConnectionState;
  readonly sequence: number;
  /** Milliseconds from the newest event's commit to its arrival here. */
  readonly lagMillis: number;
  /** The server's time when anything was last heard. */
  readonly heardAt: number;
  readonly paused: boolean;
  /** Events that wait behind the pause. */
  readonly held: number;
  /** Everything is being read again after a gap; nothing may be decided on what is shown. */
  readonly resyncing: boolean;
  /** What changed during the last gap, until the operator has read it. */
  readonly changedMeanwhile: string | null;
}

export const initialStatus: LiveStatus = {
  connection: { phase: "connecting" },
  sequence: 0,
  lagMillis: 0,
  heardAt: 0,
  paused: false,
  held: 0,
  resyncing: false,
  changedMeanwhile: null,
};

const flushMillis = 60;
const readAgainMillis = 350;
/** Under a storm of events the same list is read at most this often. */
const calmMillis = 1_200;
const mostHeld = 5_000;

type Pages<Item> = InfiniteData<ListPage<Item>>;

/** The query's new data, or undefined for a query that stays as it is and tells nobody. */
const patched = <Item>(
  data: Pages<Item> | undefined,
  patch: (pages: ReadonlyArray<ListPage<Item>>) => ReadonlyArray<ListPage<Item>> | undefined,
): Pages<Item> | undefined => {
  const pages = data === undefined ? undefined : patch(data.pages);
  return data === undefined || pages === undefined ? undefined : { ...data, pages: [...pages] };
};

const ofRun = {
  ofRow: (row: RunListItem) => row.runId,
  ofEvent: (event: LoggedEvent) =>
    runStateAfter(event.event) === undefined ? undefined : event.runId,
};
const ofApproval = {
  ofRow: (row: ApprovalListItem) => row.requestId,
  ofEvent: ({ event }: LoggedEvent) => ("requestId" in event ? event.requestId : undefined),
};

export class LiveStore {
  private status = initialStatus;
  private readonly listeners = new Set<() => void>();
  private waiting: Array<LoggedEvent> = [];
  private old = new Map<string, ReadonlyArray<string>>();
  private flushTimer: ReturnType<typeof setTimeout> | undefined;
  private readTimer: ReturnType<typeof setTimeout> | undefined;
  private lastRead = 0;
  private announce: (words: string) => void = () => {};
  private readonly eventListeners = new Set<(events: ReadonlyArray<LoggedEvent>) => void>();

  constructor(
    private readonly client: QueryClient,
    private readonly recent: RecentEvents,
    private readonly clock: ServerClock,
    private readonly localNow: () => number,
  ) {}

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
  readonly read = (): LiveStatus => this.status;
  readonly onAnnounce = (announce: (words: string) => void): void => {
    this.announce = announce;
  };

  /** Hears of events as they are applied, in order; never of what came before. */
  readonly onEvents = (listener: (events: ReadonlyArray<LoggedEvent>) => void): (() => void) => {
    this.eventListeners.add(listener);
    return () => this.eventListeners.delete(listener);
  };

  private set(change: Partial<LiveStatus>): void {
    this.status = { ...this.status, ...change };
    for (const listener of this.listeners) listener();
  }

  /** Everything up to `sequence` has been read. */
  start(sequence: number): void {
    this.recent.restart(sequence);
    this.set({ sequence, heardAt: this.clock.now() });
  }

  stop(): void {
    clearTimeout(this.flushTimer);
    clearTimeout(this.readTimer);
  }

  readonly take = (frame: StreamFrame): void => {
    switch (frame.kind) {
      case "connection": {
        const wasAway = this.status.connection.phase === "retrying";
        this.set({ connection: frame.state });
        // The stream resumes at the cursor by itself; what is read beside it may be old by now.
        if (wasAway && frame.state.phase === "live")
          this.readAgainSoon([["counts"], ["approvals"]]);
        return;
      }
      case "event": {
        const event = readEvent(frame.data);
        if (event === undefined) return void this.resync("An event could not be read.");
        this.waiting.push(event);
        if (this.status.paused) return this.hold();
        this.flushTimer ??= setTimeout(this.flush, flushMillis);
        return;
      }
      case "heartbeat": {
        const heartbeat = readHeartbeat(frame.data);
        if (heartbeat === undefined) return;
        this.set({ heardAt: this.clock.now() });
        const newest = this.waiting.at(-1)?.sequence ?? this.recent.cursor();
        if (heartbeat.last > newest && !this.status.paused) void this.resync("Events were missed.");
        return;
      }
      case "reset": {
        // Also when the log is shorter than the cursor (a restored database): its end is the truth.
        this.recent.restart(readReset(frame.data)?.last ?? 0);
        this.waiting = [];
        return void this.resync("The connection could not be continued where it broke off.");
      }
    }
  };

  private hold(): void {
    if (this.waiting.length > mostHeld) this.waiting = this.waiting.slice(-1);
    this.set({ held: this.waiting.length, heardAt: this.clock.now() });
  }

  readonly setPaused = (paused: boolean): void => {
    this.set({ paused, held: paused ? this.status.held : 0 });
    if (!paused) this.flush();
  };

  private readonly flush = (): void => {
    this.flushTimer = undefined;
    const events: Array<LoggedEvent> = [];
    let gap = false;
    for (const event of this.waiting.splice(0)) {
      const cursor = this.recent.cursor();
      if (event.sequence <= cursor) continue;
      if (event.sequence > cursor + 1) {
        gap = true;
        this.recent.restart(event.sequence - 1);
      }
      this.recent.keep(event);
      events.push(event);
    }
    const last = events.at(-1);
    if (last === undefined) return;
    this.apply(events);
    const now = this.clock.now();
    this.set({ sequence: last.sequence, lagMillis: Math.max(0, now - last.at), heardAt: now });
    if (gap) void this.resync("Events were missed.");
    else this.readAgainSoon(events.flatMap(touchedBy));
    for (const listener of this.eventListeners) listener(events);
    const words = wordsFor(events);
    if (words !== undefined) this.announce(words);
  };

  private apply(events: ReadonlyArray<LoggedEvent>): void {
    const { client } = this;
    client.setQueryData<Counts>(keys.counts, (counts) =>
      counts === undefined ? counts : events.reduce(applyToCounts, counts),
    );
    for (const { event } of events) {
      if (event._tag !== "ApprovalDecided" && event._tag !== "ApprovalExtended") continue;
      client.setQueryData<ApprovalCard>(keys.approval(event.requestId), (card) =>
        card === undefined
          ? card
          : { ...card, detail: events.reduce(applyToApprovalRow, card.detail) },
      );
    }
    for (const runId of new Set(events.map((event) => event.runId))) {
      client.setQueryData<RunSnapshot>(keys.run(runId), (run) =>
        run === undefined ? run : events.reduce(applyToRun, run),
      );
    }
    client.setQueriesData<Pages<RunListItem>>({ queryKey: ["runs"] }, (data) =>
      patched(data, (pages) => patchPages(pages, events, ofRun, applyToRunRow)),
    );
    client.setQueriesData<Pages<ApprovalListItem>>({ queryKey: ["approvals"] }, (data) =>
      patched(data, (pages) => patchPages(pages, events, ofApproval, applyToApprovalRow)),
    );
  }

  private readAgainSoon(touched: ReadonlyArray<ReadonlyArray<string>>): void {
    for (const key of touched) this.old.set(key.join("\u0000"), key);
    if (this.old.size === 0 || this.readTimer !== undefined) return;
    const since = this.localNow() - this.lastRead;
    this.readTimer = setTimeout(this.readAgain, Math.max(readAgainMillis, calmMillis - since));
  }

  private readonly readAgain = (): void => {
    this.readTimer = undefined;
    this.lastRead = this.localNow();
    const old = [...this.old.values()];
    this.old.clear();
    for (const queryKey of old) void this.client.invalidateQueries({ queryKey });
  };

  /** Reads everything again and says what became different meanwhile. */
  private async resync(why: string): Promise<void> {
    if (this.status.resyncing) return;
    const before = this.client.getQueryData<Counts>(keys.counts);
    const from = this.status.sequence;
    this.set({ resyncing: true });
    this.announce(`${why} Everything is being read again.`);
    await this.client.invalidateQueries();
    const after = this.client.getQueryData<Counts>(keys.counts);
    if (after !== undefined && after.asOf > this.recent.cursor()) this.recent.restart(after.asOf);
    this.set({
      resyncing: false,
      sequence: Math.max(this.recent.cursor(), after?.asOf ?? 0),
      changedMeanwhile: meanwhile(why, from, before, after),
    });
  }

  readonly readMeanwhile = (): void => this.set({ changedMeanwhile: null });
}

const meanwhile = (
  why: string,
  from: number,
  before: Counts | undefined,
  after: Counts | undefined,
): string => {
  if (before === undefined || after === undefined) return why;
  const moved = [
    ["pending approvals", before.pendingApprovals, after.pendingApprovals],
    ["effects in doubt", before.openUnknowns, after.openUnknowns],
    ["open denials", before.openDenials, after.openDenials],
    ["active runs", before.activeRuns, after.activeRuns],
  ] as const;
  const changes = moved
    .filter(([, was, is]) => was !== is)
    .map(([name, was, is]) => `${name} ${was} → ${is}`);
  const range =
    after.asOf > from ? ` Events ${from + 1} to ${after.asOf} were read as a whole.` : "";
  return `${why}${range} ${changes.length === 0 ? "The queues are as they were." : `Changed: ${changes.join(", ")}.`}`;
};

/**
 * The newest events of each tenant, read once for everybody who follows: 200 streams cost one read of
 * the log where they would cost 200. Events never change and have no gaps, so what was read stays true.
 */
import * as Effect from "effect/Effect";
import * as Semaphore from "effect/Semaphore";
import type { LoggedEvent } from "#lib/contract/events.ts";

/** An event with the length of its stored text, which is what the bound counts. */
export interface SizedEvent {
  readonly event: LoggedEvent;
  readonly characters: number;
}

/** Bounds of one tenant's tail, and of how many tenants have one. */
export interface TailLimits {
  readonly maxEvents: number;
  readonly maxCharacters: number;
  readonly maxTenants: number;
}
export const tailLimits: TailLimits = {
  maxEvents: 4_096,
  maxCharacters: 16 * 1024 * 1024,
  maxTenants: 64,
};
/** Events of one read that makes a tail longer. */
const eventsPerLoad = 1_000;

/** Reads events after a sequence, at most `limit`, in order. */
type Load<E, R> = (after: number, limit: number) => Effect.Effect<ReadonlyArray<SizedEvent>, E, R>;

class Tail {
  private kept: Array<SizedEvent> = [];
  private characters = 0;
  /** Loads that have begun. */
  loads = 0;
  readonly turn = Semaphore.makeUnsafe(1);

  /** @param base everything after this sequence and up to `through` is kept */
  constructor(
    private base: number,
    private readonly limits: TailLimits,
  ) {}

  get through(): number {
    return this.base + this.kept.length;
  }

  holdsAfter(sequence: number): boolean {
    return sequence >= this.base && sequence <= this.through;
  }

  after(sequence: number, limit: number): ReadonlyArray<LoggedEvent> {
    const from = sequence - this.base;
    return this.kept.slice(from, from + limit).map(({ event }) => event);
  }

  extend(events: ReadonlyArray<SizedEvent>): void {
    for (const one of events) {
      this.kept.push(one);
      this.characters += one.characters;
    }
    const { maxEvents, maxCharacters } = this.limits;
    if (this.kept.length <= maxEvents && this.characters <= maxCharacters) return;
    // A quarter at a time: moving what stays for each event would cost more than the memory saves.
    let drop = 0;
    while (this.kept.length - drop > maxEvents * 0.75 || this.characters > maxCharacters * 0.75) {
      this.characters -= this.kept[drop]?.characters ?? 0;
      drop += 1;
    }
    this.kept = this.kept.slice(drop);
    this.base += drop;
  }
}

export class LogTails {
  /** In the order in which they were last used. */
  private readonly tails = new Map<string, Tail>();

  constructor(private readonly limits: TailLimits = tailLimits) {}

  /** Events after `after`, at most `limit`: from memory where they are kept, else by `load`. */
  read<E, R>(
    tenantId: string,
    after: number,
    limit: number,
    load: Load<E, R>,
  ): Effect.Effect<ReadonlyArray<LoggedEvent>, E, R> {
    return Effect.suspend(() => {
      const tail = this.tails.get(tenantId);
      if (tail === undefined || !tail.holdsAfter(after))
        return this.readAside(tenantId, tail, after, limit, load);
      this.touch(tenantId, tail);
      return after < tail.through
        ? Effect.succeed(tail.after(after, limit))
        : this.extended(tail, after, limit, load);
    });
  }

  /** The log ends before what is kept: another database is behind the address now. */
  forgetBeyond(tenantId: string, last: number): void {
    const tail = this.tails.get(tenantId);
    if (tail !== undefined && tail.through > last) this.tails.delete(tenantId);
  }

  /** Whoever comes while a load is under way waits for it, or for the one that begins next. */
  private extended<E, R>(tail: Tail, after: number, limit: number, load: Load<E, R>) {
    const begun = tail.loads;
    return tail.turn.withPermit(
      Effect.suspend(() => {
        const isNews = tail.through > after || tail.loads > begun;
        if (isNews) return Effect.succeed(tail.holdsAfter(after) ? tail.after(after, limit) : []);
        tail.loads += 1;
        return Effect.map(load(tail.through, eventsPerLoad), (events) => {
          tail.extend(events);
          return tail.holdsAfter(after)
            ? tail.after(after, limit)
            : events.slice(0, limit).map(({ event }) => event);
        });
      }),
    );
  }

  /** A replay of older events; the tenant's tail begins where one reaches the end. */
  private readAside<E, R>(
    tenantId: string,
    tail: Tail | undefined,
    after: number,
    limit: number,
    load: Load<E, R>,
  ) {
    return Effect.map(load(after, limit), (events) => {
      // A tail that this reader is ahead of was left behind by all: it begins anew here.
      const isLeftBehind = tail !== undefined && after > tail.through;
      if (events.length < limit && (isLeftBehind || !this.tails.has(tenantId))) {
        const made = new Tail(after, this.limits);
        made.extend(events);
        this.touch(tenantId, made);
      }
      return events.map(({ event }) => event);
    });
  }

  private touch(tenantId: string, tail: Tail): void {
    this.tails.delete(tenantId);
    this.tails.set(tenantId, tail);
    const oldest = this.tails.keys().next().value;
    if (this.tails.size > this.limits.maxTenants && oldest !== undefined) this.tails.delete(oldest);
  }
}

/** Stands for the parts of a browser that the event stream uses. */
import type { EventConnection, StreamFrame } from "#lib/client/event-stream.ts";
import type { SharedBrowser } from "#lib/client/event-leader.ts";
import { makeServerClock } from "#lib/client/server-clock.ts";

/**
 * A browser in which time moves only when told.
 *
 * @param random what it gives for chance; always the middle unless told
 */
export const makeBrowser = (random: () => number = () => 0.5) => {
  let now = 0;
  let visible = true;
  const timers: Array<{ readonly at: number; readonly run: () => void; live: boolean }> = [];
  const opened: Array<{
    readonly url: string;
    readonly at: number;
    closed: boolean;
    readonly fire: (type: string, data?: string, id?: string) => void;
  }> = [];
  const frames: Array<StreamFrame> = [];
  const listeners = new Set<() => void>();
  return {
    opened,
    frames,
    surroundings: {
      now: () => now,
      random,
      clock: makeServerClock(() => now),
      after: (millis: number, run: () => void) => {
        const timer = { at: now + millis, run, live: true };
        timers.push(timer);
        return () => {
          timer.live = false;
        };
      },
      isVisible: () => visible,
      onSign: (run: () => void) => {
        listeners.add(run);
        return () => void listeners.delete(run);
      },
      open: (url: string): EventConnection => {
        const heard = new Map<string, (event: { data?: unknown; lastEventId?: string }) => void>();
        const connection = {
          url,
          at: now,
          closed: false,
          fire: (type: string, data?: string, id = "") =>
            heard.get(type)?.({ ...(data === undefined ? {} : { data }), lastEventId: id }),
        };
        opened.push(connection);
        return {
          addEventListener: (type, listener) => void heard.set(type, listener),
          close: () => {
            connection.closed = true;
          },
        };
      },
    },
    /** A sign that the server may be reached now. */
    giveSign: () => {
      for (const listener of listeners) listener();
    },
    hide: () => {
      visible = false;
    },
    pass: (millis: number) => {
      const until = now + millis;
      for (;;) {
        const due = timers
          .filter((timer) => timer.live && timer.at <= until)
          .toSorted((a, b) => a.at - b.at)[0];
        if (due === undefined) break;
        now = due.at;
        due.live = false;
        due.run();
      }
      now = until;
    },
  };
};

/** Locks and channels that the tabs of one browser share; a message arrives before the sender goes on. */
export const makeTabs = (): SharedBrowser => {
  const queues = new Map<string, Array<() => Promise<void>>>();
  const channels = new Set<{ readonly name: string; onmessage: BroadcastChannel["onmessage"] }>();
  const next = (name: string): void => {
    const [first] = queues.get(name) ?? [];
    void first?.().finally(() => {
      queues.get(name)?.shift();
      next(name);
    });
  };
  const locks = {
    request: (name: string, options: LockOptions, run: () => Promise<void> | undefined) =>
      new Promise<void>((resolve, reject) => {
        let granted = false;
        const take = async (): Promise<void> => {
          if (options.signal?.aborted === true) return;
          granted = true;
          await run();
          resolve();
        };
        options.signal?.addEventListener("abort", () => {
          if (!granted) reject(new Error("aborted"));
        });
        const queue = queues.get(name) ?? [];
        queues.set(name, queue);
        queue.push(take);
        if (queue.length === 1) next(name);
      }),
  };
  const channel = (name: string) => {
    const own = {
      name,
      onmessage: null as BroadcastChannel["onmessage"],
      postMessage: (data: unknown) => {
        for (const other of channels)
          if (other !== own && other.name === name)
            other.onmessage?.call(other as BroadcastChannel, new MessageEvent("message", { data }));
      },
      close: () => void channels.delete(own),
    };
    channels.add(own);
    return own;
  };
  // Only what `followShared` uses is there.
  return { locks: locks as unknown as LockManager, channel: channel as unknown as never };
};

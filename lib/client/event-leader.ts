/**
 * One connection per browser: the tab that holds the lock follows the log and hands every frame to the
 * others. When it closes, the next tab in line takes over at its own cursor, so nothing is missed. A
 * leader that the browser has frozen keeps the lock and says nothing: whoever hears nothing for as long
 * as a dead connection would take follows by itself until the leader speaks again. Nobody may look at the
 * leading tab while somebody waits at another one: that one says when a try is due. Where the browser has no
 * locks or channels, each tab follows by itself.
 */
import {
  followEvents,
  retryDelay,
  silenceMillis,
  type StreamFrame,
  type StreamSurroundings,
} from "./event-stream.ts";

const lockName = "effect-agent-events";
const channelName = "effect-agent-events";

/** What the browser may or may not have. */
export interface SharedBrowser {
  readonly locks: LockManager | undefined;
  readonly channel: ((name: string) => BroadcastChannel) | undefined;
}

type TabMessage =
  | { readonly from: "leader"; readonly frame: StreamFrame }
  | { readonly from: "newcomer" }
  /** The server may be reached now, or somebody has waited long enough at this tab. */
  | { readonly from: "follower" };

const isTabMessage = (data: unknown): data is TabMessage =>
  typeof data === "object" && data !== null && "from" in data;

/**
 * Follows the log as leader or through the leader, until the returned function is called.
 *
 * @param scope tabs of other operators on the same origin must not share: the operator's id
 * @param cursor the sequence up to which this tab has everything
 */
export const followShared = (
  surroundings: StreamSurroundings,
  browser: SharedBrowser,
  scope: string,
  cursor: () => number,
  onFrame: (frame: StreamFrame) => void,
): (() => void) => {
  if (browser.locks === undefined || browser.channel === undefined) {
    return followEvents(surroundings, cursor, onFrame);
  }
  const channel = browser.channel(`${channelName}:${scope}`);
  const released = new AbortController();
  let stopLeading: (() => void) | undefined;
  let endLead: (() => void) | undefined;
  let lastState: StreamFrame = { kind: "connection", state: { phase: "connecting" } };
  let stopAlone: (() => void) | undefined;
  let cancelWatch: () => void = () => {};
  let cancelHurry: () => void = () => {};
  const signs = new Set<() => void>();

  /** A tab that nobody looks at waits long between tries, and its timers may come late. */
  const hurryLeader = (frame: StreamFrame): void => {
    if (frame.kind !== "connection") return;
    cancelHurry();
    if (frame.state.phase !== "retrying" || !surroundings.isVisible()) return;
    const { attempt, retryInMillis } = frame.state;
    cancelHurry = surroundings.after(
      Math.min(retryInMillis, retryDelay(attempt, surroundings.random(), true)),
      askLeader,
    );
  };
  const askLeader = (): void => {
    if (stopLeading === undefined) channel.postMessage({ from: "follower" });
  };
  const stopListening = surroundings.onSign(askLeader);

  const endAlone = (): void => {
    cancelWatch();
    stopAlone?.();
    stopAlone = undefined;
  };
  const watchLeader = (): void => {
    endAlone();
    cancelWatch = surroundings.after(silenceMillis, () => {
      stopAlone = followEvents(surroundings, cursor, onFrame);
    });
  };

  channel.onmessage = (message: MessageEvent<unknown>) => {
    if (!isTabMessage(message.data)) return;
    if (message.data.from === "leader") {
      if (stopLeading !== undefined) return;
      watchLeader();
      hurryLeader(message.data.frame);
      onFrame(message.data.frame);
    } else if (stopLeading === undefined) return;
    else if (message.data.from === "follower") for (const run of signs) run();
    else channel.postMessage({ from: "leader", frame: lastState });
  };
  channel.postMessage({ from: "newcomer" });
  watchLeader();

  const lead = (): Promise<void> =>
    new Promise((resolve) => {
      endAlone();
      cancelHurry();
      endLead = resolve;
      const heardFromTabs: StreamSurroundings = {
        ...surroundings,
        onSign: (run) => {
          const stop = surroundings.onSign(run);
          signs.add(run);
          return () => {
            stop();
            signs.delete(run);
          };
        },
      };
      stopLeading = followEvents(heardFromTabs, cursor, (frame) => {
        if (frame.kind === "connection") lastState = frame;
        channel.postMessage({ from: "leader", frame });
        onFrame(frame);
      });
    });
  browser.locks
    .request(`${lockName}:${scope}`, { signal: released.signal }, () =>
      released.signal.aborted ? undefined : lead(),
    )
    .catch(() => {
      // The lock was given up because this tab stopped following: nothing is owed to anybody.
    });

  return () => {
    released.abort();
    endAlone();
    cancelHurry();
    stopListening();
    stopLeading?.();
    endLead?.();
    channel.close();
  };
};

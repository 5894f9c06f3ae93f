import { assert, describe, it } from "@effect/vitest";
import { followShared } from "#lib/client/event-leader.ts";
import { silenceMillis } from "#lib/client/event-stream.ts";
import { makeBrowser, makeTabs } from "./fake-browser.ts";

/** A tab that has everything up to its cursor and moves it with each event. */
const openTab = (tabs: ReturnType<typeof makeTabs>, operator = "ann", from = 0) => {
  const browser = makeBrowser();
  const seen: Array<string> = [];
  let cursor = from;
  const stop = followShared(
    browser.surroundings,
    tabs,
    operator,
    () => cursor,
    (frame) => {
      if (frame.kind !== "event") return;
      cursor += 1;
      seen.push(frame.data);
    },
  );
  return { ...browser, seen, stop };
};

const turn = () => new Promise((done) => setTimeout(done, 0));

describe("one event connection per browser", () => {
  it("[OP-01] two tabs share one connection and see the same events", async () => {
    const tabs = makeTabs();
    const first = openTab(tabs);
    const second = openTab(tabs);
    await turn();
    assert.deepStrictEqual([first.opened.length, second.opened.length], [1, 0]);
    first.opened[0]?.fire("message", "one", "1");
    first.opened[0]?.fire("message", "two", "2");
    assert.deepStrictEqual(first.seen, ["one", "two"]);
    assert.deepStrictEqual(second.seen, ["one", "two"]);
  });

  it("[OP-01] [C064] when the leading tab closes, the next one goes on at its own cursor", async () => {
    const tabs = makeTabs();
    const first = openTab(tabs);
    const second = openTab(tabs);
    await turn();
    first.opened[0]?.fire("message", "one", "1");
    first.stop();
    await turn();
    assert.isTrue(first.opened[0]?.closed);
    assert.deepStrictEqual(
      second.opened.map(({ url }) => url),
      ["/api/v1/events?after=1"],
    );
    second.opened[0]?.fire("message", "two", "2");
    assert.deepStrictEqual(second.seen, ["one", "two"]);
    assert.deepStrictEqual(first.seen, ["one"]);
  });

  it("a waiting tab that closes leaves the line: the one behind it takes over", async () => {
    const tabs = makeTabs();
    const [first, second, third] = [openTab(tabs), openTab(tabs), openTab(tabs)];
    await turn();
    second.stop();
    first.stop();
    await turn();
    await turn();
    assert.deepStrictEqual([second.opened.length, third.opened.length], [0, 1]);
  });

  it("[C064] a leader that was frozen is done without, and heard again when it speaks", async () => {
    const tabs = makeTabs();
    const first = openTab(tabs);
    const second = openTab(tabs);
    await turn();
    first.opened[0]?.fire("message", "one", "1");
    second.pass(silenceMillis + 1);
    assert.deepStrictEqual(
      second.opened.map(({ url }) => url),
      ["/api/v1/events?after=1"],
    );
    second.opened[0]?.fire("message", "two", "2");
    first.opened[0]?.fire("message", "two", "2");
    assert.isTrue(second.opened[0]?.closed, "two connections would be one too many");
  });

  it("[C064] a leading tab that nobody looks at hurries for a tab that somebody looks at, and only then", async () => {
    const gaps = async (isFollowed: boolean): Promise<number> => {
      const tabs = makeTabs();
      const leader = openTab(tabs);
      leader.hide();
      const follower = isFollowed ? openTab(tabs) : undefined;
      await turn();
      leader.opened[0]?.fire("open");
      leader.opened[0]?.fire("error");
      for (let tick = 0; tick < 600; tick += 1) {
        leader.pass(100);
        follower?.pass(100);
        const last = leader.opened.at(-1);
        if (last?.closed === false) last.fire("error");
      }
      assert.strictEqual(follower?.opened.length ?? 0, 0);
      const times = leader.opened.map(({ at }) => at);
      return Math.max(...times.slice(1).map((at, index) => at - (times[index] ?? 0)));
    };
    assert.isAtMost(await gaps(true), 3_100);
    assert.isAbove(await gaps(false), 10_000);
  });

  it("[C064] a sign that another tab sees is one for the leading tab", async () => {
    const tabs = makeTabs();
    const leader = openTab(tabs);
    const follower = openTab(tabs);
    leader.hide();
    await turn();
    for (let attempt = 0; attempt < 8; attempt += 1) {
      leader.opened.at(-1)?.fire("error");
      leader.pass(20_000);
    }
    leader.opened.at(-1)?.fire("error");
    const tried = leader.opened.length;
    follower.giveSign();
    assert.strictEqual(leader.opened.length, tried + 1);
    leader.opened.at(-1)?.fire("message", "one", "1");
    assert.deepStrictEqual(follower.seen, ["one"]);
    follower.stop();
    leader.opened.at(-1)?.fire("error");
    follower.giveSign();
    assert.strictEqual(leader.opened.length, tried + 1, "a closed tab says nothing more");
  });

  it("[C042] tabs of two operators in one browser never share", async () => {
    const tabs = makeTabs();
    const ann = openTab(tabs, "ann");
    const bea = openTab(tabs, "bea");
    await turn();
    assert.deepStrictEqual([ann.opened.length, bea.opened.length], [1, 1]);
    ann.opened[0]?.fire("message", "hers", "1");
    assert.deepStrictEqual(bea.seen, []);
  });
});

import { assert, describe, it } from "@effect/vitest";
import {
  followEvents,
  retryDelay,
  silenceMillis,
  type StreamFrame,
} from "#lib/client/event-stream.ts";
import { makeServerClock } from "#lib/client/server-clock.ts";
import { makeBrowser } from "./fake-browser.ts";

const phases = (frames: ReadonlyArray<StreamFrame>): ReadonlyArray<string> =>
  frames.flatMap((frame) => (frame.kind === "connection" ? [frame.state.phase] : []));

describe("event stream", () => {
  it("[C064] opens after the cursor, and again after the last event it has heard", () => {
    const browser = makeBrowser();
    followEvents(
      browser.surroundings,
      () => 41,
      (frame) => browser.frames.push(frame),
    );
    assert.strictEqual(browser.opened[0]?.url, "/api/v1/events?after=41");
    browser.opened[0]?.fire("open");
    browser.opened[0]?.fire("message", "{}", "42");
    browser.opened[0]?.fire("error");
    assert.isTrue(browser.opened[0]?.closed);
    browser.pass(1_000);
    assert.strictEqual(browser.opened[1]?.url, "/api/v1/events?after=42");
    browser.opened[1]?.fire("open");
    assert.deepStrictEqual(phases(browser.frames), ["connecting", "live", "retrying", "live"]);
  });

  it("[C067] a connection that has been silent for 45 s is replaced; heartbeats keep it", () => {
    const browser = makeBrowser();
    followEvents(
      browser.surroundings,
      () => 0,
      (frame) => browser.frames.push(frame),
    );
    for (let beat = 0; beat < 60; beat += 1) {
      browser.pass(15_000);
      browser.opened[0]?.fire("heartbeat", '{"last":0,"serverTime":1}');
    }
    assert.strictEqual(browser.opened.length, 1, "15 min of heartbeats cause no reconnect");
    browser.pass(silenceMillis + 1_000);
    assert.strictEqual(browser.opened.length, 2);
  });

  it("[C064] waits longer with each failed attempt, never all at the same moment: at most 3 s while somebody may look, else 20 s", () => {
    for (const [isVisible, longest] of [
      [true, 3_000],
      [false, 20_000],
    ] as const) {
      const waits = Array.from({ length: 12 }, (_, attempt) =>
        retryDelay(attempt + 1, 0.999, isVisible),
      );
      assert.deepStrictEqual(
        [...waits].toSorted((a, b) => a - b),
        waits,
      );
      assert.isAtMost(Math.max(...waits), longest);
      assert.isAbove(Math.max(...waits), longest * 0.9);
      assert.isAtMost(retryDelay(9, 0, isVisible), longest / 2);
      assert.isAtMost(retryDelay(1, 0.999, isVisible), 500);
      assert.isAtLeast(retryDelay(1, 0, isVisible), 250);
    }
  });

  it("[C064] of a thousand browsers that lost one server all are back within 3 s of its return, at no moment many at once", () => {
    // A small generator with a fixed seed, so that chance is the same in every run.
    let seed = 7;
    const random = (): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    const awayMillis = 10_000;
    const back = Array.from({ length: 1_000 }, () => {
      const browser = makeBrowser(random);
      followEvents(
        browser.surroundings,
        () => 0,
        () => {},
      );
      browser.opened[0]?.fire("open");
      browser.opened[0]?.fire("error");
      for (;;) {
        browser.pass(10);
        const last = browser.opened.at(-1);
        if (browser.opened.length === 1 || last === undefined || last.closed) continue;
        if (last.at >= awayMillis) return last.at - awayMillis;
        last.fire("error");
      }
    });
    assert.isAtMost(Math.max(...back), 3_010);
    const perTenth = new Map<number, number>();
    for (const millis of back) {
      const tenth = Math.floor(millis / 100);
      perTenth.set(tenth, (perTenth.get(tenth) ?? 0) + 1);
    }
    assert.isAtMost(Math.max(...perTenth.values()), 80);
  });

  it("[C064] at a sign that the server may be reached it connects at once, whatever it still had to wait", () => {
    const browser = makeBrowser();
    browser.hide();
    const stop = followEvents(
      browser.surroundings,
      () => 7,
      (frame) => browser.frames.push(frame),
    );
    browser.opened[0]?.fire("open");
    browser.giveSign();
    assert.strictEqual(browser.opened.length, 1, "a connection that lives is left alone");
    for (let attempt = 0; attempt < 8; attempt += 1) {
      browser.opened.at(-1)?.fire("error");
      browser.pass(20_000);
    }
    browser.opened.at(-1)?.fire("error");
    const tried = browser.opened.length;
    browser.giveSign();
    assert.strictEqual(browser.opened.length, tried + 1);
    browser.giveSign();
    assert.strictEqual(browser.opened.length, tried + 1, "a try that has just begun is left alone");
    browser.opened.at(-1)?.fire("open");
    assert.strictEqual(phases(browser.frames).at(-1), "live");
    browser.pass(30_000);
    assert.strictEqual(browser.opened.length, tried + 1, "the wait that was cut short is over");
    browser.opened.at(-1)?.fire("error");
    stop();
    browser.giveSign();
    assert.strictEqual(browser.opened.length, tried + 1);
  });

  it("[C064] signs without end hurry less and less: a stream may be refused while all else is answered", () => {
    const browser = makeBrowser();
    followEvents(
      browser.surroundings,
      () => 0,
      (frame) => browser.frames.push(frame),
    );
    for (let tick = 0; tick < 1_000; tick += 1) {
      const last = browser.opened.at(-1);
      if (last?.closed === false) last.fire("error");
      browser.giveSign();
      browser.pass(10);
    }
    const waits = browser.opened
      .slice(1)
      .map(({ at }, index) => at - (browser.opened[index]?.at ?? 0));
    assert.isAbove(Math.min(...waits), 300, "chance gives the first wait: three quarters of 0.5 s");
    assert.isAtMost(browser.opened.length, 8);
    assert.isAtLeast(browser.opened.length, 5);
  });

  for (const frames of [0, 1])
    it(`[C064] waits longer with each connection that is closed at once after it was accepted (${frames} frames), whatever else is answered`, () => {
      const browser = makeBrowser();
      followEvents(
        browser.surroundings,
        () => 0,
        (frame) => browser.frames.push(frame),
      );
      for (let tick = 0; tick < 3_000; tick += 1) {
        const last = browser.opened.at(-1);
        if (last?.closed === false) {
          last.fire("open");
          for (let frame = 0; frame < frames; frame += 1)
            last.fire("heartbeat", '{"last":0,"serverTime":1}', "0");
          last.fire("error");
        }
        // The page reads its counts again each time that it is live.
        browser.giveSign();
        browser.pass(10);
      }
      assert.isAtMost(browser.opened.length, 18, "tries in 30 s");
      assert.strictEqual(phases(browser.frames).at(-1), "retrying");
      browser.pass(3_000);
      browser.opened.at(-1)?.fire("open");
      browser.pass(6_000);
      browser.opened.at(-1)?.fire("error");
      const tried = browser.opened.length;
      browser.pass(500);
      assert.strictEqual(browser.opened.length, tried + 1, "one that was held is a new beginning");
    });

  it("[C064] resets without end are no hot loop, whether or not they can be read", () => {
    for (const data of ['{"of":"a later version"}', '{"reason":"trimmed","first":9,"last":12}']) {
      const browser = makeBrowser();
      followEvents(
        browser.surroundings,
        () => 0,
        (frame) => browser.frames.push(frame),
      );
      for (let tick = 0; tick < 1_000; tick += 1) {
        const last = browser.opened.at(-1);
        if (last?.closed === false) last.fire("reset", data, "12");
        browser.pass(10);
      }
      assert.isAtMost(browser.opened.length, 10, "tries in 10 s");
    }
  });

  it("[C064] at a sign a line without a heartbeat for 20 s is taken for dead, and so is a try without an answer for 10 s", () => {
    const browser = makeBrowser();
    followEvents(
      browser.surroundings,
      () => 0,
      (frame) => browser.frames.push(frame),
    );
    browser.opened[0]?.fire("open");
    browser.pass(19_000);
    browser.giveSign();
    assert.strictEqual(browser.opened.length, 1);
    browser.pass(1_000);
    browser.giveSign();
    assert.strictEqual(browser.opened.length, 2);
    assert.isTrue(browser.opened[0]?.closed);
    assert.strictEqual(phases(browser.frames).at(-1), "retrying", "what is shown may be old");
    browser.pass(9_000);
    browser.giveSign();
    assert.strictEqual(browser.opened.length, 2);
    browser.pass(1_000);
    browser.giveSign();
    assert.strictEqual(browser.opened.length, 3);
    browser.opened[2]?.fire("open");
    assert.strictEqual(phases(browser.frames).at(-1), "live");
  });

  it("[C064] a reset is handed on and the connection goes on from the end that it names", () => {
    const browser = makeBrowser();
    let cursor = 900;
    followEvents(
      browser.surroundings,
      () => cursor,
      (frame) => {
        browser.frames.push(frame);
        if (frame.kind === "reset") cursor = 12;
      },
    );
    browser.opened[0]?.fire("reset", '{"reason":"ahead","first":1,"last":12}');
    assert.strictEqual(browser.opened[1]?.url, "/api/v1/events?after=12");
    assert.isTrue(browser.frames.some((frame) => frame.kind === "reset"));
  });

  it("says nothing more after it was stopped, and closes its connection", () => {
    const browser = makeBrowser();
    const stop = followEvents(
      browser.surroundings,
      () => 0,
      (frame) => browser.frames.push(frame),
    );
    stop();
    const before = browser.frames.length;
    browser.opened[0]?.fire("message", "{}", "1");
    browser.pass(600_000);
    assert.strictEqual(browser.frames.length, before);
    assert.isTrue(browser.opened[0]?.closed);
    assert.strictEqual(browser.opened.length, 1);
  });
});

describe("server clock", () => {
  it("[OP-10] follows the server whatever the browser's own clock says", () => {
    let local = 5_000_000;
    const clock = makeServerClock(() => local);
    clock.observe(1_000_100, 5_000_000, 5_000_200);
    local = 5_000_200;
    assert.strictEqual(clock.now(), 1_000_200);
    clock.observe(9_999_999, 5_000_200, 5_009_000);
    assert.strictEqual(clock.now(), 1_000_200, "a slow answer does not beat a quick one");
  });
});

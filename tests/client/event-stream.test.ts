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

  it("waits longer with each failed attempt, at most 20 s, never all at the same moment", () => {
    const waits = Array.from({ length: 12 }, (_, attempt) => retryDelay(attempt + 1, 0.999));
    assert.deepStrictEqual(
      [...waits].toSorted((a, b) => a - b),
      waits,
    );
    assert.isAtMost(Math.max(...waits), 20_000);
    assert.isBelow(retryDelay(6, 0), retryDelay(6, 0.9));
    assert.isAtLeast(retryDelay(1, 0), 250);
  });

  it("[C064] when the browser finds its network again it connects at once, whatever it still had to wait", () => {
    const browser = makeBrowser();
    const stop = followEvents(
      browser.surroundings,
      () => 7,
      (frame) => browser.frames.push(frame),
    );
    browser.opened[0]?.fire("open");
    browser.findNetwork();
    assert.strictEqual(browser.opened.length, 1, "a connection that lives is left alone");
    for (let attempt = 0; attempt < 8; attempt += 1) {
      browser.opened.at(-1)?.fire("error");
      browser.pass(20_000);
    }
    browser.opened.at(-1)?.fire("error");
    const tried = browser.opened.length;
    browser.findNetwork();
    assert.strictEqual(browser.opened.length, tried + 1);
    browser.opened.at(-1)?.fire("open");
    assert.strictEqual(phases(browser.frames).at(-1), "live");
    browser.pass(30_000);
    assert.strictEqual(browser.opened.length, tried + 1, "the wait that was cut short is over");
    browser.opened.at(-1)?.fire("error");
    stop();
    browser.findNetwork();
    assert.strictEqual(browser.opened.length, tried + 1);
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

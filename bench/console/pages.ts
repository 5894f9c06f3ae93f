/** Pages that hold much: a run of 50,000 events, an argument of 20 MB, a tab that stays open through a storm. */
import { setTimeout as sleep } from "node:timers/promises";
import { heapMegabytes, longestTask, openBrowser } from "./browser.ts";
import { type BenchDatabase, runTitled } from "./database.ts";
import { figure, quantile, say } from "./figures.ts";
import { type Product, timedGet } from "./product.ts";

export const measurePages = async (
  product: Product,
  database: BenchDatabase,
  rounds: number,
): Promise<void> => {
  const browser = await openBrowser(product, await database.signIn());
  const long = await runTitled(database, "Recheck");
  const usable: Array<number> = [];
  for (let round = 0; round <= rounds; round++) {
    const from = performance.now();
    const page = await browser.page(`/runs/${long.runId}`);
    await page.waitForSelector("[data-call]");
    // Usable means that it answers: its calls are drawn, and the first one opens when it is pressed.
    await page.click("[data-call] button");
    await page.waitForSelector('[data-call] [aria-expanded="true"]');
    // The first visit fills the browser's and the server's caches.
    if (round > 0) usable.push(performance.now() - from);
    if (round === rounds) {
      await page.waitForSelector('[data-connection="live"]');
      const live = performance.now();
      await database.announce(long, 1, Date.now());
      await page.getByText("the model answers").waitFor({ state: "attached", timeout: 20_000 });
      say(
        `  still live: an event of the run was drawn ${(performance.now() - live).toFixed(0)} ms after it was written`,
      );
    }
    await page.close();
  }
  figure(
    "a run of 50,000 events until its first call is open, median",
    quantile(usable, 0.5),
    "ms",
    1_500,
  );
  const timeline = await browser.page(`/runs/${long.runId}?view=timeline`);
  const from = performance.now();
  await timeline.waitForFunction(
    () => Number(document.querySelector("[data-lanes]")?.getAttribute("data-lanes") ?? 0) > 10_000,
  );
  figure(
    "its timeline until all lanes stand",
    performance.now() - from,
    "ms",
    undefined,
    `longest task ${(await longestTask(timeline)).toFixed(0)} ms`,
  );
  await timeline.close();

  const large = await runTitled(database, "Note with an argument");
  const page = await browser.page(`/runs/${large.runId}`);
  await page.waitForSelector("[data-call]");
  await page.waitForSelector('[data-connection="live"]');
  say(
    `  longest task while the page of the 20 MB argument loaded: ${(await longestTask(page)).toFixed(0)} ms`,
  );
  await page.click("[data-call] button");
  await page.waitForSelector("[data-cut]");
  await sleep(1_000);
  figure(
    "longest task of the main thread while the 20 MB argument is opened",
    await longestTask(page),
    "ms",
    200,
  );
  await page.close();
  await browser.close();
};

/** Events of one statement, and how many may be on their way to the tab: written, and not drawn yet. */
const eventsPerWrite = 5_000;
const mostUnderWay = 40_000;

/**
 * Real events through the real path: rows in the inbox, the assigner, the log, the stream, the tab. Its
 * heap is looked at on the way, so that growth that a last collection hides would be seen.
 */
export const measureTab = async (
  product: Product,
  database: BenchDatabase,
  events: number,
): Promise<void> => {
  const browser = await openBrowser(product, await database.signIn());
  const run = await runTitled(database, "Recheck");
  const page = await browser.page("/runs");
  await page.waitForSelector('[data-connection="live"]');
  const lastSeen = async (): Promise<number> =>
    Number(
      (await page.locator("[data-connection] + span .mono").first().textContent())?.replaceAll(
        ",",
        "",
      ) ?? 0,
    );
  const send = async (count: number) => {
    const from = await lastSeen();
    for (let sent = 0; sent < count; sent += eventsPerWrite) {
      await database.announce(run, Math.min(eventsPerWrite, count - sent), Date.now());
      while (from + sent - (await lastSeen()) > mostUnderWay) await sleep(200);
    }
    while ((await lastSeen()) < from + count) await sleep(200);
  };
  // What is kept of the newest events is full after these.
  await send(5_000);
  const before = await heapMegabytes(page);
  const from = performance.now();
  const parts = Math.min(8, Math.ceil(events / 50_000));
  let highest = before;
  let after = before;
  for (let part = 1; part <= parts; part++) {
    await send(Math.round((events * part) / parts) - Math.round((events * (part - 1)) / parts));
    after = await heapMegabytes(page);
    highest = Math.max(highest, after);
    const seconds = (performance.now() - from) / 1_000;
    say(
      `  ${Math.round((events * part) / parts).toLocaleString("en")} events after ${seconds.toFixed(0)} s: ${after.toFixed(1)} MB`,
    );
  }
  const seconds = (performance.now() - from) / 1_000;
  figure(
    `heap growth of an open tab over ${events.toLocaleString("en")} events`,
    after - before,
    "MB",
    50,
    `${before.toFixed(1)} to ${after.toFixed(1)} MB, at most ${highest.toFixed(1)} MB on the way, ${Math.round(events / seconds)} events/s`,
  );
  await browser.close();
};

/** Decisions that are not counted: the server's first ones run code that has not been compiled yet. */
const warmDecisions = 5;

export const measureDecisions = async (
  product: Product,
  database: BenchDatabase,
  count: number,
): Promise<void> => {
  const pending = await database.rows(
    `SELECT a.request_id, a.parameters_digest FROM approval_requests a
     WHERE a.tenant_id = 'default' AND a.state = 'pending' ORDER BY a.requested_at LIMIT $1::int`,
    [count + warmDecisions],
  );
  const durable: Array<number> = [];
  const answered: Array<number> = [];
  for (const [at, row] of pending.entries()) {
    const requestId = String(row["request_id"]);
    // As the page does: it has the card when the button is pressed.
    await timedGet(product, `/approvals/${requestId}`);
    const sent = performance.now();
    const decision = fetch(`${product.origin}/api/v1/approvals/${requestId}/decision`, {
      method: "POST",
      headers: { authorization: `Bearer ${product.token}`, "content-type": "application/json" },
      body: JSON.stringify({
        commandId: `bench-decision-${Date.now()}-${at}`,
        decision: "denied",
        reason: "A decision of the bench.",
        parametersDigest: row["parameters_digest"],
      }),
    }).then(async (answer) => {
      const text = await answer.text();
      if (!answer.ok) throw new Error(`A decision was answered with ${answer.status}: ${text}`);
      return performance.now() - sent;
    });
    // Another connection sees a row once its commit is on the disk.
    const seen = async (): Promise<number> => {
      for (;;) {
        const [found] = await database.rows(
          "SELECT FROM approval_requests WHERE tenant_id = 'default' AND request_id = $1 AND state <> 'pending'",
          [requestId],
        );
        if (found !== undefined) return performance.now() - sent;
        await sleep(1);
      }
    };
    const [answerMillis, rowMillis] = await Promise.all([decision, seen()]);
    if (at < warmDecisions) continue;
    answered.push(answerMillis);
    durable.push(rowMillis);
  }
  const note = (millis: ReadonlyArray<number>): string =>
    `${millis.length} decisions, median ${quantile(millis, 0.5).toFixed(0)} ms, worst ${Math.max(...millis).toFixed(0)} ms`;
  figure(
    "decision sent until its row is durable, p95",
    quantile(durable, 0.95),
    "ms",
    100,
    note(durable),
  );
  figure(
    "decision sent until it is answered with the decided request, p95",
    quantile(answered, 0.95),
    "ms",
    undefined,
    note(answered),
  );
};

/** Event streams: what an event costs until it is seen with many who follow, and whether closed ones leave anything. */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type BenchDatabase, runTitled } from "./database.ts";
import { openBrowser } from "./browser.ts";
import { figure, quantile } from "./figures.ts";
import type { Product } from "./product.ts";

const follow = (product: Product, token: string, signal: AbortSignal, query = "") =>
  fetch(`${product.origin}/api/v1/events${query}`, {
    signal,
    headers: { authorization: `Bearer ${token}` },
  });

/** Reads a stream to its end; gives each event's sequence and time to whoever asked. */
const drain = async (response: Response, heard?: (sequence: number, at: number) => void) => {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const piece = await reader?.read();
    if (piece === undefined || piece.done) return;
    if (heard === undefined) continue;
    rest += piece.value;
    for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
      const found = /"sequence":(\d+),.*?"at":(\d+)/.exec(rest.slice(0, end));
      if (found !== null) heard(Number(found[1]), Number(found[2]));
      rest = rest.slice(end + 2);
    }
  }
};

const perOperator = 50;

export const measureLive = async (
  product: Product,
  database: BenchDatabase,
  options: { readonly subscribers: number; readonly perSecond: number; readonly seconds: number },
): Promise<void> => {
  const run = await runTitled(database, "Recheck");
  const tokens = await database.operators(Math.ceil(options.subscribers / perOperator));
  const abort = new AbortController();
  const times = new Map<number, number>();
  const followers: Array<Promise<void>> = [];
  for (let at = 0; at < options.subscribers; at++) {
    const token = tokens[Math.floor(at / perOperator)] ?? "";
    const response = await follow(product, token, abort.signal);
    if (!response.ok) throw new Error(`A stream was refused with ${response.status}.`);
    const heard =
      at === 0 ? (sequence: number, when: number) => void times.set(sequence, when) : undefined;
    followers.push(drain(response, heard).catch(() => undefined));
  }
  const browser = await openBrowser(product, await database.signIn());
  const page = await browser.page("/runs");
  await page.waitForSelector('[data-connection="live"]');
  await page.evaluate(() => {
    const seen: Array<[number, number]> = [];
    Object.assign(window, { seen });
    new MutationObserver(() => {
      const text =
        document.querySelector("[data-connection]")?.nextElementSibling?.querySelector(".mono")
          ?.textContent ?? "";
      const sequence = Number(text.replaceAll(",", ""));
      if (seen.at(-1)?.[0] !== sequence) seen.push([sequence, Date.now()]);
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  const batch = Math.max(1, Math.round(options.perSecond / 20));
  const until = Date.now() + options.seconds * 1_000;
  let sent = 0;
  const begun = Date.now();
  while (Date.now() < until) {
    await database.announce(run, batch, Date.now());
    sent += batch;
    await sleep(Math.max(0, begun + (sent / options.perSecond) * 1_000 - Date.now()));
  }
  await sleep(1_500);
  const seen = await page.evaluate(
    () => (window as unknown as { seen: Array<[number, number]> }).seen,
  );
  const latencies = seen.flatMap(([sequence, at]) => {
    const from = times.get(sequence);
    return from === undefined ? [] : [at - from];
  });
  abort.abort();
  await Promise.all(followers);
  await browser.close();
  figure(
    "event to pixel, p95",
    quantile(latencies, 0.95),
    "ms",
    300,
    `${options.subscribers} subscribers, ${Math.round(sent / ((Date.now() - begun - 1_500) / 1_000))} events/s, median ${quantile(latencies, 0.5).toFixed(0)} ms, ${latencies.length} drawings`,
  );
};

const residentMegabytes = (pid: number): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1_024;

export const measureStreams = async (
  product: Product,
  database: BenchDatabase,
  count: number,
): Promise<void> => {
  const tokens = await database.operators(2);
  const openAndClose = async (many: number) => {
    let left = many;
    const one = async (token: string) => {
      while (left-- > 0) {
        const abort = new AbortController();
        const response = await follow(product, token, abort.signal);
        await response.body?.getReader().read();
        abort.abort();
      }
    };
    await Promise.all(
      Array.from({ length: 40 }, (_, at) =>
        one(tokens[at % tokens.length] ?? "").catch(() => undefined),
      ),
    );
  };
  // What a first round leaves is caches and a heap that has grown; what each further round adds is a leak.
  for (const round of ["first", "second"]) {
    const before = residentMegabytes(product.pid);
    await openAndClose(count);
    const peak = residentMegabytes(product.pid);
    await sleep(30_000);
    const after = residentMegabytes(product.pid);
    figure(
      `memory kept 30 s after ${count} streams were opened and closed, ${round} round`,
      after - before,
      "MB",
      undefined,
      `resident ${before.toFixed(0)} MB before, ${peak.toFixed(0)} MB at the end, ${after.toFixed(0)} MB later`,
    );
  }
};

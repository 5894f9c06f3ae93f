/** Acts whose answer does not come: what was carried out is never guessed and never done twice. */
import { expect, type Page, test } from "@playwright/test";
import { startCutAnswers } from "../support/cut-answer.ts";
import { launchedProduct } from "./pages/launched-product.ts";

const product = launchedProduct("lost");

test("[C039][C062] after a lost answer other words act no second time, and the page says what was carried out", async () => {
  const { page } = product.ana;
  const [waiting] = (await product.ana.read("/approvals")).items;
  const { input } = await product.ana.read(`/runs/${waiting.runId}`);
  const runId = await product.ana.start(input, "lost-answer");
  const isWaiting = async () => (await product.ana.read(`/runs/${runId}`)).state;
  await expect.poll(isWaiting, { timeout: 30_000 }).toBe("waiting");

  const doubt = page.locator('[data-lost-answer="in-doubt"]');
  const carriedOut = page.locator('[data-lost-answer="carried-out"]');
  const conflict = { _tag: "IdempotencyConflict", message: "used before", key: "c" };
  /** The first answer of a command is lost; to the second the server says that the first one acted. */
  const twice = async (route: string, words: string, confirm: RegExp): Promise<Array<string>> => {
    const ids: Array<string> = [];
    await page.route(route, async (call) => {
      ids.push(call.request().postDataJSON().commandId);
      await (ids.length === 1 ? call.abort() : call.fulfill({ status: 409, json: conflict }));
    });
    const box = page.getByRole("textbox", { name: /^(Reason|Note|Why not)/ });
    await box.fill(`${words} at first`);
    await page.getByRole("button", { name: confirm }).click();
    await expect(doubt.locator('[data-truth="read"]')).toBeVisible();
    await box.fill(`${words} in other words`);
    await page.getByRole("button", { name: confirm }).click();
    await expect(carriedOut).toContainText(`${words} at first`);
    await page.unroute(route);
    expect(new Set(ids).size, route).toBe(1);
    return ids;
  };

  const { wake, retry, ...explained } = await product.ana.read(`/runs/${runId}/explanation`);
  const possible = { possible: true, effect: "It goes on." };
  await page.route("**/explanation", (route) =>
    route.fulfill({ json: { ...explained, wake: possible, retry: possible } }),
  );
  await product.ana.open(`/runs/${runId}?view=attempts`);
  await product.ana.isLive();
  for (const verb of ["Wake", "Retry"]) {
    await page.getByRole("button", { name: `${verb}…` }).click();
    await twice(`**/${verb.toLowerCase()}`, verb, new RegExp(`^${verb} it$`));
    await page.getByRole("button", { name: "Close" }).click();
  }
  await page.unroute("**/explanation");
  expect([wake.possible, retry.possible]).toEqual([false, false]);

  await product.ana.open("/denials");
  await page.getByRole("button", { name: "Acknowledge…" }).first().click();
  await twice("**/acknowledge", "Noted", /^Acknowledge$/);
  await expect(carriedOut).toContainText("it is still open");

  await product.ana.open(`/approvals?request=${waiting.requestId}`);
  await product.ana.isLive();
  await page.getByRole("button", { name: /^Deny…/ }).click();
  await twice("**/decision", "Not now", /^Deny \w+$/);

  // This one really is carried out, and only its answer is lost.
  await product.ana.open(`/runs/${runId}`);
  await product.ana.isLive();
  await page.getByRole("button", { name: "Abort…" }).click();
  await page.route("**/abort", async (route) => {
    await route.fetch();
    await route.abort();
  });
  await page.getByRole("textbox", { name: /^Reason/ }).fill("A wrong order");
  await page.getByRole("button", { name: "Abort the run" }).click();
  await expect(page.locator("[data-truth]")).toContainText("asked to abort it: A wrong order");
  await page.unroute("**/abort");
  await page.getByRole("textbox", { name: /^Reason/ }).fill("Another reason");
  await page.getByRole("button", { name: "Abort the run" }).click();
  await expect(carriedOut).toContainText("A wrong order");
  await page.getByRole("button", { name: "Close" }).click();
  await expect.poll(isWaiting, { timeout: 30_000 }).toBe("aborted");
});

/** The server has the act carried out, and its answer never arrives. */
const cutOnce = async (page: Page, route: string): Promise<void> => {
  await page.route(
    route,
    async (call) => {
      expect((await call.fetch()).status()).toBe(200);
      await call.abort();
    },
    { times: 1 },
  );
};

const accepted = async (verb: string, target: string): Promise<ReadonlyArray<{ reason: string }>> =>
  (await product.ana.read(`/audit?verb=${verb}&accepted=yes&limit=200`)).items.filter(
    (act: { target: string }) => act.target === target,
  );

test("[C039][C062] more time whose answer was cut was given once: the page shows it, and trying again adds none", async () => {
  const { page } = product.ana;
  const [waiting] = (await product.ana.read("/approvals")).items;
  await product.ana.open(`/approvals?request=${waiting.requestId}`);
  await product.ana.isLive();
  await page.getByRole("button", { name: "Extend…" }).click();
  await cutOnce(page, "**/extend");
  await page.getByRole("textbox", { name: /^Reason/ }).fill("The customer answers tomorrow");
  const give = page.getByRole("button", { name: "Extend", exact: true });
  await give.click();
  await expect(page.locator('[data-lost-answer="in-doubt"]')).toBeVisible();
  const { expiresAt } = await product.ana.read(`/approvals/${waiting.requestId}`);
  expect(expiresAt).not.toBe(waiting.expiresAt);
  await product.ana.isAccessible("more time in doubt");
  await give.click();
  await expect(page.locator('[data-lost-answer="in-doubt"]')).toHaveCount(0);
  // Left open with its reason, the form would give the same once more at the next press.
  await expect(give).toHaveCount(0);
  expect((await product.ana.read(`/approvals/${waiting.requestId}`)).expiresAt).toBe(expiresAt);
  expect(await accepted("extend-approval", waiting.requestId)).toHaveLength(1);
});

test("[C039][C102] a resolution whose answer was cut was carried out once: the page shows the stored truth", async () => {
  const { page } = product.ana;
  const [doubt] = (await product.ana.read("/unknowns")).items;
  await product.ana.open(`/unknowns?unknown=${doubt.unknownId}`);
  await product.ana.isLive();
  await page.getByRole("radio", { name: /It never happened/ }).check();
  await page.getByRole("textbox", { name: "Evidence" }).fill("No entry under this key.");
  await page.getByRole("textbox", { name: "Reason" }).fill("Not booked.");
  await cutOnce(page, "**/resolution");
  await page.getByRole("button", { name: "Resolve" }).click();
  await page.getByRole("button", { name: "Press again to resolve" }).click();
  await expect(page.getByText("stays in the run's history")).toBeVisible({ timeout: 20_000 });
  await expect(page.getByText("Not booked.").first()).toBeVisible();
  expect(await accepted("resolve-unknown", doubt.unknownId)).toHaveLength(1);
  await expect
    .poll(async () => (await product.ana.read(`/runs/${doubt.runId}`)).state, { timeout: 30_000 })
    .toBe("completed");
});

test("[C081] a proof pack that is cut in the middle says that it was, and that nothing was saved; the next try is whole", async () => {
  const { ana } = product;
  const { page } = ana;
  const server = await startCutAnswers('{"kind":"proof"}\n', "broken");
  const { items } = await ana.read("/runs");
  await ana.open(`/runs/${items[0].runId}`);
  await page.getByRole("button", { name: "Proof…" }).click();
  const dialog = page.getByRole("dialog", { name: "Proof pack of this run" });
  const saved: Array<string> = [];
  page.on("download", (download) => saved.push(download.suggestedFilename()));
  await page.route("**/proof", (route) =>
    route.continue({ url: `${server.origin}${new URL(route.request().url()).pathname}` }),
  );
  await dialog.getByRole("button", { name: "Download" }).click();
  const alert = dialog.getByRole("alert");
  await expect(alert).toContainText("The download was cut");
  await expect(alert).toContainText("after 17 bytes of the pack");
  await expect(alert).toContainText("Nothing was saved.");
  await ana.isAccessible("a proof pack that was cut");
  await ana.shootBothThemes("proof-cut");
  await ana.shootOnPhone("proof-cut");
  expect(saved).toEqual([]);
  await page.unroute("**/proof");
  await server.close();
  await dialog.getByRole("button", { name: "Download" }).click();
  await expect(dialog.getByText("Saved as")).toBeVisible();
  await expect(alert).toHaveCount(0);
  await expect.poll(() => saved).toEqual([`proof-${items[0].runId}.ndjson`]);
});

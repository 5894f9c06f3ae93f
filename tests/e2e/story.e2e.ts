/** The main job, end to end, on the built product: request, watch, approve, kill -9, start again, find everything as it was. */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { expect, type Page, test } from "@playwright/test";
import { type LaunchedServer, launchReady } from "../support/launched-server.ts";
import { shootBothThemes } from "./pages/shoot.ts";

let folder: string;
let server: LaunchedServer;
/** One signed-in browser for the whole story; its requests carry the sign-in cookie. */
let page: Page;

const api = async (route: string) => {
  const response = await page.request.get(`${server.origin}/api/v1${route}`);
  expect(response.status(), route).toBe(200);
  return response.json();
};

const startRun = async (request: string): Promise<string> => {
  await page.goto(`${server.origin}/runs/new`);
  await page.getByText(request, { exact: true }).click();
  await page.getByRole("button", { name: "Start the run" }).click();
  await page.waitForURL(/\/runs\/run_/);
  return page.url().split("/").at(-1)?.split("?")[0] ?? "";
};

const shoot = (name: string) => shootBothThemes(page, name);

const refundsOf = async (runId: string): Promise<ReadonlyArray<{ readonly state: string }>> => {
  const detail = await api(`/runs/${runId}`);
  const calls: ReadonlyArray<{ readonly toolName: string; readonly state: string }> =
    detail.turnViews.flatMap((turn: { readonly calls: ReadonlyArray<unknown> }) => turn.calls);
  return calls.filter((call) => call.toolName === "issue_refund");
};

test.describe.configure({ mode: "serial" });

test.beforeAll(async ({ browser }) => {
  test.setTimeout(300_000);
  page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  folder = mkdtempSync(path.join(os.tmpdir(), "effect-agent-story-"));
  // Started by root, the database runs as another user, who must be able to enter.
  chmodSync(folder, 0o755);
  server = await launchReady({ dataFolder: folder, patience: 290_000 });
});
test.afterAll(async () => {
  await page.close();
  await server.end("SIGTERM");
  rmSync(folder, { recursive: true, force: true });
});

test("[scenario 10][C001] a newcomer signs in by the link, approves a refund, and a kill -9 changes nothing", async () => {
  test.setTimeout(300_000);
  await page.goto(server.signInLink ?? "");
  await page.getByRole("button", { name: "Sign in with this link" }).click();
  await page.waitForURL(/\/approvals/);
  await expect(page.getByRole("heading", { name: "Approvals" })).toBeVisible();

  const runId = await startRun("Refund above the limit");
  await expect(page.getByText("get_order_details")).toBeVisible();
  await expect(page.getByText("waiting for a person").first()).toBeVisible();
  await shoot("run-waiting");

  await page.goto(`${server.origin}/approvals`);
  await expect(page.getByText("Refund $129.90 for order #W1000001").first()).toBeVisible();
  await expect(page.getByText('"129.90"').first()).toBeVisible();
  await shoot("approvals");
  // A card that has just appeared takes no decision for 300 ms, and one press only arms.
  await page.waitForTimeout(400);
  await page.getByRole("button", { name: "Approve", exact: true }).click();
  await page.waitForTimeout(600);
  await page.getByRole("button", { name: "Approve: press again" }).click();
  await expect(page.getByText("Approved by")).toBeVisible();
  await expect(page.getByText("ran exactly what was approved")).toBeVisible({ timeout: 30_000 });
  await shoot("approval-receipt");
  await page.goto(`${server.origin}/runs/${runId}`);
  await expect(page.getByText("completed").first()).toBeVisible({ timeout: 30_000 });
  await shoot("run-completed");
  expect((await refundsOf(runId)).map((call) => call.state)).toEqual(["succeeded"]);

  // A second run waits for a person while the whole host is killed.
  const waitingRun = await startRun("Cancel a pending order");
  await expect(page.getByText("waiting for a person").first()).toBeVisible({ timeout: 30_000 });
  const before = await api(`/runs/${runId}/records`);
  await server.end("SIGKILL");
  server = await launchReady({ dataFolder: folder, env: { PORT: new URL(server.origin).port } });
  expect(server.signInLink).toBeUndefined();

  await page.goto(`${server.origin}/runs/${waitingRun}`);
  await expect(page.getByText("waiting for a person").first()).toBeVisible();
  const after = await api(`/runs/${runId}/records`);
  expect(after.items).toEqual(before.items);
  expect((await refundsOf(runId)).map((call) => call.state)).toEqual(["succeeded"]);

  await page.goto(`${server.origin}/approvals`);
  await page.getByRole("button", { name: /Deny/ }).click();
  await page.getByRole("textbox").first().fill("The order has left the warehouse.");
  await shoot("deny");
  await page.getByRole("button", { name: /^Deny/ }).last().click();
  await page.goto(`${server.origin}/runs/${waitingRun}`);
  await expect(page.getByText("denied by a person").first()).toBeVisible({ timeout: 30_000 });
  await expect(page.getByText("completed").first()).toBeVisible({ timeout: 30_000 });
  await shoot("run-denied");
});

test("[DU-04][C103] a refund whose answer is lost is an effect in doubt: amber, never green", async () => {
  const runId = await startRun("A refund without an answer");
  await expect(page.getByText("unknown").first()).toBeVisible({ timeout: 30_000 });
  await shoot("run-unknown");
  expect((await refundsOf(runId)).map((call) => call.state)).toEqual(["unknown"]);
});

test("[OP-02][OP-03] a discovery shows what was searched, found and activated, against its budget", async () => {
  const runId = await startRun("Which products sell best?");
  await expect(page.getByText("completed").first()).toBeVisible({ timeout: 30_000 });
  await page.getByRole("button", { name: /discover_tools/ }).click();
  const discovery = page.getByRole("region", { name: "Discovery" });
  await expect(discovery.getByText(/report_sales_by_product/).first()).toBeVisible();
  await expect(discovery.getByText(/of at most 32/)).toBeVisible();
  await shoot("run-discovery");
  const detail = await api(`/runs/${runId}`);
  expect(detail.turnViews[1].exposure.selectionSource).toBe("discovery");
});

/** How a run comes to another end than its request had in mind: nobody answers, a policy says no, a tool breaks, a person stops it. */
import { expect, type Page, test } from "@playwright/test";
import { launchedProduct } from "./pages/launched-product.ts";

const product = launchedProduct("endings", async () => {});

let started = 0;

/** A run of one of the ready-made requests. */
const start = async (exampleId: string): Promise<string> => {
  const [{ examples }] = (await product.ana.read("/agents")).items;
  const example = examples.find(({ id }: { id: string }) => id === exampleId);
  return product.ana.start(example.input, `ending-${(started += 1)}`);
};

const stateOf = async (runId: string): Promise<string> =>
  (await product.ana.read(`/runs/${runId}`)).state;

const comesTo = (runId: string, state: string): Promise<void> =>
  expect.poll(() => stateOf(runId), { timeout: 30_000 }).toBe(state);

/** The one request that a run waits with. */
const requestOf = async (runId: string) => {
  await comesTo(runId, "waiting");
  return (await product.ana.read(`/approvals?runId=${runId}`)).items[0];
};

/** What is sent by a browser that has not heard yet that there is nothing to decide any more. */
const approveAnyway = async (requestId: string) => {
  const { parametersDigest } = (await product.ana.read(`/approvals/${requestId}`)).content;
  const answer = await product.ana.page.request.post(
    `${product.server.origin}/api/v1/approvals/${requestId}/decision`,
    {
      data: { commandId: `late-${requestId}`, decision: "approved", parametersDigest, reason: "" },
      headers: { origin: product.server.origin },
    },
  );
  return { status: answer.status(), body: await answer.json() };
};

/** Marks the document, so that a reload would be seen. */
const remembered = async (page: Page): Promise<() => Promise<boolean>> => {
  await page.evaluate(() => Object.assign(window, { isStillHere: true }));
  return () => page.evaluate(() => "isStillHere" in window);
};

const call = (page: Page, toolName: string) =>
  page.locator("li[data-call]").filter({ has: page.locator("code", { hasText: toolName }) });

const audit = (page: Page) => page.getByRole("list", { name: "Acts" }).getByRole("listitem");

test("[A-07][C007][C013][C014][C016] a request that expires under a half-written denial says so without a reload, and its run goes on and shows it as expired", async () => {
  const { ana } = product;
  const { page } = ana;
  const runId = await start("cancel-order");
  const { requestId } = await requestOf(runId);
  // A day passes but for fifteen seconds: what was asked and when it expires both lie that much further back.
  await product.sql(
    `UPDATE approval_requests SET requested_at = requested_at - passed, expires_at = expires_at - passed
       FROM (SELECT expires_at - clock_timestamp() - interval '15 seconds' AS passed
         FROM approval_requests WHERE request_id = $1) AS time
       WHERE request_id = $1`,
    [requestId],
  );
  await ana.open(`/approvals?request=${requestId}`);
  await ana.isLive();
  const card = page.getByRole("article", { name: "Approval of cancel_pending_order" });
  await expect(card.getByText("(expires soon)")).toBeAttached();
  const isStillHere = await remembered(page);
  await page.getByRole("button", { name: "Deny…" }).click();
  await page.getByRole("textbox", { name: "Why not" }).fill("The parcel has left the house.");

  const outcome = card.locator('[data-outcome="expired"]');
  await expect(outcome).toContainText("Expired by the clock", { timeout: 30_000 });
  await expect(outcome).toContainText("Nobody decided before the request expired.");
  await expect(page.getByRole("button", { name: /^(Approve|Deny|Extend)/ })).toHaveCount(0);
  await expect(page.getByRole("textbox", { name: "Why not" })).toHaveCount(0);
  expect(await isStillHere()).toBe(true);
  await ana.isAccessible("a card that expired");
  await ana.shootBothThemes("approval-expired");

  const late = await approveAnyway(requestId);
  expect(late.status).toBe(409);
  expect(late.body).toMatchObject({ _tag: "ApprovalAlreadyDecided", decision: "expired" });
  expect(late.body.message).toContain("expired before anybody answered");

  await comesTo(runId, "completed");
  await ana.open(`/runs/${runId}`);
  const expired = call(page, "cancel_pending_order");
  await expect(expired).toHaveAttribute("data-state", "expired");
  await expect(expired.getByText("expired", { exact: true })).toBeVisible();
  await expect(
    page.locator('[data-state="denied-by-person"], [data-state="failed"]'),
    "calls that a person denied, or that failed",
  ).toHaveCount(0);
  // What the model was told, and what it made of that.
  await expired.getByRole("button").first().click();
  await expect(expired).toContainText("ToolApprovalExpired");
  await expect(expired).toContainText("Nobody has refused it.");
  await expect(page.getByText(/was not cancelled.*nobody decided in time/).first()).toBeVisible();
  await ana.shootBothThemes("run-expired");
  const [order] = await product.sql(
    `SELECT status FROM retail.orders WHERE order_id = '#W1000002'`,
  );
  expect(order).toEqual({ status: "pending" });

  await ana.open(`/audit?verb=expire-approval&runId=${runId}`);
  await expect(audit(page)).toHaveCount(1);
  await expect(audit(page)).toContainText("the clock");
  await ana.open("/audit?verb=decide-approval&accepted=no");
  await expect(audit(page)).toHaveCount(1);
  await expect(audit(page)).toContainText("refused");
  await expect(audit(page)).toContainText("expired before anybody answered");
});

test("[Z-04][OP-06][C020] a call that the policy denies ends its run with the reason, and is listed until somebody takes note of it", async () => {
  const { ana } = product;
  const { page } = ana;
  await ana.open("/denials");
  await ana.isLive();
  const isStillHere = await remembered(page);
  const runId = await start("delete-account");
  const row = page.getByRole("list", { name: "Denials" }).getByRole("listitem");
  await expect(row).toHaveCount(1, { timeout: 30_000 });
  await expect(row).toContainText("denied by policy");
  await expect(row).toContainText("Customer accounts are deleted by the privacy team only");
  expect(await isStillHere()).toBe(true);
  await ana.shootBothThemes("denials-open");

  await row.getByRole("link", { name: "what the run did next" }).click();
  await page.waitForURL(new RegExp(`/runs/${runId}`));
  await comesTo(runId, "failed");
  const denied = call(page, "delete_customer");
  await expect(denied).toHaveAttribute("data-state", "denied-by-policy");
  await expect(denied.getByText("denied by policy")).toBeVisible();
  await expect(page.getByRole("tabpanel")).toContainText("deleted by the privacy team only");
  // The rule is the policy's private cause: for operators, one step away.
  await expect(page.getByRole("tabpanel")).not.toContainText("accounts-are-deleted-by");
  await ana.shootBothThemes("run-denied-by-policy");
  await page.getByRole("link", { name: "Private evidence" }).first().click();
  await expect(page.getByRole("article", { name: "Evidence" })).toContainText(
    "retail-desk/accounts-are-deleted-by-the-privacy-team",
  );

  await ana.open("/denials");
  await row.getByRole("button", { name: "Acknowledge…" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByRole("button", { name: "Acknowledge" })).toBeDisabled();
  await dialog.getByRole("textbox", { name: "Note" }).fill("Sent on to the privacy team.");
  await dialog.getByRole("button", { name: "Acknowledge" }).click();
  await expect(page.getByText("Nothing to look at")).toBeVisible();
  await page.getByLabel("Acknowledged", { exact: true }).selectOption("yes");
  const { name } = await ana.read("/me");
  await expect(row).toContainText(`acknowledged by ${name}`);
  await expect(row).toContainText("Sent on to the privacy team.");
  await ana.isAccessible("an acknowledged denial");
  await ana.shootBothThemes("denials-acknowledged");

  await ana.open("/audit?verb=acknowledge-denial");
  await expect(audit(page)).toHaveCount(1);
  await expect(audit(page)).toContainText("accepted");
  await expect(audit(page)).toContainText(name);
  await expect(audit(page)).toContainText("Sent on to the privacy team.");
  // Taking note of it ran nothing.
  expect(await stateOf(runId)).toBe("failed");
  const kept = `SELECT deleted_at FROM retail.customers WHERE email = 'tom.lindqvist@example.com'`;
  expect(await product.sql(kept)).toEqual([{ deleted_at: null }]);
});

test("[DU-12][C011] aborting a run that waits for a person asks for a reason, withdraws its request, and the audit says who and why", async () => {
  const { ana } = product;
  const { page } = ana;
  const runId = await start("refund-above-limit");
  const { requestId } = await requestOf(runId);
  const queue = await ana.context.newPage();
  await queue.goto(`${ana.origin}/approvals?request=${requestId}`);
  await expect(queue.getByRole("button", { name: "Approve" })).toBeVisible();
  const isStillHere = await remembered(queue);

  await ana.open(`/runs/${runId}`);
  await ana.isLive();
  await page.getByRole("button", { name: "Abort…" }).click();
  const dialog = page.getByRole("dialog", { name: "Abort this run?" });
  await expect(dialog).toContainText("One pending approval is withdrawn.");
  const confirm = dialog.getByRole("button", { name: "Abort the run" });
  await expect(confirm).toBeDisabled();
  await dialog.getByRole("textbox", { name: /^Reason/ }).fill("The customer has called it off.");
  await ana.isAccessible("the question before an abort");
  await ana.shootBothThemes("run-abort-asked");
  await confirm.click();

  const { name } = await ana.read("/me");
  const panel = page.getByRole("tabpanel");
  await expect(panel).toContainText("Aborted by", { timeout: 30_000 });
  await expect(panel).toContainText(`${name} at`);
  await expect(panel).toContainText("The customer has called it off.");
  await comesTo(runId, "aborted");
  await expect(page.getByText("aborted", { exact: true }).first()).toBeVisible();
  await expect(page.getByRole("button", { name: "Abort…" })).toHaveCount(0);
  await expect(call(page, "issue_refund")).not.toHaveAttribute("data-state", /waiting|succeeded/);
  await ana.shootBothThemes("run-aborted");

  // The queue in the other window has lost it by itself; the open card stays and says why.
  await expect(queue.locator("[data-outcome]")).toContainText("Withdrawn because the run ended");
  await expect(queue.getByRole("button", { name: /^(Approve|Deny|Extend)/ })).toHaveCount(0);
  await expect(queue.locator("[data-count]")).toHaveText(/^0 pending/);
  expect(await isStillHere()).toBe(true);
  await queue.close();
  expect((await ana.read("/approvals")).items).toEqual([]);
  const late = await approveAnyway(requestId);
  expect(late.status).toBe(409);
  expect(late.body.message).toContain("was withdrawn because its run ended;");

  await ana.open(`/audit?verb=abort-run&runId=${runId}`);
  await expect(audit(page)).toHaveCount(1);
  await expect(audit(page)).toContainText("accepted");
  await expect(audit(page)).toContainText(name);
  await expect(audit(page)).toContainText("The customer has called it off.");
  await ana.shootBothThemes("audit-abort");
  expect(await product.sql("SELECT 1 FROM retail.provider_requests")).toEqual([]);
});

test("[F-02][F-03][DX-07][OP-04][C093] what a tool declares goes back to the model; what breaks it ends the run, with the evidence one step away and grouped with its like", async () => {
  const { ana } = product;
  const { page } = ana;
  const declined = await start("declined-refund");
  await comesTo(declined, "completed");
  await ana.open(`/runs/${declined}`);
  const refused = call(page, "issue_refund");
  await expect(refused).toHaveAttribute("data-state", "failed");
  await expect(refused).toContainText("the payment provider declined the refund of 64.50");
  await refused.getByRole("button").first().click();
  await expect(refused).toContainText("this failure was returned to the model");
  await ana.shootBothThemes("run-tool-failed");

  // A shop without its customers: no answer that any tool declares.
  const away = (from: string, to: string) =>
    product.sql(`ALTER TABLE retail.${from} RENAME TO ${to}`);
  const broken: Array<string> = [];
  await away("customers", "customers_away");
  try {
    for (const id of ["where-is-my-order", "small-refund"]) {
      const runId = await start(id);
      await comesTo(runId, "failed");
      broken.push(runId);
    }
  } finally {
    await away("customers_away", "customers");
  }
  const [, second = ""] = broken;
  await ana.open(`/runs/${second}`);
  const panel = page.getByRole("tabpanel");
  await expect(panel).toContainText("Defect");
  await expect(panel).not.toContainText('customers" does not exist');
  // It ran, although a readonly call leaves no promise behind.
  const broke = call(page, "find_user_id_by_email");
  await expect(broke).toHaveAttribute("data-state", "failed");
  await expect(broke).toContainText("The tool broke while it ran");
  await expect(broke).toContainText("queued and ran");
  await broke.getByRole("button").first().click();
  await expect(broke.getByRole("link", { name: "Private evidence" })).toBeVisible();
  await ana.isAccessible("a run that a defect ended");
  await ana.shootBothThemes("run-defect");
  await ana.shootOnPhone("run-defect");
  await panel.getByRole("link", { name: "Private evidence" }).first().click();
  const evidence = page.getByRole("article", { name: "Evidence" });
  // Containers this deep start closed: the error, what it says of itself, and what PostgreSQL said to it.
  for (const name of ["defect", "reason", "cause"])
    await evidence
      .getByRole("treeitem", { expanded: false })
      .filter({ hasText: `${name}:` })
      .click();
  await expect(evidence).toContainText('relation "retail.customers" does not exist');
  await expect(evidence.getByText("find_user_id_by_email").first()).toBeVisible();
  const fingerprint = await evidence.getByText(/^[0-9a-f]{16}$/).innerText();
  const group = page.getByRole("region", { name: `Fingerprint ${fingerprint}` });
  await expect(group).toContainText("2 failures here");
  await expect(group.getByRole("listitem")).toHaveCount(2);
  await ana.isAccessible("failures, grouped");
  await ana.shootBothThemes("failures-grouped");
  await evidence.getByRole("link", { name: second }).click();
  await page.waitForURL(`**/runs/${second}`);
  await expect(page.getByText("failed", { exact: true }).first()).toBeVisible();

  // The shop is whole again, and so is the desk.
  await comesTo(await start("where-is-my-order"), "completed");
  expect(ana.faults).toEqual([]);
});

/** Four refunds under way when the host is killed with -9, each doubt answered in one of the four ways. */
import { expect, type Locator, test } from "@playwright/test";
import { type PaymentBook, startPaymentBook } from "../support/payment-book.ts";
import { launchedProduct } from "./pages/launched-product.ts";

/** Below the limit that needs an approval, so that nothing but the kill stands between a refund and its answer. */
const doubts = {
  "completed-with-result": { customer: "victor.silva", order: "#W1000010", amount: "24.99" },
  "never-happened": { customer: "nadia.haddad", order: "#W1000005", amount: "64.50" },
  "safe-to-retry": { customer: "omar.castillo", order: "#W1000006", amount: "89.00" },
  "abort-submission": { customer: "ruth.abebe", order: "#W1000009", amount: "49.00" },
} as const;
type Way = keyof typeof doubts;
// Exactly the keys of the map above.
const ways = Object.keys(doubts) as ReadonlyArray<Way>;

/** What the form calls each way, and what it says that it does. */
const offers: Record<Way, readonly [name: RegExp, effect: RegExp]> = {
  "completed-with-result": [/^It happened/, /The tool is not called/],
  "never-happened": [/^It never happened/, /The call runs now/],
  "safe-to-retry": [/^Safe to run again/, /once more with the same idempotency key/],
  "abort-submission": [/^Abort the run/, /Nothing further runs/],
};

/** Which of them the provider had booked when the host died; the other two it had only heard of. */
const booked: ReadonlyArray<string> = [
  doubts["completed-with-result"].order,
  doubts["safe-to-retry"].order,
];

let book: PaymentBook;
const runs = new Map<Way, string>();

test.beforeAll(async () => {
  book = await startPaymentBook((orderId) => booked.includes(orderId));
});
const product = launchedProduct(
  "doubts",
  async () => {},
  () => ({ PAYMENT_PROVIDER_URL: book.url }),
);
test.afterAll(() => book.close());

const effects = () => ways.map((way) => book.refundsOf(doubts[way].order).length);
const asked = () => ways.map((way) => book.askedFor(doubts[way].order).length);
const stateOf = async (way: Way): Promise<string> =>
  (await product.ana.read(`/runs/${runs.get(way)}`)).state;

test("[C101][scenario 16] four refunds under way at a kill -9 are four effects in doubt after the start, and none is sent again", async () => {
  for (const way of ways) {
    const { customer, order, amount } = doubts[way];
    const text = `${customer}@example.com here. Please refund $${amount} for order ${order} to my card.`;
    runs.set(way, await product.ana.start(text, way));
  }
  await expect.poll(() => book.inFlight(), { timeout: 30_000 }).toBe(4);
  expect(effects()).toEqual([1, 0, 1, 0]);

  await product.restart(async () => {
    await expect.poll(() => book.inFlight()).toBe(0);
    // Whoever sends one of them again now would be answered, and would be seen in the book.
    book.answerFromNow();
  }, "SIGKILL");

  const { page } = product.ana;
  await product.ana.open("/unknowns");
  const rows = page.getByRole("list", { name: "Effects in doubt" }).getByRole("listitem");
  await expect(rows).toHaveCount(4, { timeout: 30_000 });
  await expect(page.getByRole("navigation", { name: "Pages" })).toContainText(/Unknowns\s*4 open/);
  await expect(rows.first()).toContainText("the process was lost before it recorded an answer");
  expect(await Promise.all(ways.map(stateOf))).toEqual(ways.map(() => "unknown"));
  // The provider was asked by the call's own key before a person is, and hung up.
  for (const way of ways) {
    const [key = ""] = book.askedFor(doubts[way].order);
    expect(book.statusQueriesOf(key), way).toBeGreaterThan(0);
  }
  expect([effects(), asked()]).toEqual([
    [1, 0, 1, 0],
    [1, 1, 1, 1],
  ]);
  await product.ana.shoot("doubts");
});

/** Types the result that the provider's book shows, at first with a number where a text belongs. */
const typeResult = async (editor: Locator, resolve: Locator): Promise<void> => {
  const [entry] = book.refundsOf(doubts["completed-with-result"].order);
  const receipt = {
    provider_id: entry?.entry_id,
    order_id: entry?.order_id,
    payment_method_id: entry?.payment_method_id,
    amount: entry?.amount,
    outcome: "completed",
  };
  const text = JSON.stringify(receipt, null, 2);
  await editor.fill(text.replace(`"${entry?.amount}"`, `${entry?.amount}`));
  await expect(editor.page().getByRole("list", { name: "Problems" })).toContainText(
    "must be a string",
  );
  await editor.fill(`${text},`);
  await expect(resolve).toBeDisabled();
  await editor.fill(text);
};

/** The call of a run that was ended instead of settling its doubt: by whom, when, and nothing left to do or to count. */
const saysHowItEnded = async (refund: Locator): Promise<void> => {
  const { ana } = product;
  const { name } = await ana.read("/me");
  await expect(refund.locator("[data-doubt]")).toContainText(
    new RegExp(`^${name} ended the run at .*: whether it happened is not known\\.$`),
  );
  await expect(refund.getByRole("link", { name: "Its resolution" })).toBeVisible();
  await expect(refund.getByRole("link", { name: /^Resolve/ })).toHaveCount(0);
  const panel = ana.page.getByRole("tabpanel");
  await expect(panel).toContainText("Aborted by");
  await expect(panel).toContainText(`${name} at`);
  const ran = refund.getByText(/^ran at most/);
  const before = await ran.innerText();
  await ana.page.waitForTimeout(2_100);
  expect(await ran.innerText()).toBe(before);
  await ana.isAccessible("a call that was left in doubt");
  await ana.shootBothThemes("call-left-in-doubt");
  await ana.shootOnPhone("call-left-in-doubt");
};

for (const way of ways)
  test(`[C102][DU-07][scenario 17] the doubt is resolved as ${way}: asked twice, with its effect stated`, async () => {
    const { page } = product.ana;
    const { items } = await product.ana.read("/unknowns");
    const doubt = items.find((item: { runId: string }) => item.runId === runs.get(way));
    await product.ana.open(`/unknowns?unknown=${doubt.unknownId}`);
    await product.ana.isLive();
    const [name, effect] = offers[way];
    const resolve = page.getByRole("button", { name: /^(Resolve|Press again to resolve)$/ });
    await page.getByRole("radio", { name }).check();
    await page
      .getByRole("textbox", { name: "Evidence" })
      .fill("The provider's book, read over the phone.");
    await page.getByRole("textbox", { name: "Reason" }).fill(`So it is: ${way}.`);
    if (way === "completed-with-result") {
      await expect(resolve).toBeDisabled();
      await typeResult(page.getByRole("textbox", { name: "Result as JSON" }), resolve);
    }
    await expect(resolve).toHaveText("Resolve");
    await expect(page.locator("form").getByText(effect)).toHaveCount(2);
    const before = [effects(), asked()];
    await resolve.click();
    await expect(resolve).toHaveText("Press again to resolve");
    expect((await product.ana.read(`/unknowns/${doubt.unknownId}`)).state).toBe("open");
    expect([effects(), asked()]).toEqual(before);
    await resolve.click();
    await expect(page.getByText("stays in the run's history")).toBeVisible();
    await expect(page.getByText(way, { exact: true }).first()).toBeVisible();
    await expect
      .poll(() => stateOf(way), { timeout: 30_000 })
      .toBe(way === "abort-submission" ? "aborted" : "completed");
  });

test("[C102][DU-07][DU-08][scenario 17] each run's page shows what its answer made of it, and the provider's book has as many effects", async () => {
  const { page } = product.ana;
  // Booked once for good: by the kill's refund, by the run after it, once under one key for both, and never.
  expect([effects(), asked()]).toEqual([
    [1, 1, 1, 0],
    [1, 2, 2, 1],
  ]);
  const shown = {
    "completed-with-result": { run: "completed", call: "succeeded", prepared: 1 },
    "never-happened": { run: "completed", call: "succeeded", prepared: 2 },
    "safe-to-retry": { run: "completed", call: "succeeded", prepared: 2 },
    "abort-submission": { run: "aborted", call: "unknown", prepared: 1 },
  } as const;
  for (const way of ways) {
    const { order, amount } = doubts[way];
    const { run, call, prepared } = shown[way];
    expect(new Set(book.askedFor(order)).size, `${way}: one key`).toBe(1);
    await product.ana.open(`/runs/${runs.get(way)}`);
    await expect(page.getByText(run, { exact: true }).first(), way).toBeVisible();
    const refund = page.locator("[data-call]").filter({ hasText: "issue_refund" });
    await expect(refund, way).toHaveCount(1);
    await expect(refund, way).toHaveAttribute("data-state", call);
    await refund.getByRole("button").first().click();
    if (way === "abort-submission") await saysHowItEnded(refund);
    const itsDoubt = await refund.getByRole("link", { name: /resol/i }).getAttribute("href");
    const [entry] = book.refundsOf(order);
    if (entry !== undefined) {
      await expect(refund, way).toContainText(entry.entry_id);
      // What the model read is what it tells the customer.
      const told = `$${amount} for order ${order} went back to ${entry.payment_method_id} (the provider's number is ${entry.entry_id}).`;
      await expect(page.getByText(told).first(), way).toBeVisible();
    } else {
      await expect(page.getByText("went back to"), way).toHaveCount(0);
    }
    await product.ana.shoot(`resolved-${way}`);
    await page.getByRole("tab", { name: "records" }).click();
    const records = page.locator('ol[aria-label="Records"] > li');
    await expect(records.filter({ hasText: "ToolCallPrepared" }), way).toHaveCount(prepared);
    await expect(records.filter({ hasText: "ToolCallUnknown" }), way).toHaveCount(1);
    await expect(records.filter({ hasText: "UnknownResolved" }), way).toHaveCount(1);
    await product.ana.open(itsDoubt ?? "/");
    await expect(page.getByText(`So it is: ${way}.`).first(), way).toBeVisible();
  }
  await product.ana.open("/unknowns");
  await expect(page.getByText("No effect is in doubt")).toBeVisible();
  expect(product.ana.faults).toEqual([]);
});

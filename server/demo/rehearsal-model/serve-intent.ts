/** How each intent is served, call by call. Every function is run again on every turn from the results so far. */
import { formatCents } from "../data/money.ts";
import {
  Customer,
  Discovered,
  Label,
  Mail,
  Order,
  Receipt,
  Rows,
  Shipment,
  UserId,
} from "./facts.ts";
import type { Intent, ReportKind, Wish } from "./intents.ts";
import type { Planner } from "./planner.ts";

type OrderFacts = typeof Order.Type;

const identify = (planner: Planner, wish: Wish): string | undefined => {
  if (wish.email === undefined && wish.nameAndZip === undefined) {
    planner.say("I need the e-mail address or the name and zip code of the customer.");
    return undefined;
  }
  if (wish.email !== undefined) {
    const byEmail = planner.ask("find_user_id_by_email", { email: wish.email }, UserId);
    if (byEmail._tag === "Got") return byEmail.value;
    if (byEmail._tag === "Pending") return undefined;
    if (wish.nameAndZip === undefined) {
      planner.say(`I could not find the customer ${wish.email}: ${byEmail.why}.`);
      return undefined;
    }
  }
  const { firstName, lastName, zip } = wish.nameAndZip ?? { firstName: "", lastName: "", zip: "" };
  const byName = planner.ask(
    "find_user_id_by_name_zip",
    { first_name: firstName, last_name: lastName, zip },
    UserId,
  );
  if (byName._tag === "Failed")
    planner.say(`I could not find the customer ${firstName} ${lastName}: ${byName.why}.`);
  return byName._tag === "Got" ? byName.value : undefined;
};

/** The customer's own order; asks for both at once and says what is wrong with them. */
const ownOrder = (
  planner: Planner,
  wish: Wish,
  orderId: string,
): { readonly userId: string; readonly order: OrderFacts } | undefined => {
  const userId = identify(planner, wish);
  const order = planner.ask("get_order_details", { order_id: orderId }, Order);
  if (order._tag === "Failed") planner.say(`I could not look at order ${orderId}: ${order.why}.`);
  if (order._tag !== "Got" || userId === undefined) return undefined;
  if (order.value.user_id !== userId) {
    planner.say(`Order ${orderId} does not belong to this customer, so I did not touch it.`);
    return undefined;
  }
  return { userId, order: order.value };
};

const mail = (planner: Planner, wish: Wish, userId: string, subject: string, body: string) => {
  if (!wish.wantsMail) return;
  const sent = planner.ask("send_email", { user_id: userId, subject, body }, Mail);
  if (sent._tag === "Got") planner.say(`An e-mail to ${sent.value.recipient} confirms it.`);
  if (sent._tag === "Failed") planner.say(`The e-mail could not be sent: ${sent.why}.`);
};

const centsOf = (price: number) => Math.round(price * 100);

const amountToRefund = (order: OrderFacts, text: string, amount: string | undefined): string => {
  if (amount !== undefined) return amount;
  const named = order.items.filter(({ name }) => text.includes(name));
  return formatCents(
    (named.length > 0 ? named : order.items).reduce((sum, { price }) => sum + centsOf(price), 0),
  );
};

const refund = (planner: Planner, wish: Wish, intent: Extract<Intent, { _tag: "Refund" }>) => {
  const own = ownOrder(planner, wish, intent.orderId);
  if (own === undefined) return;
  const payment_method_id = own.order.payment_history[0]?.payment_method_id ?? "";
  const amount = amountToRefund(own.order, planner.conversation.text, intent.amount);
  const receipt = planner.ask(
    "issue_refund",
    { order_id: intent.orderId, payment_method_id, amount, reason: intent.reason },
    Receipt,
  );
  if (receipt._tag === "Failed")
    planner.say(
      `The refund of $${amount} for order ${intent.orderId} was not made: ${receipt.why}.`,
    );
  if (receipt._tag !== "Got") return;
  planner.say(
    `$${receipt.value.amount} for order ${intent.orderId} went back to ${receipt.value.payment_method_id} (the provider's number is ${receipt.value.provider_id}).`,
  );
  mail(
    planner,
    wish,
    own.userId,
    `Your refund for order ${intent.orderId}`,
    `We have refunded $${receipt.value.amount} to ${receipt.value.payment_method_id}.`,
  );
};

const cancel = (planner: Planner, wish: Wish, intent: Extract<Intent, { _tag: "Cancel" }>) => {
  const own = ownOrder(planner, wish, intent.orderId);
  if (own === undefined) return;
  const result = planner.ask(
    "cancel_pending_order",
    { order_id: intent.orderId, reason: intent.reason },
    Order,
  );
  if (result._tag === "Failed")
    planner.say(`Order ${intent.orderId} was not cancelled: ${result.why}.`);
  if (result._tag === "Got")
    planner.say(`Order ${intent.orderId} is cancelled; the money goes back the way it came.`);
};

const shipTo = (planner: Planner, wish: Wish, intent: Extract<Intent, { _tag: "ShipTo" }>) => {
  const own = ownOrder(planner, wish, intent.orderId);
  if (own === undefined) return;
  const result = planner.ask(
    "modify_pending_order_address",
    { order_id: intent.orderId, ...intent.address },
    Order,
  );
  if (result._tag === "Failed")
    planner.say(`The shipping address of order ${intent.orderId} was not changed: ${result.why}.`);
  if (result._tag === "Got")
    planner.say(
      `Order ${intent.orderId} will be shipped to ${intent.address.address1}, ${intent.address.city}.`,
    );
};

const homeAddress = (
  planner: Planner,
  wish: Wish,
  intent: Extract<Intent, { _tag: "HomeAddress" }>,
) => {
  const userId = identify(planner, wish);
  // Alone it can go at once; beside other wishes it joins their first batch of changes.
  if (userId === undefined) return;
  const result = planner.ask(
    "modify_user_address",
    { user_id: userId, ...intent.address },
    Customer,
  );
  if (result._tag === "Failed") planner.say(`The home address was not changed: ${result.why}.`);
  if (result._tag === "Got")
    planner.say(`The home address is now ${intent.address.address1}, ${intent.address.city}.`);
};

const returnMethod = (planner: Planner, userId: string, order: OrderFacts): string | undefined => {
  const original = order.payment_history[0]?.payment_method_id;
  const source = /gift card/i.test(planner.conversation.text) ? "gift_card" : undefined;
  if (source === undefined) return original;
  const customer = planner.ask("get_user_details", { user_id: userId }, Customer);
  if (customer._tag !== "Got") return undefined;
  return (
    Object.values(customer.value.payment_methods).find((method) => method.source === source)?.id ??
    original
  );
};

const giveBack = (planner: Planner, wish: Wish, intent: Extract<Intent, { _tag: "Return" }>) => {
  const own = ownOrder(planner, wish, intent.orderId);
  if (own === undefined) return;
  const payment_method_id = returnMethod(planner, own.userId, own.order);
  if (payment_method_id === undefined) return;
  const named = own.order.items.filter(({ name }) => planner.conversation.text.includes(name));
  const items = named.length > 0 ? named : own.order.items;
  const item_ids = items.map(({ item_id }) => item_id);
  const result = planner.ask(
    "return_delivered_order_items",
    { order_id: intent.orderId, item_ids, payment_method_id },
    Order,
  );
  if (result._tag === "Failed")
    planner.say(`The return for order ${intent.orderId} was not requested: ${result.why}.`);
  if (result._tag !== "Got") return;
  planner.say(
    `The return of ${items.map(({ name }) => name).join(" and ")} is requested; the money goes to ${payment_method_id} when they are back.`,
  );
  if (intent.carrier === undefined) return;
  const label = planner.ask(
    "create_return_label",
    { order_id: intent.orderId, carrier: intent.carrier },
    Label,
  );
  if (label._tag === "Failed") planner.say(`No label could be made: ${label.why}.`);
  if (label._tag !== "Got") return;
  planner.say(`The ${label.value.carrier} label has the number ${label.value.label_id}.`);
  mail(
    planner,
    wish,
    own.userId,
    `Your return label for order ${intent.orderId}`,
    `Your ${label.value.carrier} label is ${label.value.label_id}.`,
  );
};

const track = (planner: Planner, wish: Wish, orderId: string) => {
  if (ownOrder(planner, wish, orderId) === undefined) return;
  const shipment = planner.ask("track_shipment", { order_id: orderId }, Shipment);
  if (shipment._tag === "Failed")
    planner.say(`I could not track order ${orderId}: ${shipment.why}.`);
  if (shipment._tag !== "Got") return;
  const numbers = shipment.value.parcels.flatMap(({ tracking_id }) => tracking_id);
  planner.say(
    `Order ${orderId} is ${shipment.value.whereabouts}${numbers.length === 0 ? "" : ` (tracking ${numbers.join(", ")})`}.`,
  );
};

const deleteAccount = (planner: Planner, wish: Wish) => {
  const userId = identify(planner, wish);
  if (userId === undefined) return;
  const result = planner.ask("delete_customer", { user_id: userId }, UserId);
  if (result._tag === "Failed") planner.say(`The account was not deleted: ${result.why}.`);
  if (result._tag === "Got") planner.say("The account is deleted.");
};

const takesLimit: ReadonlySet<ReportKind> = new Set([
  "report_sales_by_product",
  "report_top_customers",
]);

const report = (planner: Planner, kinds: ReadonlyArray<ReportKind>) => {
  const hidden = kinds.filter(
    (kind) => !planner.offers(kind) && !planner.conversation.made.some(({ tool }) => tool === kind),
  );
  if (hidden.length > 0) {
    const found = planner.ask(
      "discover_tools",
      { query: "report", namespace: "reports" },
      Discovered,
    );
    if (found._tag === "Pending") return;
    planner.say(`I could not find the report tools ${hidden.join(", ")}.`);
    if (hidden.length === kinds.length) return;
  }
  for (const kind of kinds.filter((each) => !hidden.includes(each))) {
    const rows = planner.ask(kind, takesLimit.has(kind) ? { limit: 5 } : {}, Rows);
    const title = kind.replace(/^report_/, "").replaceAll("_", " ");
    if (rows._tag === "Failed")
      planner.say(`The report on ${title} could not be made: ${rows.why}.`);
    if (rows._tag === "Got") {
      const lines = rows.value.map((row) => Object.values(row).map(String).join(", "));
      planner.say(`Report on ${title}: ${lines.length === 0 ? "nothing yet" : lines.join("; ")}.`);
    }
  }
};

export const serveIntent = (planner: Planner, wish: Wish, intent: Intent): void => {
  switch (intent._tag) {
    case "Refund":
      return refund(planner, wish, intent);
    case "Cancel":
      return cancel(planner, wish, intent);
    case "ShipTo":
      return shipTo(planner, wish, intent);
    case "HomeAddress":
      return homeAddress(planner, wish, intent);
    case "Return":
      return giveBack(planner, wish, intent);
    case "Track":
      return track(planner, wish, intent.orderId);
    case "DeleteAccount":
      return deleteAccount(planner, wish);
    case "Report":
      return report(planner, intent.kinds);
  }
};

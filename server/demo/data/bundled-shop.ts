/**
 * The shop that comes with the product: 300 customers, 600 orders, 50 products,
 * made from a seed at load time, in the record format of a data set folder.
 */
import { featuredCustomers, type FeaturedCustomer, type FeaturedOrder } from "./featured.ts";
import { amountOfCents } from "./money.ts";
import type {
  Address,
  OrderRecord,
  OrderStatus,
  PaymentMethod,
  ProductRecord,
  ShopDataSet,
  UserRecord,
} from "./records.ts";
import { makeSeededRandom, type SeededRandom } from "./seeded-random.ts";
import {
  cities,
  firstNames,
  lastNames,
  productLines,
  secondLines,
  streets,
  type ProductLine,
} from "./vocabulary.ts";

const customerCount = 300;
const orderCount = 600;
const variantsPerProduct = 8;

const makeVariants = (random: SeededRandom, line: ProductLine): ProductRecord["variants"] => {
  const variants: Record<string, ProductRecord["variants"][string]> = {};
  const seen = new Set<string>();
  // Ids are digit strings of ten, like those of the public data sets; they sort as text.
  for (
    let attempt = 0;
    Object.keys(variants).length < variantsPerProduct && attempt < 200;
    attempt += 1
  ) {
    const options = Object.fromEntries(
      Object.entries(line.options).map(([axis, values]) => [axis, random.pick(values)]),
    );
    const key = JSON.stringify(options);
    if (seen.has(key)) continue;
    seen.add(key);
    const [low, high] = line.cents;
    const item_id = random.digits(10);
    variants[item_id] = {
      item_id,
      options,
      available: random.below(5) > 0,
      price: amountOfCents(low + random.below(high - low + 1)),
    };
  }
  return variants;
};

const makeProducts = (random: SeededRandom): Record<string, ProductRecord> =>
  Object.fromEntries(
    productLines.map((line) => {
      const product_id = random.digits(10);
      return [product_id, { name: line.name, product_id, variants: makeVariants(random, line) }];
    }),
  );

const makeAddress = (random: SeededRandom, zip?: string): Address => {
  const [city, state, prefix] =
    zip === undefined
      ? random.pick(cities)
      : (cities.find(([, , start]) => zip.startsWith(start)) ?? random.pick(cities));
  return {
    address1: `${1 + random.below(980)} ${random.pick(streets)}`,
    address2: random.pick(secondLines),
    city,
    country: "USA",
    state,
    zip: zip ?? `${prefix}${String(random.below(1000)).padStart(3, "0")}`,
  };
};

const makeMethod = (
  random: SeededRandom,
  source: PaymentMethod["source"],
  giftCardCents?: number,
): PaymentMethod => {
  const id = `${source}_${random.digits(7)}`;
  switch (source) {
    case "credit_card":
      return {
        source,
        brand: random.pick(["visa", "mastercard"]),
        last_four: random.digits(4),
        id,
      };
    case "gift_card":
      return { source, balance: amountOfCents(giftCardCents ?? 100 * random.below(101)), id };
    case "paypal":
      return { source, id };
  }
};

interface PickedItem {
  readonly product: ProductRecord;
  readonly item_id: string;
  readonly cents: number;
}

const makeOrder = (
  random: SeededRandom,
  order_id: string,
  user_id: string,
  user: Pick<UserRecord, "address">,
  status: OrderStatus,
  items: ReadonlyArray<PickedItem>,
  payment_method_id: string,
): OrderRecord => {
  const total = amountOfCents(items.reduce((sum, { cents }) => sum + cents, 0));
  const payment = { transaction_type: "payment" as const, amount: total, payment_method_id };
  const shipped = status === "processed" || status === "delivered";
  return {
    order_id,
    user_id,
    address: user.address,
    items: items.map(({ product, item_id, cents }) => ({
      name: product.name,
      product_id: product.product_id,
      item_id,
      price: amountOfCents(cents),
      options: product.variants[item_id]?.options ?? {},
    })),
    fulfillments: shipped
      ? [{ tracking_id: [random.digits(12)], item_ids: items.map(({ item_id }) => item_id) }]
      : [],
    status,
    payment_history:
      status === "cancelled" ? [payment, { ...payment, transaction_type: "refund" }] : [payment],
    ...(status === "cancelled"
      ? { cancel_reason: random.pick(["no longer needed", "ordered by mistake"]) }
      : {}),
  };
};

const itemOf = (random: SeededRandom, product: ProductRecord, cents?: number): PickedItem => {
  const variant = random.pick(Object.values(product.variants));
  return { product, item_id: variant.item_id, cents: cents ?? Math.round(variant.price * 100) };
};

const makeShop = (seed: number): ShopDataSet => {
  const random = makeSeededRandom(seed);
  const products = makeProducts(random);
  const productList = Object.values(products);
  const users: Record<string, UserRecord> = {};
  const orders: Record<string, OrderRecord> = {};

  const productNamed = (name: string): ProductRecord => {
    const found = productList.find((product) => product.name === name);
    if (found === undefined)
      throw new Error(`featured.ts names the product line "${name}", which vocabulary.ts lacks`);
    return found;
  };

  const addFeatured = (customer: FeaturedCustomer) => {
    const method = makeMethod(random, customer.method);
    const methods = [
      method,
      ...(customer.giftCardCents === undefined
        ? []
        : [makeMethod(random, "gift_card", customer.giftCardCents)]),
    ];
    const user: UserRecord = {
      name: { first_name: customer.firstName, last_name: customer.lastName },
      address: makeAddress(random, customer.zip),
      email: customer.email,
      payment_methods: Object.fromEntries(methods.map((each) => [each.id, each])),
      orders: customer.orders.map(({ orderId }) => orderId),
    };
    users[customer.userId] = user;
    const addOrder = ({ orderId, status, items }: FeaturedOrder) => {
      const picked = items.map(([name, cents]) => itemOf(random, productNamed(name), cents));
      orders[orderId] = makeOrder(
        random,
        orderId,
        customer.userId,
        user,
        status,
        picked,
        method.id,
      );
    };
    customer.orders.forEach(addOrder);
  };
  featuredCustomers.forEach(addFeatured);

  while (Object.keys(users).length < customerCount) {
    const [firstName, lastName, number] = [
      random.pick(firstNames),
      random.pick(lastNames),
      random.digits(4),
    ];
    const userId = `${firstName}_${lastName}_${number}`.toLowerCase();
    if (users[userId] !== undefined) continue;
    const methods = random
      .sample<PaymentMethod["source"]>(["credit_card", "gift_card", "paypal"], 1 + random.below(3))
      .map((source) => makeMethod(random, source));
    users[userId] = {
      name: { first_name: firstName, last_name: lastName },
      address: makeAddress(random),
      email: `${firstName}.${lastName}${number}@example.com`.toLowerCase(),
      payment_methods: Object.fromEntries(methods.map((each) => [each.id, each])),
      orders: [],
    };
  }

  const featuredIds = new Set(featuredCustomers.map(({ userId }) => userId));
  const buyers = Object.keys(users).filter((userId) => !featuredIds.has(userId));
  const statuses: ReadonlyArray<OrderStatus> = [
    "pending",
    "pending",
    "pending",
    "pending",
    "delivered",
    "delivered",
    "delivered",
    "delivered",
    "processed",
    "cancelled",
  ];
  while (Object.keys(orders).length < orderCount) {
    const orderId = `#W${random.digits(7)}`;
    const userId = random.pick(buyers);
    const user = users[userId];
    if (orders[orderId] !== undefined || user === undefined) continue;
    const picked = random
      .sample(productList, 1 + random.below(4))
      .map((product) => itemOf(random, product));
    const methodId = random.pick(Object.keys(user.payment_methods));
    orders[orderId] = makeOrder(
      random,
      orderId,
      userId,
      user,
      random.pick(statuses),
      picked,
      methodId,
    );
    users[userId] = { ...user, orders: [...user.orders, orderId] };
  }
  return { name: `bundled ${seed}`, users, orders, products };
};

/** The bundled shop; the same records on every machine. */
export const bundledShop = (): ShopDataSet => makeShop(20_260_918);

/**
 * The customers and orders that the ready-made requests are about. They are
 * fixed so that a request's text, its order and the payment provider's scenario
 * rules agree. Items are named by product line and chosen by index, so prices
 * that a request depends on are set here.
 */
import type { OrderStatus } from "./records.ts";

export interface FeaturedOrder {
  readonly orderId: string;
  readonly status: OrderStatus;
  /** Product line name and the exact price this order paid, in cents. */
  readonly items: ReadonlyArray<readonly [productName: string, cents: number]>;
}

export interface FeaturedCustomer {
  readonly userId: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly email: string;
  readonly zip: string;
  readonly method: "credit_card" | "paypal";
  readonly giftCardCents?: number;
  readonly orders: ReadonlyArray<FeaturedOrder>;
}

const customer = (
  number: number,
  firstName: string,
  lastName: string,
  zip: string,
  method: FeaturedCustomer["method"],
  orders: ReadonlyArray<FeaturedOrder>,
  giftCardCents?: number,
): FeaturedCustomer => ({
  userId: `${firstName}_${lastName}_${number}`.toLowerCase(),
  firstName,
  lastName,
  email: `${firstName}.${lastName}@example.com`.toLowerCase(),
  zip,
  method,
  orders,
  ...(giftCardCents === undefined ? {} : { giftCardCents }),
});

export const featuredCustomers: ReadonlyArray<FeaturedCustomer> = [
  customer(1001, "Maya", "Okafor", "97209", "credit_card", [
    {
      orderId: "#W1000001",
      status: "delivered",
      items: [
        ["Coffee Grinder", 12990],
        ["Travel Mug", 2450],
      ],
    },
  ]),
  customer(1002, "Leo", "Brandt", "78704", "credit_card", [
    {
      orderId: "#W1000002",
      status: "pending",
      items: [
        ["Standing Desk", 48900],
        ["Desk Lamp", 7900],
      ],
    },
  ]),
  customer(1003, "Ines", "Moreau", "80302", "paypal", [
    {
      orderId: "#W1000003",
      status: "pending",
      items: [
        ["Two-person Tent", 27900],
        ["Camping Stove", 6450],
      ],
    },
  ]),
  customer(1004, "Tom", "Lindqvist", "53703", "paypal", [
    { orderId: "#W1000004", status: "delivered", items: [["Board Game", 3490]] },
  ]),
  customer(1005, "Nadia", "Haddad", "31401", "credit_card", [
    {
      orderId: "#W1000005",
      status: "delivered",
      items: [
        ["Linen Shirt", 6450],
        ["Wool Sweater", 8900],
      ],
    },
  ]),
  customer(1006, "Omar", "Castillo", "85701", "credit_card", [
    {
      orderId: "#W1000006",
      status: "delivered",
      items: [
        ["Bluetooth Speaker", 8900],
        ["Power Bank", 3950],
      ],
    },
  ]),
  customer(1007, "Grace", "Whitman", "55802", "credit_card", [
    { orderId: "#W1000007", status: "processed", items: [["Field Watch", 15900]] },
  ]),
  customer(
    1008,
    "Felix",
    "Novak",
    "14850",
    "paypal",
    [
      {
        orderId: "#W1000008",
        status: "delivered",
        items: [
          ["Trail Shoes", 11900],
          ["Rain Jacket", 12900],
          ["Umbrella", 2900],
        ],
      },
    ],
    4500,
  ),
  customer(1009, "Ruth", "Abebe", "98402", "credit_card", [
    {
      orderId: "#W1000009",
      status: "delivered",
      items: [
        ["Headphones", 14900],
        ["Charging Dock", 4900],
      ],
    },
  ]),
  customer(1010, "Victor", "Silva", "28801", "credit_card", [
    {
      orderId: "#W1000010",
      status: "delivered",
      items: [
        ["Water Bottle", 2499],
        ["Yoga Mat", 4900],
      ],
    },
  ]),
  customer(1011, "Chloe", "Nguyen", "87501", "credit_card", [
    { orderId: "#W1000011", status: "pending", items: [["E-Reader", 16900]] },
    { orderId: "#W1000012", status: "delivered", items: [["Notebook Set", 1900]] },
  ]),
];

/** Parameters that several tools take, described once. */
import { Schema } from "effect";

const described = (description: string) => Schema.String.annotate({ description });

export const orderId = described(
  "The order id, such as '#W0000000'. Be careful there is a '#' symbol at the beginning of the order id.",
);
export const userId = described("The user id, such as 'sara_doe_496'.");
export const productId = described(
  "The product id, such as '6086499569'. Be careful the product id is different from the item id.",
);

export const differencePaymentMethodId = described(
  "The payment method id to pay or receive refund for the item price difference, such as 'gift_card_0000000' or 'credit_card_0000000'. These can be looked up from the user or order details.",
);

export const itemIds = (description: string) =>
  Schema.Array(Schema.String).annotate({ description });

/** The seven fields of an address, in the order in which people write them. */
export const addressFields = {
  address1: described("The first line of the address, such as '123 Main St'."),
  address2: described("The second line of the address, such as 'Apt 1' or ''."),
  city: described("The city, such as 'San Francisco'."),
  state: described("The state, such as 'CA'."),
  country: described("The country, such as 'USA'."),
  zip: described("The zip code, such as '12345'."),
};

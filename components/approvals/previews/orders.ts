/** What happens to an order that has not left yet, and to addresses. */
import { type PreviewFact, textsPreview } from "./read-preview.ts";

const address = ["address1", "address2", "city", "state", "country", "zip"] as const;
type Address = Readonly<Record<(typeof address)[number], string>>;

/** As it would stand on a parcel; an empty second line is left out. */
const addressFact = (parts: Address): PreviewFact => ({
  name: "New address",
  value: [
    parts.address1,
    parts.address2,
    `${parts.city}, ${parts.state} ${parts.zip}`,
    parts.country,
  ]
    .filter((line) => line !== "")
    .join("\n"),
});

export const cancelOrderPreview = textsPreview(["order_id", "reason"], ({ order_id, reason }) => [
  { name: "Cancels order", value: order_id, main: true },
  { name: "Reason given", value: reason },
]);

export const orderAddressPreview = textsPreview(["order_id", ...address], (texts) => [
  { name: "Ships order", value: texts.order_id, main: true },
  addressFact(texts),
]);

export const customerAddressPreview = textsPreview(["user_id", ...address], (texts) => [
  { name: "Moves customer", value: texts.user_id, main: true },
  addressFact(texts),
]);

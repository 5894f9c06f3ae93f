import type { Address } from "../data/records.ts";

/** An address on one line, for the words of an approval. */
export const describeAddress = (address: Address): string =>
  [
    address.address1,
    address.address2,
    `${address.city}, ${address.state} ${address.zip}`,
    address.country,
  ]
    .filter((part) => part !== "")
    .join(", ");

/**
 * What a customer wants, read off the words by rules. No intelligence: a handful
 * of patterns that the ready-made requests and their like fit.
 */
import type { Address } from "../data/records.ts";

export type ReportKind =
  | "report_sales_by_product"
  | "report_order_statuses"
  | "report_refunds"
  | "report_top_customers";

export type Intent =
  | {
      readonly _tag: "Refund";
      readonly orderId: string;
      readonly amount: string | undefined;
      readonly reason: string;
    }
  | {
      readonly _tag: "Cancel";
      readonly orderId: string;
      readonly reason: "no longer needed" | "ordered by mistake";
    }
  | { readonly _tag: "ShipTo"; readonly orderId: string; readonly address: Address }
  | { readonly _tag: "HomeAddress"; readonly address: Address }
  | { readonly _tag: "Return"; readonly orderId: string; readonly carrier: string | undefined }
  | { readonly _tag: "Track"; readonly orderId: string }
  | { readonly _tag: "DeleteAccount" }
  | { readonly _tag: "Report"; readonly kinds: ReadonlyArray<ReportKind> };

export interface Wish {
  readonly email: string | undefined;
  readonly nameAndZip:
    | { readonly firstName: string; readonly lastName: string; readonly zip: string }
    | undefined;
  readonly intents: ReadonlyArray<Intent>;
  readonly wantsMail: boolean;
}

const addressPattern =
  /(\d+ [A-Z][\w .'-]*?),\s*(?:((?:Apt|Unit|Suite|Floor) [\w-]+),\s*)?([A-Z][\w .'-]*?),\s*([A-Z]{2})\s+(\d{5})(?:,\s*([A-Z][\w]*))?/g;

const addressesIn = (
  text: string,
): ReadonlyArray<{ readonly at: number; readonly address: Address }> =>
  [...text.matchAll(addressPattern)].map((match) => ({
    at: match.index,
    address: {
      address1: match[1] ?? "",
      address2: match[2] ?? "",
      city: match[3] ?? "",
      state: match[4] ?? "",
      country: match[6] ?? "USA",
      zip: match[5] ?? "",
    },
  }));

/** The order id nearest before a place in the text, else the first one after it. */
const orderNear = (text: string, at: number): string | undefined => {
  const ids = [...text.matchAll(/#W\d{7}/g)];
  const before = ids.findLast(({ index }) => index <= at);
  return (before ?? ids[0])?.[0];
};

/** The order id that follows a place in the text, else the last one before it. */
const orderAfter = (text: string, at: number): string | undefined => {
  const ids = [...text.matchAll(/#W\d{7}/g)];
  return (ids.find(({ index }) => index >= at) ?? ids.at(-1))?.[0];
};

const amountIn = (text: string): string | undefined => {
  const match = /\$\s?(\d{1,7})(?:\.(\d{2}))?/.exec(text);
  return match?.[1] === undefined ? undefined : `${match[1]}.${match[2] ?? "00"}`;
};

const refundReason = (text: string): string => {
  const complaint = text
    .split(/(?<=[.!?])\s+/)
    .find((sentence) =>
      /\b(crack|leak|hole|broke|defect|damag|wrong|missing|stopped|does not|arrived)/i.test(
        sentence,
      ),
    );
  return (complaint ?? "asked for by the customer").trim().slice(0, 200);
};

const reportKinds = (text: string): ReadonlyArray<ReportKind> => {
  const kinds: Array<ReportKind> = [];
  if (/\b(sells? best|best.?sell|sales|sold)/i.test(text)) kinds.push("report_sales_by_product");
  if (/\b(status|how many orders)/i.test(text)) kinds.push("report_order_statuses");
  if (/\brefunds\b/i.test(text)) kinds.push("report_refunds");
  if (/\b(top|best) customers/i.test(text)) kinds.push("report_top_customers");
  return kinds;
};

const addressIntents = (text: string): ReadonlyArray<Intent> =>
  addressesIn(text).flatMap(({ at, address }): ReadonlyArray<Intent> => {
    const before = text.slice(0, at);
    const isHome =
      Math.max(before.lastIndexOf("home address"), before.lastIndexOf("my address")) >
      before.lastIndexOf("ship");
    if (isHome) return [{ _tag: "HomeAddress", address }];
    const orderId = orderNear(text, at);
    return orderId === undefined ? [] : [{ _tag: "ShipTo", orderId, address }];
  });

const orderIntents = (text: string): ReadonlyArray<Intent> => {
  const intents: Array<Intent> = [];
  const cancelAt = text.search(/\bcancel/i);
  const cancelled = cancelAt === -1 ? undefined : orderAfter(text, cancelAt);
  if (cancelled !== undefined) {
    intents.push({
      _tag: "Cancel",
      orderId: cancelled,
      reason: /mistake/i.test(text) ? "ordered by mistake" : "no longer needed",
    });
  }
  const orderId = orderAfter(text, 0);
  if (orderId === undefined) return intents;
  if (/\breturn\b/i.test(text)) {
    intents.push({
      _tag: "Return",
      orderId,
      carrier: /label/i.test(text) ? (/\b(UPS|FedEx|USPS)\b/.exec(text)?.[1] ?? "UPS") : undefined,
    });
  } else if (/\brefund\b/i.test(text)) {
    intents.push({ _tag: "Refund", orderId, amount: amountIn(text), reason: refundReason(text) });
  }
  if (/\b(where is|track|when will|whereabouts)\b/i.test(text))
    intents.push({ _tag: "Track", orderId });
  return intents;
};

export const readWish = (text: string): Wish => {
  const email = /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/.exec(text)?.[0];
  const named = /\b([A-Z][a-z]+) ([A-Z][a-z]+)\b[^.]*?\b(\d{5})\b/.exec(text);
  const intents: Array<Intent> = [...orderIntents(text), ...addressIntents(text)];
  if (/\b(delete|close|erase)\b[^.]*\baccount\b/i.test(text))
    intents.push({ _tag: "DeleteAccount" });
  const kinds = intents.length === 0 ? reportKinds(text) : [];
  if (kinds.length > 0) intents.push({ _tag: "Report", kinds });
  return {
    email,
    nameAndZip:
      named?.[1] === undefined || named[2] === undefined || named[3] === undefined
        ? undefined
        : { firstName: named[1], lastName: named[2], zip: named[3] },
    intents,
    wantsMail:
      /\be-?mail\b[^.]*\b(confirm|me)|\bconfirm[^.]*\be-?mail|send me an? e-?mail/i.test(text) ||
      /\blabel\b/i.test(text),
  };
};

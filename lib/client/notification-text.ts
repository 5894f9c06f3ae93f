/**
 * What a browser notification says of new work for people. It leaves the page and stands on a lock screen, so
 * it holds what a list row holds and no more: bounded, on one line, hidden characters written out (C056).
 */
import type { LoggedEvent } from "../contract/events.ts";
import { visibleText } from "../contract/json/visible-text.ts";

export interface NotificationText {
  /** The browser shows one per tag: a repeat replaces the one before. */
  readonly tag: string;
  readonly title: string;
  readonly body: string;
  /** Where a click leads, inside the console. */
  readonly href: string;
}

const mostCharacters = { name: 60, sentence: 160 } as const;

/** One line, cut between characters. */
const line = (text: string, most: number): string => {
  // Escapes only make it longer, so no more of it is ever needed.
  const seen = visibleText(text.slice(0, most * 2), { singleLine: true }).text;
  const characters = [...seen];
  return characters.length <= most ? seen : `${characters.slice(0, most - 1).join("")}…`;
};

const ofEvent = ({ event }: LoggedEvent): NotificationText | undefined => {
  if (event._tag === "ApprovalRequested")
    return {
      tag: `approval ${event.requestId}`,
      title: `Approval, ${event.risk} risk: ${line(event.toolName, mostCharacters.name)}`,
      body: line(event.summary, mostCharacters.sentence),
      href: `/approvals?request=${encodeURIComponent(event.requestId)}`,
    };
  if (event._tag === "ToolCallUnknown")
    return {
      tag: `unknown ${event.unknownId}`,
      title: `Effect in doubt: ${line(event.toolName, mostCharacters.name)}`,
      body: line(event.detail, mostCharacters.sentence),
      href: `/unknowns?unknown=${encodeURIComponent(event.unknownId)}`,
    };
  return undefined;
};

/** More at once than this are told as a number: nobody reads forty of them. */
const mostAtOnce = 3;

const counted = (count: number, one: string): string =>
  count === 0 ? "" : `${count} new ${one}${count === 1 ? "" : "s"}`;

/** What to show for events that came together, oldest first; nothing for events that ask nobody for anything. */
export const notificationsOf = (
  events: ReadonlyArray<LoggedEvent>,
): ReadonlyArray<NotificationText> => {
  // What was answered in the same moment asks nobody any more.
  const answered = new Set(
    events.flatMap(({ event }) => (event._tag === "ApprovalDecided" ? [event.requestId] : [])),
  );
  const asking = events.filter(
    ({ event }) => !(event._tag === "ApprovalRequested" && answered.has(event.requestId)),
  );
  const texts = asking.flatMap((event) => ofEvent(event) ?? []);
  if (texts.length <= mostAtOnce) return texts;
  const approvals = texts.filter(({ tag }) => tag.startsWith("approval ")).length;
  const parts = [
    counted(approvals, "approval"),
    counted(texts.length - approvals, "effect in doubt"),
  ];
  return [
    {
      tag: "several",
      title: parts
        .filter((part) => part !== "")
        .join(", ")
        .replace("effect in doubts", "effects in doubt"),
      body: "They wait for a person in the console.",
      href: approvals > 0 ? "/approvals" : "/unknowns",
    },
  ];
};

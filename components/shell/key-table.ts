/** Every key of the console, once: the handler acts by this table and the `?` sheet shows it. */
import { pages } from "./pages.ts";

/** What a key stands for; a page listens for the ones it can do. */
export type KeyAction =
  | "next"
  | "previous"
  | "open"
  | "back"
  | "filter"
  | "focus-approve"
  | "focus-deny"
  | "palette"
  | "sheet"
  | "theme"
  | { readonly goTo: string };

export interface KeyRow {
  /** Keys in order, as written on the keyboard: `["g", "a"]` is one after the other. */
  readonly keys: ReadonlyArray<string>;
  readonly does: string;
  readonly action: KeyAction;
  readonly group: "Move" | "Decide" | "Go to" | "Console";
  /** With Ctrl, or Cmd on a Mac. */
  readonly withCommand?: true;
}

export const keyTable: ReadonlyArray<KeyRow> = [
  { keys: ["j"], does: "next row", action: "next", group: "Move" },
  { keys: ["k"], does: "previous row", action: "previous", group: "Move" },
  { keys: ["Enter"], does: "open the row", action: "open", group: "Move" },
  { keys: ["Escape"], does: "back to the list", action: "back", group: "Move" },
  { keys: ["/"], does: "go to the filter", action: "filter", group: "Move" },
  {
    keys: ["a"],
    does: "move to Approve; it acts only when you press it",
    action: "focus-approve",
    group: "Decide",
  },
  {
    keys: ["d"],
    does: "move to Deny; it acts only when you press it",
    action: "focus-deny",
    group: "Decide",
  },
  ...pages.map((page): KeyRow => ({
    keys: ["g", page.letter],
    does: page.name,
    action: { goTo: page.href },
    group: "Go to",
  })),
  {
    keys: ["k"],
    does: "find a page or a run",
    action: "palette",
    group: "Console",
    withCommand: true,
  },
  { keys: ["t"], does: "change the theme", action: "theme", group: "Console" },
  { keys: ["?"], does: "these keys", action: "sheet", group: "Console" },
];

/** A pressed key, without what does not matter here. */
export interface Press {
  readonly key: string;
  readonly command: boolean;
  /** The key that was pressed before, if it may begin a pair. */
  readonly after: string | undefined;
}

/** What a press means, `"begins"` when it may begin a pair, or undefined. */
export const meaningOf = (press: Press): KeyAction | "begins" | undefined => {
  const fits = (row: KeyRow): boolean => (row.withCommand === true) === press.command;
  const second = press.after;
  if (second !== undefined && !press.command) {
    const pair = keyTable.find((row) => row.keys[0] === second && row.keys[1] === press.key);
    return pair?.action;
  }
  const single = keyTable.find(
    (row) => fits(row) && row.keys.length === 1 && row.keys[0] === press.key,
  );
  if (single !== undefined) return single.action;
  const begins = keyTable.some(
    (row) => fits(row) && row.keys.length === 2 && row.keys[0] === press.key,
  );
  return begins ? "begins" : undefined;
};

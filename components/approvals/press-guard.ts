/**
 * When a press on a decision counts. Pure, with the times given, so that the rule is tested without a
 * clock: a card that has just appeared, moved or changed ignores input, and so does a press that
 * follows the arming one too closely to have been meant (C023, C061).
 */

/** Milliseconds during which a card that has just appeared or changed takes no decision. */
export const guardMillis = 300;
/** An armed button forgets that it was armed after this long. */
export const armedMillis = 8_000;

export interface Pressing {
  /** When the card showed what it shows now. */
  readonly shownAt: number;
  /** When the button was armed, if it is. */
  readonly armedAt: number | undefined;
  readonly now: number;
  /** `repeat` is a further click of a double or triple click: never meant as an answer of its own. */
  readonly by: "keyboard" | "pointer" | "repeat";
}

export type PressOutcome = "ignored" | "armed" | "decides";

/** The first press that counts arms; the second, if deliberate, decides. */
export const pressOutcome = ({ shownAt, armedAt, now, by }: Pressing): PressOutcome => {
  if (by === "repeat" || now - shownAt < guardMillis) return "ignored";
  if (armedAt === undefined || now - armedAt > armedMillis) return "armed";
  // Typing is fast: a key that follows the arming one at once was meant for something else.
  return by === "keyboard" && now - armedAt < guardMillis ? "ignored" : "decides";
};

/** How a click came about, by the count that the browser gives it: 0 from a key, 2 from a double click. */
export const pressedBy = (clicks: number): Pressing["by"] =>
  clicks === 0 ? "keyboard" : clicks === 1 ? "pointer" : "repeat";

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
  /** When the key before this one was pressed, whatever it was. */
  readonly keyBeforeAt: number;
  readonly now: number;
  /** `repeat` is a further click of a double or triple click: never meant as an answer of its own. */
  readonly by: "keyboard" | "pointer" | "repeat";
}

export type PressOutcome = "ignored" | "armed" | "decides";

/**
 * The first press that counts arms; the second, if deliberate, decides. A key in the flow of typing is
 * neither: whoever types fast means words, not answers.
 */
export const pressOutcome = ({
  shownAt,
  armedAt,
  keyBeforeAt,
  now,
  by,
}: Pressing): PressOutcome => {
  if (by === "repeat" || now - shownAt < guardMillis) return "ignored";
  if (by === "keyboard" && now - keyBeforeAt < guardMillis) return "ignored";
  return armedAt === undefined || now - armedAt > armedMillis ? "armed" : "decides";
};

/** How a click came about, by the count that the browser gives it: 0 from a key, 2 from a double click. */
export const pressedBy = (clicks: number): Pressing["by"] =>
  clicks === 0 ? "keyboard" : clicks === 1 ? "pointer" : "repeat";

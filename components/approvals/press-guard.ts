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
}

export type PressOutcome = "ignored" | "armed" | "decides";

/** The first press that counts arms; the second, if deliberate, decides. */
export const pressOutcome = ({ shownAt, armedAt, now }: Pressing): PressOutcome => {
  if (now - shownAt < guardMillis) return "ignored";
  if (armedAt === undefined || now - armedAt > armedMillis) return "armed";
  return now - armedAt < guardMillis ? "ignored" : "decides";
};

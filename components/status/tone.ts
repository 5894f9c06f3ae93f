import type { LucideIcon } from "lucide-react";

/** The five tones of the console; each has its token in app/globals.css and means one thing only. */
export type Tone = "neutral" | "active" | "attention" | "success" | "danger";

/** How a bar is filled, so that states differ without colour. */
export type BarFill = "fill-solid" | "fill-stripes" | "fill-outline" | "fill-hatch";

/** Everything a state looks like. `word` is also its spoken name. */
export interface StatusLook {
  readonly tone: Tone;
  readonly icon: LucideIcon;
  readonly word: string;
  readonly fill: BarFill;
}

/** The utility class that sets `--tone`. */
export const toneClass: Record<Tone, string> = {
  neutral: "tone-neutral",
  active: "tone-active",
  attention: "tone-attention",
  success: "tone-success",
  danger: "tone-danger",
};

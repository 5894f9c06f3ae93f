import { Flame, ShieldAlert, Signal, SignalLow } from "lucide-react";
import type { Risk } from "#lib/contract/status.ts";
import type { StatusLook } from "./tone.ts";

export const riskLook: Record<Risk, StatusLook> = {
  low: { tone: "neutral", icon: SignalLow, word: "low risk", fill: "fill-outline" },
  medium: { tone: "neutral", icon: Signal, word: "medium risk", fill: "fill-solid" },
  high: { tone: "attention", icon: ShieldAlert, word: "high risk", fill: "fill-solid" },
  critical: { tone: "danger", icon: Flame, word: "critical risk", fill: "fill-solid" },
};

import {
  CircleCheck,
  CircleDashed,
  CircleQuestionMark,
  CircleSlash,
  CircleStop,
  CircleX,
  LoaderCircle,
  ShieldX,
  TimerOff,
  UserRound,
  UserX,
} from "lucide-react";
import type { CallState } from "#lib/contract/status.ts";
import type { StatusLook } from "./tone.ts";

/** Eleven states, eleven words, eleven icons; only `succeeded` is green and only `unknown` is hatched (C094, C103). */
export const callStateLook: Record<CallState, StatusLook> = {
  queued: { tone: "neutral", icon: CircleDashed, word: "queued", fill: "fill-outline" },
  waiting: {
    tone: "attention",
    icon: UserRound,
    word: "waiting for a person",
    fill: "fill-outline",
  },
  running: { tone: "active", icon: LoaderCircle, word: "running", fill: "fill-stripes" },
  succeeded: { tone: "success", icon: CircleCheck, word: "succeeded", fill: "fill-solid" },
  failed: { tone: "danger", icon: CircleX, word: "failed", fill: "fill-solid" },
  "denied-by-person": {
    tone: "danger",
    icon: UserX,
    word: "denied by a person",
    fill: "fill-outline",
  },
  "denied-by-policy": {
    tone: "danger",
    icon: ShieldX,
    word: "denied by policy",
    fill: "fill-outline",
  },
  expired: { tone: "danger", icon: TimerOff, word: "expired", fill: "fill-outline" },
  aborted: { tone: "neutral", icon: CircleStop, word: "aborted", fill: "fill-solid" },
  unknown: { tone: "attention", icon: CircleQuestionMark, word: "unknown", fill: "fill-hatch" },
  "not-executed": {
    tone: "neutral",
    icon: CircleSlash,
    word: "not executed",
    fill: "fill-outline",
  },
};

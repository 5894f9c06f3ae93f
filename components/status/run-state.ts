import {
  CircleCheck,
  CircleDashed,
  CircleQuestionMark,
  CircleStop,
  CircleX,
  LoaderCircle,
  UserRound,
} from "lucide-react";
import type { RunState } from "#lib/contract/status.ts";
import type { StatusLook } from "./tone.ts";

export const runStateLook: Record<RunState, StatusLook> = {
  queued: { tone: "neutral", icon: CircleDashed, word: "queued", fill: "fill-outline" },
  running: { tone: "active", icon: LoaderCircle, word: "running", fill: "fill-stripes" },
  waiting: {
    tone: "attention",
    icon: UserRound,
    word: "waiting for a person",
    fill: "fill-outline",
  },
  unknown: {
    tone: "attention",
    icon: CircleQuestionMark,
    word: "effect in doubt",
    fill: "fill-hatch",
  },
  completed: { tone: "success", icon: CircleCheck, word: "completed", fill: "fill-solid" },
  failed: { tone: "danger", icon: CircleX, word: "failed", fill: "fill-solid" },
  aborted: { tone: "neutral", icon: CircleStop, word: "aborted", fill: "fill-solid" },
};

/** In the order in which the run filter offers them. */
export const runStates: ReadonlyArray<RunState> = [
  "running",
  "waiting",
  "unknown",
  "queued",
  "completed",
  "failed",
  "aborted",
];

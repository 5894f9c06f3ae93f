import { Hourglass, TimerOff, Undo2, UserCheck, UserX } from "lucide-react";
import type { ApprovalState } from "#lib/contract/status.ts";
import type { StatusLook } from "./tone.ts";

export const approvalStateLook: Record<ApprovalState, StatusLook> = {
  pending: { tone: "attention", icon: Hourglass, word: "pending", fill: "fill-outline" },
  approved: { tone: "success", icon: UserCheck, word: "approved", fill: "fill-solid" },
  denied: { tone: "danger", icon: UserX, word: "denied", fill: "fill-solid" },
  expired: { tone: "danger", icon: TimerOff, word: "expired", fill: "fill-outline" },
  withdrawn: { tone: "neutral", icon: Undo2, word: "withdrawn", fill: "fill-outline" },
};

export const approvalStates: ReadonlyArray<ApprovalState> = [
  "pending",
  "approved",
  "denied",
  "expired",
  "withdrawn",
];

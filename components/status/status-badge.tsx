import type { ApprovalState, CallState, Risk, RunState } from "#lib/contract/status.ts";
import { approvalStateLook } from "./approval-state.ts";
import { callStateLook } from "./call-state.ts";
import { riskLook } from "./risk.ts";
import { runStateLook } from "./run-state.ts";
import { type StatusLook, toneClass } from "./tone.ts";

/** How much of the word is drawn; screen readers and the tooltip always have it. */
export type Compact = boolean | "when-narrow";

/** An icon and a word in one tone. */
export function StatusBadge({ look, compact = false }: { look: StatusLook; compact?: Compact }) {
  const Icon = look.icon;
  const spins = look.fill === "fill-stripes";
  return (
    <span
      className={`${toneClass[look.tone]} tone-text inline-flex items-center gap-1 whitespace-nowrap`}
      title={look.word}
    >
      <Icon
        aria-hidden
        size={14}
        strokeWidth={2}
        className={spins ? "animate-spin shrink-0" : "shrink-0"}
      />
      <span className={compact === "when-narrow" ? "max-md:sr-only" : compact ? "sr-only" : ""}>
        {look.word}
      </span>
    </span>
  );
}

export const CallStateBadge = ({
  state,
  compact = false,
}: {
  state: CallState;
  compact?: Compact;
}) => <StatusBadge look={callStateLook[state]} compact={compact} />;
export const RunStateBadge = ({
  state,
  compact = false,
}: {
  state: RunState;
  compact?: Compact;
}) => <StatusBadge look={runStateLook[state]} compact={compact} />;
export const ApprovalStateBadge = ({ state }: { state: ApprovalState }) => (
  <StatusBadge look={approvalStateLook[state]} />
);
export const RiskBadge = ({ risk, compact = false }: { risk: Risk; compact?: Compact }) => (
  <StatusBadge look={riskLook[risk]} compact={compact} />
);

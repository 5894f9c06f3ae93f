"use client";
import { Check, Clock, LoaderCircle, X } from "lucide-react";
import dynamic from "next/dynamic";
import { useEffect, useRef, useState } from "react";
import { ErrorPanel } from "#components/feedback/error-panel.tsx";
import { LostAnswer } from "#components/feedback/lost-answer.tsx";
import { localNow, useConsole } from "#components/shell/console-context.tsx";
import { useKeys } from "#components/shell/keys.tsx";
import { useDecisionLock } from "#components/shell/live.tsx";
import { useAnnounce } from "#components/shell/live-region.tsx";
import { useNow } from "#components/shell/use-now.ts";
import { Button } from "#components/ui/button.tsx";
import { ApiFailure, isInDoubt } from "#lib/client/api-failure.ts";
import type { ApprovalCard } from "#lib/client/approval-card.ts";
import {
  afterFailure,
  commandToSend,
  firstTryStands,
  type Intention,
  type SentCommand,
} from "#lib/client/sent-command.ts";
import type { ApprovalDetail } from "#lib/contract/approval-views.ts";
import { pressedBy, type Pressing, type PressOutcome, pressOutcome } from "./press-guard.ts";
import { type ApprovalCommand, useApprovalCommand } from "./use-approvals.ts";
import { useKeyBefore } from "./use-key-before.ts";

// None of them is on the card before it is asked for. Whoever denies types at once, so that form is
// fetched as soon as there is a card.
const fetchDenyForm = () => import("./deny-form.tsx");
const DenyForm = dynamic(fetchDenyForm, { ssr: false });
const ExtendForm = dynamic(() => import("./extend-form.tsx"), { ssr: false });
const BasisChanges = dynamic(() => import("./basis-changes.tsx"), { ssr: false });

/** After this long without an answer the bar says that it is checking. */
const checkingAfterMillis = 2_000;

/** The actions, always in view. What is not allowed is not there, and says why (C040). */
export function DecisionBar({ card }: { card: ApprovalCard }) {
  const { detail } = card;
  const lock = useDecisionLock();
  const now = useNow();
  const expired = detail.expiresAt !== null && now > 0 && now >= detail.expiresAt;
  if (detail.state !== "pending") return null;
  return (
    <footer
      className="border-t border-edge bg-panel px-4 py-2"
      aria-label="Decision"
      data-decision-bar
    >
      {!detail.mayDecide.allowed ? (
        <p className="text-soft">You cannot decide this call: {detail.mayDecide.why}</p>
      ) : expired ? (
        <p className="text-danger">
          The time to decide has passed. The system records it as expired; what the agent does next
          is in the run.
        </p>
      ) : (
        <Actions card={card} lock={lock} now={now} />
      )}
    </footer>
  );
}

type Panel = "none" | "deny" | "extend";

function Actions({
  card,
  lock,
  now,
}: {
  card: ApprovalCard;
  lock: string | undefined;
  now: number;
}) {
  const { detail } = card;
  const { api } = useConsole();
  const command = useApprovalCommand(detail.requestId);
  const announce = useAnnounce();
  const [panel, setPanel] = useState<Panel>("none");
  const approve = useRef<HTMLButtonElement>(null);
  const shownAt = useShownAt(
    `${detail.requestId} ${detail.content.parametersDigest} ${JSON.stringify(detail.basis)}`,
  );
  const keyBefore = useKeyBefore();
  const [armedAt, setArmedAt] = useState<number>();
  /** The same id for the same intention, so that pressing again after a broken answer acts once. */
  const [sent, setSent] = useState<SentCommand>();

  const send = (intention: Intention, make: (commandId: string) => ApprovalCommand): void => {
    if (command.isPending || lock !== undefined) return;
    const sending = commandToSend(sent, intention, api.newCommandId);
    setSent(sending);
    command.mutate(make(sending.commandId), {
      onSuccess: (card) => {
        setSent(undefined);
        // What was filled in has been done: left open, one more press would do it once more.
        setPanel("none");
        announce(`${card.detail.toolName}: ${card.detail.state}, confirmed by the server`);
      },
      onError: (error) => setSent(afterFailure(sending, error)),
    });
  };
  const outcomeOf = (by: Pressing["by"], armed: number | undefined): PressOutcome =>
    pressOutcome({
      by,
      armedAt: armed,
      shownAt: shownAt.current,
      keyBeforeAt: keyBefore.current,
      now: localNow(),
    });
  const press = (clicks: number): void => {
    const by = pressedBy(clicks);
    const outcome = outcomeOf(by, armedAt);
    // A key in the flow of typing takes back what the key before it may have armed.
    if (outcome === "ignored") return by === "keyboard" ? setArmedAt(undefined) : undefined;
    if (outcome === "armed") return setArmedAt(localNow());
    setArmedAt(undefined);
    const approving = { verb: "approve", reason: "", content: JSON.stringify(detail.basis) };
    send(approving, (commandId) => ({
      kind: "decide",
      commandId,
      decision: "approved",
      parametersDigest: detail.content.parametersDigest,
      basis: detail.basis,
      reason: "",
    }));
  };
  useEffect(() => void fetchDenyForm(), []);
  useKeys({
    "focus-approve": () => {
      setPanel("none");
      approve.current?.focus();
      setArmedAt(outcomeOf("keyboard", undefined) === "armed" ? localNow() : undefined);
    },
    "focus-deny": () => setPanel("deny"),
  });

  const armed = armedAt !== undefined;
  return (
    <div className="flex flex-col gap-2">
      <Trouble requestId={detail.requestId} command={command} sent={sent} />
      {panel === "deny" ? (
        <DenyForm
          card={card}
          busy={command.isPending || lock !== undefined}
          refusedSuggestion={refusedSuggestion(command.error)}
          onCancel={() => setPanel("none")}
          onDeny={(reason, suggestion) =>
            send(
              { verb: "deny", reason, content: JSON.stringify([reason, suggestion]) },
              (commandId) => ({
                kind: "decide",
                commandId,
                decision: "denied",
                parametersDigest: detail.content.parametersDigest,
                reason,
                ...(suggestion === undefined ? {} : { suggestion }),
              }),
            )
          }
        />
      ) : null}
      {panel === "extend" ? (
        <ExtendForm
          busy={command.isPending || lock !== undefined}
          leftMillis={Math.max(0, (detail.expiresAt ?? now) - now)}
          onCancel={() => setPanel("none")}
          onExtend={(seconds, reason) =>
            send(
              {
                verb: "extend",
                reason,
                content: JSON.stringify([seconds, reason, detail.expiresAt]),
              },
              (commandId) => ({
                kind: "extend",
                commandId,
                seconds,
                reason,
              }),
            )
          }
        />
      ) : null}
      {panel === "none" ? (
        <div className="flex flex-wrap items-center gap-2">
          <Button
            ref={approve}
            kind="primary"
            onClick={(event) => press(event.detail)}
            onBlur={() => setArmedAt(undefined)}
            disabled={command.isPending || lock !== undefined}
            aria-describedby="approve-effect"
            data-armed={armed}
            className={armed ? "outline-2 outline-offset-2 outline-active" : ""}
          >
            <Check aria-hidden size={15} />
            {armed ? "Approve: press again" : "Approve"}
          </Button>
          <Button
            kind="danger"
            onClick={() => setPanel("deny")}
            disabled={command.isPending || lock !== undefined}
          >
            <X aria-hidden size={15} /> Deny…
          </Button>
          {detail.expiresAt === null ? null : (
            <Button
              kind="quiet"
              onClick={() => setPanel("extend")}
              disabled={command.isPending || lock !== undefined}
            >
              <Clock aria-hidden size={15} /> Extend…
            </Button>
          )}
          <span id="approve-effect" className="text-soft">
            {lock ?? approveEffect(detail)}
          </span>
          {command.isPending ? <Sending /> : null}
        </div>
      ) : command.isPending ? (
        <Sending />
      ) : null}
    </div>
  );
}

/** What the server said of suggested arguments, for the editor that they were typed in. */
const refusedSuggestion = (error: unknown): string | undefined =>
  error instanceof ApiFailure &&
  error.reason._tag === "InvalidInput" &&
  error.reason.path === "body.suggestion"
    ? error.reason.message
    : undefined;

/** What pressing Approve will do, in words. */
const approveEffect = (detail: ApprovalDetail): string => {
  const further = detail.approversMissing - 1;
  if (further > 0)
    return `Approve counts as one of ${detail.content.approversRequired}; ${further} more ${further === 1 ? "person" : "people"} must approve before it runs.`;
  const others = detail.batch.filter(
    (call) => call.state === "waiting" && call.callId !== detail.callId,
  ).length;
  const once = `Approve runs ${detail.toolName} once with these arguments`;
  if (others === 0) return `${once}, at once.`;
  return `${once}, when the other ${others === 1 ? "call" : `${others} calls`} of the batch ${others === 1 ? "is" : "are"} decided.`;
};

/** The local time since when the card shows what it shows. */
function useShownAt(what: string): { readonly current: number } {
  const shownAt = useRef(Number.POSITIVE_INFINITY);
  useEffect(() => {
    shownAt.current = localNow();
  }, [what]);
  return shownAt;
}

function Sending() {
  const [checking, setChecking] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setChecking(true), checkingAfterMillis);
    return () => clearTimeout(timer);
  }, []);
  return (
    <output
      className="inline-flex items-center gap-1 text-soft"
      data-sending={checking ? "checking" : "sending"}
    >
      <LoaderCircle aria-hidden size={14} className="animate-spin" />
      {checking
        ? "Checking: the server has not confirmed yet, nothing is shown as decided"
        : "Sending…"}
    </output>
  );
}

/** What went wrong; where nobody can know whether the server acted, what it has stored by now. */
function Trouble({
  requestId,
  command,
  sent,
}: {
  requestId: string;
  command: ReturnType<typeof useApprovalCommand>;
  sent: SentCommand | undefined;
}) {
  const { api } = useConsole();
  if (!command.isError) return null;
  const stands = firstTryStands(sent, command.error);
  if (sent !== undefined && (stands || isInDoubt(command.error))) {
    return (
      <LostAnswer
        attempt={`${sent.commandId} ${command.submittedAt}`}
        readTruth={async () => approvalTruth((await api.approval(requestId)).value)}
        stands={stands}
        said={sent.reason}
      />
    );
  }
  if (refusedSuggestion(command.error) !== undefined) return null;
  const changes = changesOf(command.error);
  return (
    <>
      <ErrorPanel error={command.error} small />
      {changes === undefined ? null : <BasisChanges changes={changes} />}
    </>
  );
}

const approvalTruth = ({ decidedBy, expiresAt, state }: ApprovalDetail): string =>
  state === "pending"
    ? `no decision of this call${expiresAt === null ? "" : `; it expires at ${new Date(expiresAt).toISOString()}`}.`
    : `${state}${decidedBy === null ? "" : ` by ${decidedBy}`}.`;

/** What is different around a call whose approval was refused for it. */
const changesOf = (error: unknown) =>
  error instanceof ApiFailure && error.reason._tag === "ApprovalChanged"
    ? error.reason.changes
    : undefined;

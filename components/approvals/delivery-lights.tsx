"use client";
import { Circle, CircleCheckBig } from "lucide-react";
import { CallStateBadge } from "#components/status/status-badge.tsx";
import { useNow } from "#components/shell/use-now.ts";
import { At } from "#components/ui/time.tsx";
import type { ApprovalDetail } from "#lib/contract/approval-views.ts";

/** A decision that has not reached its worker after this long is called out (C018). */
const lateMillis = 10_000;

/** Four lights of a decision: decided, recorded, delivered to the worker, effect result. */
export function DeliveryLights({ detail }: { detail: ApprovalDetail }) {
  const now = useNow();
  const { delivery } = detail;
  if (detail.state === "pending" || detail.state === "withdrawn") return null;
  const late =
    delivery.decidedAt !== null &&
    delivery.deliveredAt === null &&
    now - delivery.decidedAt > lateMillis;
  const lights = [
    ["decided", delivery.decidedAt],
    ["recorded", delivery.recordedAt],
    ["delivered to the worker", delivery.deliveredAt],
    ["effect known", delivery.effectAt],
  ] as const;
  return (
    <>
      <ol aria-label="Delivery" className="mt-3 grid grid-cols-2 gap-2 sm:grid-cols-4">
        {lights.map(([name, at]) => (
          <li
            key={name}
            className="border-t-2 border-line pt-1 data-lit:border-success"
            {...(at === null ? {} : { "data-lit": true })}
          >
            <span className="flex items-center gap-1">
              {at === null ? (
                <Circle aria-hidden size={13} className="text-soft" />
              ) : (
                <CircleCheckBig aria-hidden size={13} className="text-success" />
              )}
              {name}
            </span>
            <span className="text-table text-soft">
              {at === null ? "not yet" : <At at={at} timeOnly />}
            </span>
          </li>
        ))}
      </ol>
      {delivery.effect === null ? null : (
        <p className="mt-2 flex items-center gap-2">
          Effect: <CallStateBadge state={delivery.effect} />
        </p>
      )}
      {late ? (
        <output className="mt-2 block text-attention">
          Decided and recorded, but no worker has taken it for more than 10 s. The decision is kept
          and delivered when a worker drives this thread again: see Workers.
        </output>
      ) : null}
    </>
  );
}

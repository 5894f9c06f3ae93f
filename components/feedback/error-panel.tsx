"use client";
import { CircleAlert } from "lucide-react";
import { Button } from "#components/ui/button.tsx";
import { VisibleText } from "#components/ui/visible-text.tsx";
import { ApiFailure } from "#lib/client/api-failure.ts";
import { type ErrorCopy, errorCopy } from "#lib/client/error-copy.ts";

const unexpected: ErrorCopy = {
  title: "This part of the console broke",
  cause: "A fault in the console itself; the server was not asked to change anything.",
  next: "Reload the page. If it stays, tell whoever runs this installation.",
  action: "reload",
};

export const copyOf = (error: unknown): ErrorCopy =>
  error instanceof ApiFailure ? errorCopy(error.reason) : unexpected;

const signInAddress = (): string =>
  `/sign-in?next=${encodeURIComponent(window.location.pathname + window.location.search)}`;

/** A failure in words: what happened, why, and the next action. `small` stands inside a form. */
export function ErrorPanel({
  error,
  onRetry,
  small = false,
}: {
  error: unknown;
  onRetry?: (() => void) | undefined;
  small?: boolean;
}) {
  const copy = copyOf(error);
  return (
    <div
      role="alert"
      className={`tone-danger tone-wash tone-edge flex gap-2 border ${small ? "rounded-sm p-2" : "m-4 rounded-md p-3"}`}
    >
      <CircleAlert aria-hidden size={16} className="tone-text mt-0.5 shrink-0" />
      <div className="flex min-w-0 flex-col items-start gap-1">
        <p className="font-semibold">
          <VisibleText text={copy.title} line />
        </p>
        <p className="break-words">
          <VisibleText text={copy.cause} />
        </p>
        <p className="text-soft">{copy.next}</p>
        {copy.action === "retry" && onRetry !== undefined ? (
          <Button onClick={onRetry}>Try again</Button>
        ) : null}
        {copy.action === "reload" ? (
          <Button onClick={onRetry ?? (() => window.location.reload())}>Load again</Button>
        ) : null}
        {copy.action === "sign-in" ? (
          <Button kind="primary" onClick={() => window.location.assign(signInAddress())}>
            Sign in
          </Button>
        ) : null}
      </div>
    </div>
  );
}

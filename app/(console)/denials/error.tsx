"use client";
import { ErrorPanel } from "#components/feedback/error-panel.tsx";

export default function PageError({ error, reset }: { error: Error; reset: () => void }) {
  return <ErrorPanel error={error} onRetry={reset} />;
}

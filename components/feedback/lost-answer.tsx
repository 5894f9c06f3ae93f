"use client";
import { useQuery } from "@tanstack/react-query";
import { Button } from "#components/ui/button.tsx";
import { VisibleText } from "#components/ui/visible-text.tsx";
import { copyOf } from "./error-panel.tsx";

/** A try without an answer: that it may have happened, and what is stored by now. */
export function LostAnswer({
  attempt,
  readTruth,
  stands,
  said,
}: {
  /** Tells one doubt from the next, so that each reads the truth anew. */
  attempt: string;
  /** Reads what is stored now and says it in words. */
  readTruth: () => Promise<string>;
  /** The server has said that the first try was carried out. */
  stands: boolean;
  /** The reason of the first try. */
  said: string;
}) {
  const truth = useQuery({
    queryKey: ["truth", attempt, stands],
    queryFn: readTruth,
    // Read for this very question and never again by itself.
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <div
      role="alert"
      data-lost-answer={stands ? "carried-out" : "in-doubt"}
      className="tone-attention tone-wash tone-edge flex flex-col items-start gap-1 rounded-sm border p-2"
    >
      <p className="font-semibold">
        {stands
          ? "Your first try was carried out. What you sent just now changed nothing."
          : "No confirmation came back: it may have been carried out."}
      </p>
      {stands && said !== "" ? (
        <p className="break-words">
          Its reason is the one you gave then: “<VisibleText text={said} />”
        </p>
      ) : null}
      <p className="break-words" data-truth={truth.data === undefined ? "reading" : "read"}>
        {truth.data !== undefined ? (
          <>
            Stored now: <VisibleText text={truth.data} />
          </>
        ) : truth.error !== null ? (
          `What is stored cannot be read: ${copyOf(truth.error).title}.`
        ) : (
          "Reading what is stored…"
        )}
      </p>
      {truth.error === null ? null : (
        <Button onClick={() => void truth.refetch()}>Read it again</Button>
      )}
      {stands ? null : (
        <p className="text-soft">
          Sending again is safe: it goes out as the same command and acts once. If the first try got
          through, its reason stays.
        </p>
      )}
    </div>
  );
}

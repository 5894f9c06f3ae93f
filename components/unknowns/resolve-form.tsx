"use client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { ErrorPanel } from "#components/feedback/error-panel.tsx";
import { LostAnswer } from "#components/feedback/lost-answer.tsx";
import { type EditedJson, JsonEditor } from "#components/json/json-editor.tsx";
import { JsonValue } from "#components/json/json-value.tsx";
import { useConsole } from "#components/shell/console-context.tsx";
import { useDecisionLock } from "#components/shell/live.tsx";
import { isAtLeast, useMe } from "#components/shell/me.ts";
import { Button } from "#components/ui/button.tsx";
import { Field, TextArea } from "#components/ui/field.tsx";
import { ApiFailure } from "#lib/client/api-failure.ts";
import { keys } from "#lib/client/query-keys.ts";
import {
  afterFailure,
  commandToSend,
  firstTryStands,
  type SentCommand,
} from "#lib/client/sent-command.ts";
import { parseJson } from "#lib/contract/json/secure-parse.ts";
import type { ResolutionKind } from "#lib/contract/status.ts";
import type { UnknownDetail } from "#lib/contract/unknown-views.ts";

/** The four ways, with what each does. */
const choices: Record<ResolutionKind, { readonly name: string; readonly effect: string }> = {
  "completed-with-result": {
    name: "It happened; this was its result",
    effect:
      "The result is checked against the tool's schema, recorded, and the run goes on with it. The tool is not called.",
  },
  "never-happened": {
    name: "It never happened",
    effect:
      "The call runs now, after authorization by today's policy. Choose it only when the destination has no trace of it.",
  },
  "safe-to-retry": {
    name: "Safe to run again",
    effect:
      "The call runs once more with the same idempotency key. Choose it only when a repeat does no harm.",
  },
  "abort-submission": {
    name: "Abort the run",
    effect: "Nothing further runs. The effect stays recorded as unknown.",
  },
};
// Written in the order of the map above, whose keys are exactly the four kinds.
const kinds = Object.keys(choices) as ReadonlyArray<ResolutionKind>;
/** Of a settled run only the truth can still be noted: nothing of it runs or ends any more. */
const settledKinds = ["completed-with-result", "never-happened"] as const;
const noted = "This is noted beside the run, which is settled. Nothing runs.";

/** What the server said of the result, for the editor that it was typed in. */
const refusedResult = (error: unknown): string | undefined =>
  error instanceof ApiFailure &&
  error.reason._tag === "InvalidInput" &&
  (error.reason.path === "result" || error.reason.path === "body.result")
    ? error.reason.message
    : undefined;

/** Settles an effect in doubt: a way, a reason and evidence; asked once with its effect stated (C062, C102). */
export function ResolveForm({ detail }: { detail: UnknownDetail }) {
  const { api } = useConsole();
  const client = useQueryClient();
  const me = useMe();
  const lock = useDecisionLock();
  const group = useId();
  const [kind, setKind] = useState<ResolutionKind>();
  const [result, setResult] = useState<EditedJson>({ text: "", isReadable: false });
  const [failure, setFailure] = useState(false);
  const [reason, setReason] = useState("");
  const [evidence, setEvidence] = useState("");
  const [armed, setArmed] = useState(false);
  const [sent, setSent] = useState<SentCommand>();

  const offered: ReadonlyArray<ResolutionKind> = detail.afterSettlement ? settledKinds : kinds;
  const effectOf = (one: ResolutionKind): string =>
    detail.afterSettlement ? noted : choices[one].effect;
  const parsed = kind === "completed-with-result" ? parseJson(result.text) : undefined;
  const complete =
    kind !== undefined &&
    reason.trim() !== "" &&
    evidence.trim() !== "" &&
    (parsed === undefined || parsed._tag === "Success");

  const resolve = useMutation({
    mutationFn: async ({ commandId }: SentCommand) => {
      if (kind === undefined) throw new Error("nothing was chosen");
      return api.resolveUnknown(detail.unknownId, commandId, {
        resolution: kind,
        parametersDigest: detail.parametersDigest,
        reason: reason.trim(),
        evidence: evidence.trim(),
        ...(parsed?._tag === "Success" ? { result: parsed.success, isFailure: failure } : {}),
      });
    },
    onMutate: (command) => setSent(command),
    onError: (error, command) => setSent(afterFailure(command, error)),
    onSettled: async () => {
      setArmed(false);
      await client.invalidateQueries({ queryKey: keys.unknown(detail.unknownId) });
      await client.invalidateQueries({ queryKey: ["unknowns"] });
    },
  });

  const stands = resolve.isError && firstTryStands(sent, resolve.error);
  if (!isAtLeast(me, "operator")) {
    return <p className="text-soft">Resolving needs the role operator; yours is {me.role}.</p>;
  }
  const edit =
    <A,>(set: (value: A) => void) =>
    (value: A): void => {
      set(value);
      setArmed(false);
    };
  return (
    <form
      className="flex max-w-[760px] flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        if (!complete || resolve.isPending || lock !== undefined) return;
        if (!armed) return setArmed(true);
        const content = JSON.stringify([kind, result.text, failure, reason, evidence]);
        resolve.mutate(
          commandToSend(
            sent,
            { verb: "resolve", reason: reason.trim(), content },
            api.newCommandId,
          ),
        );
      }}
    >
      <fieldset className="flex flex-col gap-1">
        <legend className="mb-1 font-medium">What is the truth?</legend>
        {offered.map((one) => (
          <div key={one} className="flex items-start gap-2">
            <input
              id={`${group}-${one}`}
              type="radio"
              name={group}
              checked={kind === one}
              onChange={() => edit(setKind)(one)}
              className="mt-1"
            />
            <label htmlFor={`${group}-${one}`}>
              <span className="font-medium">{choices[one].name}</span>
              <span className="block text-table text-soft">{effectOf(one)}</span>
            </label>
          </div>
        ))}
      </fieldset>
      {kind === "completed-with-result" ? (
        <>
          <JsonEditor
            label="Result as JSON"
            edited={result}
            onEdit={edit(setResult)}
            schema={failure ? (detail.failureSchema ?? {}) : detail.resultSchema}
            refused={refusedResult(resolve.error)}
            rows={5}
          />
          <label htmlFor={`${group}-failure`} className="flex items-center gap-2">
            <input
              id={`${group}-failure`}
              type="checkbox"
              checked={failure}
              onChange={(event) => edit(setFailure)(event.target.checked)}
            />
            It is the tool's own failure, not its success
          </label>
          <details>
            <summary className="cursor-pointer text-soft">Schema that the result must meet</summary>
            <JsonValue
              value={failure ? (detail.failureSchema ?? {}) : detail.resultSchema}
              label="schema"
              maxHeight={220}
            />
          </details>
        </>
      ) : null}
      <Field
        label="Evidence"
        hint="Where you looked and what you saw there, so that another person can look too."
      >
        {(ids) => (
          <TextArea
            {...ids}
            value={evidence}
            rows={2}
            maxLength={4_000}
            onChange={(event) => edit(setEvidence)(event.target.value)}
          />
        )}
      </Field>
      <Field label="Reason">
        {(ids) => (
          <TextArea
            {...ids}
            value={reason}
            rows={2}
            maxLength={2_000}
            onChange={(event) => edit(setReason)(event.target.value)}
          />
        )}
      </Field>
      {resolve.isError && sent?.inDoubt === true ? (
        <LostAnswer
          attempt={`${sent.commandId} ${resolve.submittedAt}`}
          readTruth={async () => resolutionTruth((await api.unknown(detail.unknownId)).value)}
          stands={stands}
          said={sent.reason}
        />
      ) : null}
      {resolve.isError && !stands && refusedResult(resolve.error) === undefined ? (
        <ErrorPanel error={resolve.error} small />
      ) : null}
      <div className="flex flex-wrap items-center gap-2">
        <Button
          kind="primary"
          type="submit"
          disabled={!complete || resolve.isPending || lock !== undefined}
        >
          {resolve.isPending ? "Sending…" : armed ? "Press again to resolve" : "Resolve"}
        </Button>
        <span className="text-soft">
          {lock ??
            (kind === undefined
              ? "Choose what is true; a reason and evidence are needed."
              : effectOf(kind))}
        </span>
      </div>
    </form>
  );
}

const resolutionTruth = ({ resolution }: UnknownDetail): string =>
  resolution === null
    ? "the effect is still in doubt."
    : `${resolution.actor.name} resolved it as ${resolution.kind}: ${resolution.reason}`;

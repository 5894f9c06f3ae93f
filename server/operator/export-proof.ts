/** Hands out a run's proof pack: an audited act, for whoever may read the audit (C099). */
import { createHash } from "node:crypto";
import * as Effect from "effect/Effect";
import * as Stream from "effect/Stream";
import type { ExportProof } from "#lib/contract/commands.ts";
import type { RunId } from "#lib/contract/ids.ts";
import { proofLines } from "#server/views/proof-pack.ts";
import { requireRun } from "#server/views/require-run.ts";
import { actorOf, type Operator, runCommand } from "./run-command.ts";

/** Adds the last line: the count and the digest of all before it. */
const closed = <E, R>(lines: Stream.Stream<string, E, R>): Stream.Stream<string, E, R> =>
  Stream.suspend(() => {
    const hash = createHash("sha256");
    let count = 0;
    const counted = Stream.map(lines, (line) => {
      const text = `${line}\n`;
      hash.update(text);
      count += 1;
      return text;
    });
    const end = Effect.sync(
      () => `${JSON.stringify({ kind: "end", lines: count, digest: hash.digest("hex") })}\n`,
    );
    return Stream.concat(counted, Stream.fromEffect(end));
  });

/** The pack as text, line by line. It is written down before the first line is given, so its own row is in it. */
export const exportProof = Effect.fn("operator.exportProof")(function* (
  operator: Operator,
  runId: RunId,
  { commandId }: ExportProof,
) {
  const { tenantId } = operator;
  yield* runCommand(
    { operator, act: "export-proof", target: runId, commandId, payload: null, reason: "" },
    Effect.as(requireRun(tenantId, runId), { runId, before: null, after: null }),
  );
  return closed(yield* proofLines(tenantId, runId, actorOf(operator)));
});

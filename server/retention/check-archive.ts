/** Checks an archive file against its manifest and its records against each other, line by line. */
import { createHash } from "node:crypto";
import { createReadStream, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import { sha256Hex } from "#lib/contract/json/digest.ts";
import { utf8ByteLength } from "#lib/contract/json/utf8.ts";
import { makeResultVerifier } from "#lib/durable/verify-results.ts";
import {
  type JournalFault,
  makeThreadVerifier,
  type ThreadVerifier,
} from "#lib/durable/verify-thread.ts";
import { ArchiveLine, Manifest, manifestOf } from "./archive-format.ts";
import type { Range, Segment } from "./find-segments.ts";
import { ArchiveRefused, attempt } from "./write-archive.ts";

const decodeLine = Schema.decodeUnknownResult(Schema.fromJsonString(ArchiveLine));
const decodeKept = Schema.decodeUnknownResult(
  Schema.Struct({ run_id: Schema.String, result_id: Schema.String, body: Schema.String }),
);
const decodeManifest = Schema.decodeUnknownResult(Schema.fromJsonString(Manifest));

export interface ArchiveCheck {
  readonly manifest: Manifest | undefined;
  readonly records: number;
  readonly segments: ReadonlyArray<Segment>;
  readonly faults: ReadonlyArray<JournalFault>;
}

/** Archives of a folder, oldest first of each tenant. */
export const listArchives = (folder: string) =>
  attempt(`Reading the folder ${folder}`, () =>
    readdirSync(folder)
      .filter((name) => name.endsWith(".jsonl"))
      .toSorted(),
  );

/** Takes away what a killed pass had not finished; the rows of it are all still there. */
export const clearPartials = (folder: string) =>
  attempt(`Clearing the folder ${folder}`, () => {
    mkdirSync(folder, { recursive: true });
    for (const name of readdirSync(folder))
      if (name.endsWith(".partial")) rmSync(path.join(folder, name));
  });

/** The check of one file while it is read. */
const makeCheck = (file: string) => {
  const faults: Array<JournalFault> = [];
  const segments: Array<Segment & { readonly ranges: Array<Range> }> = [];
  const results = makeResultVerifier();
  let tenantId = "";
  let records = 0;
  let line = 0;
  let open:
    | {
        readonly verifier: ThreadVerifier;
        readonly thread: Extract<ArchiveLine, { kind: "thread" }>;
      }
    | undefined;
  const fault = (expected: string, seen: string) =>
    faults.push({
      kind: "archive",
      where: file,
      sequence: null,
      expected,
      seen: `line ${line}: ${seen}`,
    });

  const take = (text: string): void => {
    line += 1;
    const read = decodeLine(text);
    if (Result.isFailure(read)) {
      fault("a line of an archive", "something else");
      return;
    }
    const entry = read.success;
    if (entry.kind === "archive") tenantId = entry.tenantId;
    else if (entry.kind === "thread")
      open = { verifier: makeThreadVerifier(entry.threadId, entry.after), thread: entry };
    else if (open?.thread.threadId !== entry.threadId)
      fault("a line of an open thread", entry.kind);
    else if (entry.kind === "record") {
      const taken = open.verifier.take({ ...entry, kind: entry.recordKind });
      faults.push(...taken.faults);
      if (taken.record !== undefined) results.named(entry.threadId, entry.sequence, taken.record);
      records += 1;
    } else if (entry.kind === "row" && entry.table === "kept_results") {
      const kept = decodeKept(entry.row);
      if (Result.isFailure(kept)) {
        fault("a row of kept_results", "something else");
        return;
      }
      const { body, result_id: resultId, run_id: runId } = kept.success;
      const text = { runId, resultId, bytes: utf8ByteLength(body), digest: sha256Hex(body) };
      faults.push(...results.found(entry.threadId, text));
    } else if (entry.kind === "thread-end") {
      const end = open.verifier.tail();
      const { through, runIds, threadId } = entry;
      if (end.sequence !== through.sequence || end.digest !== through.digest)
        fault(
          `${threadId} to end at ${through.sequence} ${through.digest}`,
          `${end.sequence} ${end.digest}`,
        );
      const { agentId, after } = open.thread;
      const range = { after, through, runIds };
      // Parts of one thread that follow each other went together.
      const last = segments.at(-1);
      if (last?.threadId === threadId) last.ranges.push(range);
      else segments.push({ tenantId, threadId, agentId, ranges: [range] });
      open = undefined;
    }
  };
  return {
    take,
    fault,
    end: () => {
      // A run's texts come with its last part.
      faults.push(...results.end());
      if (open !== undefined) fault("every thread to be closed", `${open.thread.threadId} is open`);
      return { records, segments, faults };
    },
  };
};

const readLines = (file: string, take: (text: string) => void) =>
  Effect.tryPromise({
    try: async () => {
      const hash = createHash("sha256");
      const bytes = createReadStream(file);
      bytes.on("data", (chunk) => hash.update(chunk));
      for await (const text of createInterface({ input: bytes, crlfDelay: Infinity })) take(text);
      return hash.digest("hex");
    },
    catch: (error) =>
      new ArchiveRefused({
        message: `Reading the archive ${file} failed: ${error instanceof Error ? error.message : String(error)}`,
      }),
  });

/** @param known the digest of the file, where a database knows it */
export const checkArchive = Effect.fn("checkArchive")(function* (
  folder: string,
  name: string,
  known?: string,
) {
  const file = path.join(folder, name);
  const check = makeCheck(name);
  const sha256 = yield* readLines(file, check.take);
  const text = yield* Effect.result(
    attempt("Reading the manifest", () => readFileSync(manifestOf(file), "utf8")),
  );
  const manifest = Result.getOrUndefined(Result.flatMap(text, decodeManifest));
  const { records, segments, faults } = check.end();
  const whole = (expected: string, seen: string): JournalFault => ({
    kind: "archive",
    where: name,
    sequence: null,
    expected,
    seen,
  });
  const about: Array<JournalFault> = [];
  if (known !== undefined && known !== sha256)
    about.push(whole(`SHA-256 ${known}, which the database knows it by`, sha256));
  if (manifest === undefined) about.push(whole("a manifest beside it", "none that can be read"));
  else {
    if (manifest.sha256 !== sha256) about.push(whole(`SHA-256 ${manifest.sha256}`, sha256));
    if (manifest.records !== records)
      about.push(whole(`${manifest.records} records`, `${records}`));
  }
  return { manifest, records, segments, faults: [...about, ...faults] } satisfies ArchiveCheck;
});

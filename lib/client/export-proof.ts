/** A run's proof pack as a file; its lines are not read here, only its first one is looked at. */
import { ApiFailure, failureOfAnswer } from "./api-failure.ts";
import type { Surroundings } from "./request.ts";

export interface ProofFile {
  readonly blob: Blob;
  readonly name: string;
  /** Of the run's last record, which later packs of this run hold too; undefined where there is none. */
  readonly lastDigest: string | undefined;
}

/** Longer than any command: a run of many records is collected while it is read. */
const patienceSeconds = 300;

const digestOf = (text: string): string | undefined =>
  /"runTail":\{"sequence":\d+,"digest":"([0-9a-f]{64})"\}/.exec(text)?.[1];

/** The last line of every pack is about 120 bytes. */
const endBytes = 200;

/** Whether a text, of which this is the end, stops behind its last line: also that line may be cut. */
const isEnded = (end: string): boolean => {
  const lines = end.split("\n");
  const last: unknown = lines.pop() === "" ? parsed(lines.pop() ?? "") : undefined;
  return typeof last === "object" && last !== null && "kind" in last && last.kind === "end";
};

/** All of a body, told of each piece as it comes; rejects where it ends before its framing says so. */
const wholeBody = (response: Response, came: (bytes: number) => void): Promise<Blob> => {
  if (response.body === null) return response.blob();
  const counted = response.body.pipeThrough(
    new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform: (piece, controller) => {
        came(piece.byteLength);
        controller.enqueue(piece);
      },
    }),
  );
  return new Response(counted).blob();
};

/** Rejects with `ApiFailure`. A pack that stops before its last line is not handed out. */
export const exportProof = async (
  { fetch }: Surroundings,
  runId: string,
  commandId: string,
): Promise<ProofFile> => {
  const path = `/runs/${encodeURIComponent(runId)}/proof`;
  const deadline = AbortSignal.timeout(patienceSeconds * 1_000);
  let response: Response;
  try {
    response = await fetch(`/api/v1${path}`, {
      method: "POST",
      credentials: "same-origin",
      cache: "no-store",
      redirect: "error",
      signal: deadline,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ commandId }),
    });
  } catch {
    throw new ApiFailure(
      deadline.aborted
        ? {
            _tag: "NoAnswerInTime",
            seconds: patienceSeconds,
            message: `The server has not answered POST ${path}.`,
          }
        : { _tag: "NetworkFailed", message: `POST ${path} did not get through.` },
    );
  }
  let bytes = 0;
  const cut = (why: string): ApiFailure =>
    new ApiFailure({ _tag: "DownloadCut", message: `${why} after ${bytes} bytes of the pack.` });
  const blob = await wholeBody(response, (more) => {
    bytes += more;
  }).catch(() => {
    // What was refused is no part of a pack, however little of the refusal came.
    if (!response.ok) return new Blob();
    throw cut(
      deadline.aborted
        ? `It was given up for taking longer than ${patienceSeconds} s,`
        : "The connection ended",
    );
  });
  if (!response.ok) throw failureOfAnswer(response.status, parsed(await blob.text()));
  const end = await blob.slice(Math.max(0, blob.size - endBytes)).text();
  // Whatever lies between may end a cut answer as if it were whole; the pack's own last line tells.
  if (!isEnded(end)) throw cut("It ended without its last line,");
  const start = await blob.slice(0, 4_096).text();
  return { blob, name: `proof-${runId}.ndjson`, lastDigest: digestOf(start) };
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

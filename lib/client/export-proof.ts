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

/** Rejects with `ApiFailure`. A pack that stops before its last line is not handed out. */
export const exportProof = async (
  { fetch }: Surroundings,
  runId: string,
  commandId: string,
): Promise<ProofFile> => {
  const path = `/runs/${encodeURIComponent(runId)}/proof`;
  const lost = (message: string) => new ApiFailure({ _tag: "NetworkFailed", message });
  let response: Response;
  let blob: Blob;
  try {
    response = await fetch(`/api/v1${path}`, {
      method: "POST",
      credentials: "same-origin",
      cache: "no-store",
      redirect: "error",
      signal: AbortSignal.timeout(patienceSeconds * 1_000),
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ commandId }),
    });
    blob = await response.blob();
  } catch {
    throw lost(`POST ${path} did not get through.`);
  }
  if (!response.ok) {
    const text = await blob.text();
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch {
      body = undefined;
    }
    throw failureOfAnswer(response.status, body);
  }
  const end = await blob.slice(Math.max(0, blob.size - 200)).text();
  if (!end.includes('{"kind":"end"')) throw lost("The proof pack stopped before its end.");
  const start = await blob.slice(0, 4_096).text();
  return { blob, name: `proof-${runId}.ndjson`, lastDigest: digestOf(start) };
};

import { assert, describe, it } from "@effect/vitest";
import { ApiFailure } from "#lib/client/api-failure.ts";
import { errorCopy } from "#lib/client/error-copy.ts";
import { exportProof } from "#lib/client/export-proof.ts";
import { makeServerClock } from "#lib/client/server-clock.ts";
import { startCutAnswers } from "#tests/support/cut-answer.ts";

const beginning = `{"kind":"proof","runTail":{"sequence":3,"digest":"${"a".repeat(64)}"}}\n`;

const exportFrom = (answer: (path: string) => Promise<Response>) =>
  exportProof(
    {
      fetch: (path) => answer(String(path)),
      now: () => 0,
      clock: makeServerClock(() => 0),
      randomId: () => "id",
    },
    "run_1",
    "c1",
  );

const failureOf = async (answer: (path: string) => Promise<Response>) => {
  const failure = await exportFrom(answer).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(failure instanceof ApiFailure))
    throw new Error(`no failure of the API: ${String(failure)}`);
  return failure;
};

describe("the download of a proof pack", () => {
  for (const how of ["broken", "quiet"] as const)
    it(`[C081] one that was cut in the middle (${how}) says so, how far it came, and that nothing was saved`, async () => {
      const server = await startCutAnswers(beginning, how);
      try {
        const failure = await failureOf((path) => fetch(`${server.origin}${path}`));
        assert.strictEqual(failure.tag, "DownloadCut");
        assert.include(failure.message, `after ${beginning.length} bytes`);
        const { next, title } = errorCopy(failure.reason);
        assert.strictEqual(title, "The download was cut");
        assert.include(next, "Nothing was saved");
      } finally {
        await server.close();
      }
    });

  it("one that never began could not reach the server, and a refusal is the server's own", async () => {
    const unreached = await failureOf(() => Promise.reject(new TypeError("refused")));
    assert.strictEqual(unreached.tag, "NetworkFailed");
    const refused = await failureOf(async () =>
      Response.json(
        { _tag: "Forbidden", message: "Not yours.", needs: "operator" },
        { status: 403 },
      ),
    );
    assert.strictEqual(refused.tag, "Forbidden");
  });

  it("one that came whole is the file, byte for byte, with the digest that it names", async () => {
    const whole = `${beginning}{"kind":"end","lines":1}\n`;
    const { blob, lastDigest, name } = await exportFrom(async () => new Response(whole));
    assert.strictEqual(await blob.text(), whole);
    assert.deepStrictEqual([lastDigest, name], ["a".repeat(64), "proof-run_1.ndjson"]);
  });
});

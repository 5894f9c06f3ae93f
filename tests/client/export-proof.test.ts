import http from "node:http";
import { gunzipSync, gzipSync } from "node:zlib";
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

  it("[C081] one that is cut at any byte is none: within its last line, within a character, within a value that looks like the end", async () => {
    const hostile = `{"kind":"record","body":{"text":"€😀","input":{"kind":"end"},"last":{"kind":"end","lines":9}}}\n`;
    const end = `{"kind":"end","lines":2,"digest":"${"b".repeat(64)}"}\n`;
    const whole = new TextEncoder().encode(`${beginning}${hostile}${end}`);
    for (let length = 0; length < whole.length; length += 1) {
      const failure = await failureOf(async () => new Response(whole.slice(0, length)));
      assert.strictEqual(failure.tag, "DownloadCut", `after ${length} bytes`);
      assert.include(failure.message, `after ${length} bytes`);
    }
    assert.strictEqual((await exportFrom(async () => new Response(whole))).blob.size, whole.length);
  });

  it("[C081] one packed with gzip on its way is cut at any byte too", async () => {
    const whole = gzipSync(`${beginning}{"kind":"end","lines":1,"digest":"${"c".repeat(64)}"}\n`);
    let body = whole.subarray(0, 0);
    const server = http.createServer((_request, response) => {
      response.writeHead(200, { "content-encoding": "gzip" });
      response.end(body);
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("the server has no port");
    const read = (path: string) => fetch(`http://127.0.0.1:${address.port}${path}`);
    try {
      for (let length = 0; length < whole.length; length += 1) {
        body = whole.subarray(0, length);
        // Without the eight bytes of its check, all of the text may be there, and whole.
        const end = await exportFrom(read).then(
          ({ blob }) => blob.text(),
          ({ tag }) => tag,
        );
        if (end !== "DownloadCut") assert.strictEqual(end, gunzipSync(whole).toString());
      }
    } finally {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    }
  });

  it("a refusal that is cut is still a refusal, not a part of a pack", async () => {
    const failure = await failureOf(
      async () =>
        new Response(
          new ReadableStream({
            start: (controller) => {
              controller.enqueue(new TextEncoder().encode('{"_tag":"StoreUn'));
            },
            pull: (controller) => controller.error(new TypeError("terminated")),
          }),
          { status: 503 },
        ),
    );
    assert.strictEqual(failure.tag, "UnreadableAnswer");
  });

  it("one that came whole is the file, byte for byte, with the digest that it names", async () => {
    const whole = `${beginning}{"kind":"end","lines":1}\n`;
    const { blob, lastDigest, name } = await exportFrom(async () => new Response(whole));
    assert.strictEqual(await blob.text(), whole);
    assert.deepStrictEqual([lastDigest, name], ["a".repeat(64), "proof-run_1.ndjson"]);
  });
});

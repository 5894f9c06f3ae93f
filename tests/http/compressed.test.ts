/** Which answers are compressed, for whom, and that they are the same once unpacked. */
import { gunzipSync } from "node:zlib";
import { assert, describe, it } from "@effect/vitest";
import { Effect, Stream } from "effect";
import { HttpServerRequest, HttpServerResponse } from "effect/unstable/http";
import { compressed, takesGzip } from "#server/http/compressed.ts";

const long = JSON.stringify(Array.from({ length: 2_000 }, (_, index) => ({ index, text: "é" })));

const answerTo = (
  headers: Record<string, string>,
  response: HttpServerResponse.HttpServerResponse,
  method = "GET",
) =>
  compressed(response).pipe(
    Effect.provideService(
      HttpServerRequest.HttpServerRequest,
      HttpServerRequest.fromWeb(new Request("http://localhost/api/v1/runs", { headers, method })),
    ),
    Effect.map((answer) => HttpServerResponse.toWeb(answer)),
  );

const bytesOf = (answer: Response) =>
  Effect.promise(async () => new Uint8Array(await answer.arrayBuffer()));

const json = (text: string) => HttpServerResponse.text(text, { contentType: "application/json" });

describe("compressed answers", () => {
  it("are asked for by name or by a star, and what is said of gzip itself counts", () => {
    for (const taken of ["gzip", "GZIP", "br, gzip;q=0.1", "deflate, x-gzip", "*", "*;q=0, gzip"])
      assert.isTrue(takesGzip(taken), taken);
    for (const refused of [undefined, "", "br", "gzip;q=0", "gzip;q=0.0, *", "*;q=0", "gzipped"])
      assert.isFalse(takesGzip(refused), String(refused));
  });

  it.effect("are the same text once unpacked, shorter, and say what they are", () =>
    Effect.gen(function* () {
      const answer = yield* answerTo({ "accept-encoding": "gzip, br" }, json(long));
      assert.strictEqual(answer.headers.get("content-encoding"), "gzip");
      assert.strictEqual(answer.headers.get("content-type"), "application/json");
      assert.strictEqual(answer.headers.get("vary"), "accept-encoding");
      const bytes = yield* bytesOf(answer);
      assert.strictEqual(answer.headers.get("content-length"), String(bytes.length));
      assert.isBelow(bytes.length, long.length / 4);
      assert.strictEqual(gunzipSync(bytes).toString("utf8"), long);
    }),
  );

  it.effect(
    "are not made for who did not ask, of what is short or no JSON, and of no command",
    () =>
      Effect.gen(function* () {
        const takes = { "accept-encoding": "gzip" };
        const plain = [
          yield* answerTo({}, json(long)),
          yield* answerTo(takes, json("[1]")),
          yield* answerTo(takes, HttpServerResponse.text(long, { contentType: "text/plain" })),
          yield* answerTo(takes, json(long), "POST"),
        ];
        for (const answer of plain) assert.isNull(answer.headers.get("content-encoding"));
        assert.strictEqual(
          new TextDecoder().decode(yield* bytesOf(plain[0] ?? new Response())),
          long,
        );
      }),
  );

  it.effect("leave a stream alone: its events go out as they come", () =>
    Effect.gen(function* () {
      const events = HttpServerResponse.stream(Stream.make(new TextEncoder().encode(long)), {
        contentType: "application/json",
      });
      assert.strictEqual(
        yield* compressed(events).pipe(
          Effect.provideService(
            HttpServerRequest.HttpServerRequest,
            HttpServerRequest.fromWeb(
              new Request("http://localhost/api", { headers: { "accept-encoding": "gzip" } }),
            ),
          ),
        ),
        events,
      );
    }),
  );
});

import { assert, describe, it } from "@effect/vitest";
import * as Schema from "effect/Schema";
import { makeAnswers } from "#lib/client/answers.ts";
import { request } from "#lib/client/request.ts";
import { makeServerClock } from "#lib/client/server-clock.ts";

const ask = (answers: ReturnType<typeof makeAnswers>, respond: () => Promise<Response>) =>
  request(
    {
      fetch: respond,
      now: () => 0,
      clock: makeServerClock(() => 0),
      randomId: () => "id",
      onSuccess: answers.came,
    },
    { path: "/counts", answer: Schema.Unknown },
  ).catch(() => undefined);

describe("word of answers", () => {
  it("[C064] whoever waits for the server hears of each request that it answered, and of no other", async () => {
    const answers = makeAnswers();
    let heard = 0;
    const stop = answers.onAnswer(() => {
      heard += 1;
    });
    await ask(answers, () => Promise.reject(new TypeError("refused")));
    await ask(answers, async () => new Response("{}", { status: 503 }));
    assert.strictEqual(heard, 0);
    await ask(answers, async () => new Response("{}"));
    assert.strictEqual(heard, 1);
    stop();
    await ask(answers, async () => new Response("{}"));
    assert.strictEqual(heard, 1);
  });
});

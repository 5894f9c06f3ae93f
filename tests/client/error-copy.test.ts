import { assert, describe, it } from "@effect/vitest";
import * as errors from "#lib/contract/errors.ts";
import { ApiFailure, failureOfAnswer, isInDoubt } from "#lib/client/api-failure.ts";
import { errorCopy, knownFailureTags } from "#lib/client/error-copy.ts";

/** One body of every error of the contract, as it stands on the wire. */
const bodies: ReadonlyArray<
  readonly [number, Readonly<Record<string, unknown>> & { readonly _tag: string }]
> = [
  [401, { _tag: "Unauthenticated", message: "What happened, where and why." }],
  [403, { _tag: "Forbidden", message: "What happened, where and why.", needs: "operator" }],
  [404, { _tag: "NotFound", message: "What happened, where and why.", what: "run" }],
  [
    422,
    {
      _tag: "InvalidInput",
      message: "What happened, where and why.",
      path: "reason",
      limit: "2000",
      seen: "2001",
    },
  ],
  [409, { _tag: "IdempotencyConflict", message: "What happened, where and why.", key: "k" }],
  [
    409,
    {
      _tag: "ApprovalAlreadyDecided",
      message: "What happened, where and why.",
      decision: "denied",
      decidedBy: "Ben",
      decidedAt: 1,
    },
  ],
  [
    409,
    {
      _tag: "ApprovalChanged",
      message: "What happened, where and why.",
      seenDigest: "a",
      currentDigest: "b",
    },
  ],
  [403, { _tag: "ApproverRefused", message: "What happened, where and why." }],
  [
    409,
    {
      _tag: "UnknownAlreadyResolved",
      message: "What happened, where and why.",
      resolution: "never-happened",
      resolvedBy: "B",
      resolvedAt: 1,
    },
  ],
  [409, { _tag: "RunAlreadySettled", message: "What happened, where and why.", state: "failed" }],
  [
    410,
    {
      _tag: "RunArchived",
      message: "What happened, where and why.",
      outcome: "completed",
      settledAt: 1,
      archivedAt: 2,
      archive: null,
    },
  ],
  [409, { _tag: "ProbeRefused", message: "What happened, where and why.", why: "under-way" }],
  [409, { _tag: "WakeRefused", message: "What happened, where and why.", state: "waiting" }],
  [409, { _tag: "RetryRefused", message: "What happened, where and why.", state: "failed" }],
  [
    429,
    {
      _tag: "TooManyAttempts",
      message: "What happened, where and why.",
      retryAfterSeconds: 3,
    },
  ],
  [429, { _tag: "TooManyStreams", message: "What happened, where and why.", limit: 64 }],
  [503, { _tag: "StoreUnavailable", message: "What happened, where and why." }],
  [403, { _tag: "OriginRefused", message: "What happened, where and why." }],
];

describe("error copy", () => {
  it("every error class of the contract is decoded from the wire and has its words", () => {
    const classes = Object.keys(errors);
    assert.sameMembers(
      bodies.map(([, body]) => body._tag),
      classes,
    );
    for (const [status, body] of bodies) {
      const failure = failureOfAnswer(status, body);
      assert.strictEqual(failure.tag, body._tag);
      const copy = errorCopy(failure.reason);
      for (const words of [copy.title, copy.cause, copy.next])
        assert.isTrue(words.length > 3, body._tag);
      assert.notInclude(`${copy.title}${copy.cause}${copy.next}`, "undefined");
    }
  });

  it("the map knows exactly the contract's errors and the four ways an answer can go missing", () => {
    assert.sameMembers(
      [...knownFailureTags],
      [
        ...bodies.map(([, body]) => body._tag),
        "NetworkFailed",
        "NoAnswerInTime",
        "DownloadCut",
        "UnreadableAnswer",
      ],
    );
  });

  it("[C039] only an answer that never came or cannot be read leaves the outcome in doubt", () => {
    for (const [status, body] of bodies) assert.isFalse(isInDoubt(failureOfAnswer(status, body)));
    assert.isTrue(isInDoubt(failureOfAnswer(500, "<html>")));
    assert.isTrue(
      isInDoubt(
        new ApiFailure({ _tag: "NetworkFailed", message: "What happened, where and why." }),
      ),
    );
  });
});

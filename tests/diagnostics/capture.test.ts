import { assert, describe, it } from "@effect/vitest";
import { Cause, Effect, Redacted, Schema } from "effect";
import { AiError } from "effect/unstable/ai";
import * as fc from "fast-check";
import { CapturedDiagnostic, type DiagnosticNode } from "#lib/contract/diagnostic.ts";
import { utf8ByteLength } from "#lib/contract/json/utf8.ts";
import { FailureDiagnostic } from "#lib/failure-diagnostic.ts";

const { capture, diagnosticLimits: limits } = FailureDiagnostic;

class PaymentRefused extends Schema.TaggedError<PaymentRefused>()("PaymentRefused", {
  message: Schema.String,
  code: Schema.String,
  ssn: Schema.String,
}) {}

const rootOf = (value: unknown): DiagnosticNode => capture(value).root;
const failureOf = (node: DiagnosticNode | undefined) => {
  assert.strictEqual(node?._tag, "Failure");
  return node as Extract<DiagnosticNode, { readonly _tag: "Failure" }>;
};

/** Measures an encoded diagnostic the slow and obvious way. */
const measure = (value: unknown) => {
  const found = { levels: 0, nodes: 0, textBytes: 0, longest: 0, longestList: 0 };
  const visit = (part: unknown, level: number): void => {
    if (typeof part === "string") {
      const bytes = utf8ByteLength(part);
      found.textBytes += bytes;
      found.longest = Math.max(found.longest, bytes);
    }
    if (typeof part !== "object" || part === null) return;
    found.levels = Math.max(found.levels, level);
    if (Array.isArray(part)) found.longestList = Math.max(found.longestList, part.length);
    const tag: unknown = Reflect.get(part, "_tag");
    if (typeof tag === "string" && ["Failure", "Text", "Scalar", "Cause", "Omitted"].includes(tag))
      found.nodes += 1;
    // The word that names an omission is not text of the failure.
    if (tag === "Omitted") return;
    for (const [key, child] of Object.entries(part))
      if (key !== "_tag" && key !== "omittedFields") visit(child, level + 1);
  };
  visit(value, 1);
  return found;
};

const assertBounded = (captured: CapturedDiagnostic) => {
  const found = measure(captured);
  assert.isAtMost(found.levels, limits.maxLevels);
  assert.isAtMost(found.nodes, limits.maxNodes);
  assert.isAtMost(found.textBytes, limits.maxTextBytes);
  assert.isAtMost(found.longest, limits.maxStringBytes);
  assert.isAtMost(found.longestList, limits.maxListLength);
  assert.deepStrictEqual(
    Schema.decodeUnknownSync(CapturedDiagnostic)(JSON.parse(JSON.stringify(captured))),
    captured,
  );
};

describe("what is kept", () => {
  it("[DX-02] tag, message, code, stack and causes survive, and a payload field does not, by name or value", () => {
    const error = new PaymentRefused({ message: "Card declined", code: "E42", ssn: "078-05-1120" });
    Object.assign(error, { cause: new TypeError("socket closed") });
    const node = failureOf(rootOf(error));
    assert.strictEqual(node.tag, "PaymentRefused");
    assert.strictEqual(node.message, "Card declined");
    assert.strictEqual(node.code, "E42");
    assert.include(node.stack ?? "", "capture.test");
    const cause = failureOf(node.cause);
    assert.strictEqual(cause.name, "TypeError");
    assert.strictEqual(cause.message, "socket closed");
    const text = JSON.stringify(capture(error));
    assert.notInclude(text, "ssn");
    assert.notInclude(text, "078-05-1120");
    assert.strictEqual(node.excludedFields, 1);
  });

  it("[DX-02] aggregated errors and a structured reason are captured in order", () => {
    const aggregate = failureOf(
      rootOf(new AggregateError([new RangeError("one"), "two", 3], "several")),
    );
    assert.deepStrictEqual(
      aggregate.errors?.map((node) => (node._tag === "Failure" ? node.message : node)),
      ["one", { _tag: "Text", text: "two" }, { _tag: "Scalar", value: 3 }],
    );
    const aiError = AiError.make({
      module: "Provider",
      method: "generateText",
      reason: new AiError.ToolNotFoundError({
        toolName: "x",
        availableTools: ["customer_secret_tool"],
      }),
    });
    const node = failureOf(rootOf(aiError));
    assert.strictEqual(failureOf(node.reason).tag, "ToolNotFoundError");
    assert.isUndefined(node.cause, "the reason is not captured a second time as the cause");
  });

  it("[DX-02] failures, defects and interruptions of an Effect cause keep their kinds and their order", () => {
    const cause = Cause.fromReasons([
      Cause.makeFailReason(new PaymentRefused({ message: "no", code: "1", ssn: "s" })),
      Cause.makeDieReason("boom"),
      Cause.makeInterruptReason(7),
      Cause.makeInterruptReason(),
    ]);
    const root = rootOf(cause);
    assert.strictEqual(root._tag, "Cause");
    if (root._tag !== "Cause") return;
    assert.deepStrictEqual(
      root.reasons.map((reason) => reason._tag),
      ["Fail", "Die", "Interrupt", "Interrupt"],
    );
    assert.deepStrictEqual(root.reasons.slice(1), [
      { _tag: "Die", defect: { _tag: "Text", text: "boom" } },
      { _tag: "Interrupt", fiberId: 7 },
      { _tag: "Interrupt" },
    ]);
  });

  it("[DX-03][DX-04] Redacted values and values that are no data are named omissions", () => {
    const omitted = (value: unknown) => rootOf(value);
    assert.deepStrictEqual(omitted(Redacted.make("hunter2")), {
      _tag: "Omitted",
      reason: "redacted",
    });
    for (const value of [undefined, 10n, Symbol("s"), () => 1]) {
      assert.deepStrictEqual(omitted(value), { _tag: "Omitted", reason: "unsupported" });
    }
    assert.deepStrictEqual(omitted(null), { _tag: "Scalar", value: null });
    assert.deepStrictEqual(omitted(Number.NaN), { _tag: "Text", text: "NaN" });
  });

  it("[DX-03][R89] a credential in message, stack, cause, reason, code or name is gone everywhere", () => {
    const canary = "hunter2-canary";
    const error = new Error(`login with password: ${canary}`, {
      cause: {
        reason: `Bearer ${canary}`,
        code: `token=${canary}`,
        name: `secret=${canary}`,
        _tag: `secret=${canary}`,
      },
    });
    assert.notInclude(JSON.stringify(capture(error)), canary);
  });
});

describe("bounds and markers", () => {
  it("[DX-04] a cycle is marked where it closes", () => {
    const error = new Error("outer");
    const inner = new Error("inner", { cause: error });
    error.cause = inner;
    const node = failureOf(rootOf(error));
    assert.deepStrictEqual(failureOf(node.cause).cause, { _tag: "Omitted", reason: "cycle" });
    const shared = new Error("shared");
    const twice = failureOf(rootOf(new AggregateError([shared, shared], "twice")));
    assert.isTrue(
      twice.errors?.every((part) => part._tag === "Failure"),
      "the same error side by side is no cycle",
    );
  });

  it("[DX-04] a chain of 10,000 causes ends in a limit marker and stays inside every bound", () => {
    let error: unknown = "root";
    for (let depth = 0; depth < 10_000; depth++)
      error = new Error(`level ${depth}`, { cause: error });
    const captured = capture(error);
    assertBounded(captured);
    assert.include(JSON.stringify(captured), `{"_tag":"Omitted","reason":"limit"}`);
  });

  it("[DX-04] a chain that never ends, made as it is read, ends too", () => {
    const endless = (): object => ({
      message: "again",
      get cause() {
        return endless();
      },
      get errors() {
        return [endless(), endless()];
      },
    });
    assertBounded(capture(endless()));
  });

  it("[DX-04] a message of 10 MB is cut with a marker, and a list of 5,000 errors too", () => {
    const node = failureOf(rootOf(new Error("x".repeat(10_000_000))));
    assert.isTrue(node.message?.endsWith("[truncated]"));
    assert.isTrue(node.truncated);
    const captured = capture(
      new AggregateError(
        Array.from({ length: 5_000 }, (_, index) => new Error(`e${index} ${"y".repeat(2_000)}`)),
        "many",
      ),
    );
    assertBounded(captured);
    const many = failureOf(captured.root);
    assert.strictEqual(many.errors?.length, limits.maxListLength);
    assert.isTrue(many.truncated);
    const names = failureOf(
      rootOf({ name: "n".repeat(5_000), _tag: "t".repeat(5_000), code: "c".repeat(5_000) }),
    );
    for (const name of [names.name, names.tag, names.code])
      assert.strictEqual(utf8ByteLength(String(name)), limits.maxNameBytes);
  });

  it("[DX-03][DX-04] a credential across the place of the cut is not half kept", () => {
    const before = "é".repeat(limits.maxStringBytes / 2 - 20);
    const node = failureOf(
      rootOf(new Error(`${before} postgres://shop:hunter2hunter2hunter2@db/shop`)),
    );
    assert.notInclude(node.message ?? "", "hunter2");
    const filled = failureOf(rootOf(new Error(`password=${"s".repeat(100_000)}`)));
    assert.notInclude(JSON.stringify(filled), "sss");
    assert.isTrue(filled.message?.endsWith("[truncated]"));
  });

  it("[DX-04] a getter that throws is listed as omitted, and capture never throws", () => {
    const node = failureOf(
      rootOf({
        _tag: "Broken",
        get message(): string {
          throw new Error("no message for you");
        },
        get cause(): unknown {
          throw new Error("nor cause");
        },
      }),
    );
    assert.deepStrictEqual(node.omittedFields, ["message", "cause"]);
    assert.strictEqual(node.tag, "Broken");
    const hostile = new Proxy(
      {},
      {
        get: () => {
          throw new Error("get");
        },
        has: () => {
          throw new Error("has");
        },
        ownKeys: () => {
          throw new Error("ownKeys");
        },
        getPrototypeOf: () => {
          throw new Error("prototype");
        },
      },
    );
    for (const value of [
      hostile,
      new Error("x", { cause: hostile }),
      new AggregateError([hostile], "y"),
      Cause.die(hostile),
    ]) {
      assertBounded(capture(value));
    }
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    assertBounded(capture(revoked.proxy));
    assertBounded(capture(new Error("z", { cause: revoked.proxy })));
  });

  it("[DX-04] whatever is thrown, the diagnostic is bounded, decodable JSON", () => {
    fc.assert(
      fc.property(
        fc.anything({
          withBigInt: true,
          withDate: true,
          withMap: true,
          withNullPrototype: true,
          withSparseArray: true,
          withTypedArray: true,
        }),
        fc.string({ unit: "binary" }),
        (value, message) => {
          assertBounded(capture(value));
          assertBounded(
            capture(
              Object.assign(new Error(message), {
                cause: value,
                reason: value,
                errors: [value],
                code: value,
              }),
            ),
          );
        },
      ),
      { numRuns: 100 },
    );
  });

  it("[DX-04][R45] NUL and lone surrogates in a message become visible escapes", () => {
    const node = failureOf(rootOf({ message: "a\u0000b\ud800c" }));
    assert.strictEqual(node.message, "a\\u{0000}b\\u{D800}c");
  });
});

describe("hosts", () => {
  it("[DX-03] a stricter redactor of the host is applied to every text, and one that breaks hides the text", () => {
    const strict = capture(new Error("customer Ada Lovelace", { cause: "Ada" }), {
      redact: (text) => text.replaceAll("Ada", "(customer)"),
    });
    assert.notInclude(JSON.stringify(strict), "Ada");
    const broken = capture("Ada", {
      redact: () => {
        throw new Error("no");
      },
    });
    assert.deepStrictEqual(broken.root, { _tag: "Text", text: "[redacted]" });
  });

  it("[DX-05] correlation copies are bounded, marked, and only the named ones", () => {
    const run = "r".repeat(1_000);
    const identities = { run, tool: "refund", turn: 3, thread: undefined, ssn: "1" };
    const context = FailureDiagnostic.captureContext(identities);
    assert.deepStrictEqual(Object.keys(context).toSorted(), ["run", "tool", "turn"]);
    assert.strictEqual(context.turn, "3");
    assert.isTrue(context.run?.endsWith("[truncated]"));
    assert.isAtMost(utf8ByteLength(context.run ?? ""), limits.maxContextBytes);
    assert.deepStrictEqual(capture("x", { context: { tool: "refund" } }).context, {
      tool: "refund",
    });
  });
});

describe("codecs", () => {
  const encode = Schema.encodeSync(FailureDiagnostic.Value);
  const decode = Schema.decodeSync(FailureDiagnostic.Value);

  it("[DX-01] a value stays itself in the process and becomes data across JSON, never an error class again", () => {
    const error = new PaymentRefused({ message: "no", code: "1", ssn: "s" });
    class Holder extends Schema.TaggedError<Holder>()("Holder", {
      cause: FailureDiagnostic.Value,
    }) {}
    const holder = new Holder({ cause: error });
    assert.strictEqual(holder.cause, error);
    const decoded = Schema.decodeUnknownSync(Holder)(
      JSON.parse(JSON.stringify(Schema.encodeSync(Holder)(holder))),
    );
    assert.isFalse(decoded.cause instanceof Error);
    assert.deepStrictEqual(decoded.cause, capture(error));
  });

  it("[DX-01] encoding what was decoded changes nothing, and an impostor is captured like any other value", () => {
    const stored = encode(new Error("password: hunter2"));
    assert.deepStrictEqual(encode(decode(stored)), stored);
    const impostor = { ...capture("x"), root: { _tag: "Text", text: "password: hunter2" } };
    assert.notInclude(JSON.stringify(encode(impostor)), "hunter2");
    assert.deepStrictEqual(decode({ from: "another version" }), { from: "another version" });
  });

  it.effect("[DX-01] the cause codec takes a live cause and gives captured data back", () =>
    Effect.gen(function* () {
      const cause = Cause.combine(Cause.fail("first"), Cause.interrupt(3));
      const encoded = Schema.encodeSync(FailureDiagnostic.Cause)(cause);
      const decoded = yield* Schema.decodeEffect(FailureDiagnostic.Cause)(encoded);
      assert.isFalse(Cause.isCause(decoded));
      assert.deepStrictEqual(decoded, capture(cause));
      assert.deepStrictEqual(Schema.encodeSync(FailureDiagnostic.Cause)(decoded), encoded);
      const error = yield* Effect.flip(
        Schema.decodeUnknownEffect(FailureDiagnostic.Cause)({ not: "a diagnostic" }),
      );
      assert.include(error.message, "captured diagnostic");
    }),
  );
});

import { assert, describe, it } from "@effect/vitest";
import { Result, Schema } from "effect";
import { Tool } from "effect/unstable/ai";
import * as fc from "fast-check";
import { buildRequestContent, type GatedCall } from "#lib/approval/request-content.ts";
import { normalizePath, normalizeUrl } from "#lib/approval/normalize-target.ts";
import { structurePreview } from "#lib/approval/structure-preview.ts";
import { ApprovalRequestContent, approvalLimits } from "#lib/contract/approval.ts";
import {
  AgentId,
  ApprovalRequestId,
  Digest,
  RunId,
  ThreadId,
  ToolCallId,
} from "#lib/contract/ids.ts";
import { checkJsonBounds } from "#lib/contract/json/json-bounds.ts";
import type { Json } from "#lib/contract/json/json.ts";
import { type ApprovalRuleOptions, approvalRule } from "#lib/tool-approval.ts";

const RefundTool = Tool.make("refund", {
  parameters: Schema.Struct({
    orderId: Schema.String,
    amount: Schema.FiniteFromString,
    note: Schema.optionalKey(Schema.String),
  }),
  needsApproval: true,
});
type RefundParameters = Tool.Parameters<typeof RefundTool>;

const now = 1_700_000_000_000;
const day = 86_400_000;

const gated = (
  rule: ApprovalRuleOptions<RefundParameters> | undefined,
  parameters: Partial<RefundParameters> = {},
  more: Partial<GatedCall> = {},
): GatedCall => {
  const decoded = { orderId: "W1", amount: 120, ...parameters };
  const encoded = { ...decoded, amount: String(decoded.amount) };
  return {
    requestId: ApprovalRequestId.make("req-1"),
    agentId: AgentId.make("desk"),
    threadId: ThreadId.make("t-1"),
    runId: RunId.make("r-1"),
    turnId: "r-1.1",
    turnNumber: 1,
    callId: ToolCallId.make("c1"),
    parameters: encoded,
    effectiveParameters: encoded,
    parametersDigest: Digest.make("a".repeat(64)),
    requestedAt: now,
    requester: "ada",
    tool: rule === undefined ? RefundTool : approvalRule(RefundTool, rule),
    decodedParameters: decoded,
    ...more,
  };
};

const content = (...args: Parameters<typeof gated>): ApprovalRequestContent =>
  Result.getOrThrow(buildRequestContent(gated(...args)));
const refusal = (...args: Parameters<typeof gated>) => {
  const built = buildRequestContent(gated(...args));
  if (Result.isSuccess(built))
    return assert.fail(`expected a refusal, got ${JSON.stringify(built.success)}`);
  assert.strictEqual(built.failure._tag, "ApprovalPolicyError");
  assert.strictEqual(built.failure.toolCallId, "c1");
  assert.strictEqual(built.failure.toolName, "refund");
  return built.failure;
};

describe("buildRequestContent", () => {
  it("[A-02] carries run identity, targets, preview, expiry, risk, summary, request id and denial rule, and survives JSON", () => {
    const request = content({
      summary: ({ orderId, amount }) => `Refund ${amount} for ${orderId}`,
      targets: ({ orderId }) => [{ kind: "order", id: orderId }],
      preview: ({ amount }) => ({ amount }),
      risk: "high",
      denial: "terminal",
      expiresAfter: "2 hours",
      approversRequired: 2,
      selfApproval: false,
    });
    assert.deepInclude(request as object, {
      requestId: "req-1",
      threadId: "t-1",
      runId: "r-1",
      turnId: "r-1.1",
      turnNumber: 1,
      callId: "c1",
      toolName: "refund",
      summary: "Refund 120 for W1",
      targets: [{ kind: "order", id: "W1" }],
      preview: { amount: 120 },
      previewSource: "tool",
      risk: "high",
      denial: "terminal",
      expiresAt: now + 7_200_000,
      requester: "ada",
      approversRequired: 2,
      selfApproval: false,
    });
    const text = JSON.stringify(Schema.encodeSync(ApprovalRequestContent)(request));
    assert.deepStrictEqual(
      Schema.decodeUnknownSync(ApprovalRequestContent)(JSON.parse(text)),
      request,
    );
    assert.notProperty(request, "tool");
    assert.notProperty(request, "decodedParameters");
  });

  it("[A-06][A-07] a tool without a rule: medium risk, recoverable, one approver, 24 hours, a summary that names it", () => {
    assert.deepInclude(content(undefined), {
      risk: "medium",
      denial: "recoverable",
      approversRequired: 1,
      selfApproval: true,
      expiresAt: now + day,
      summary: "Run refund",
      targets: [],
    });
    const titled = content(
      undefined,
      {},
      { tool: RefundTool.annotate(Tool.Title, "Refund an\u202e order") },
    );
    assert.strictEqual(titled.summary, "Run Refund an\\u{202E} order");
  });

  it("[A-07] the tool's expiry wins over the agent's, the agent's over 24 hours, and never is explicit", () => {
    assert.strictEqual(
      content(undefined, {}, { agentExpiresAfter: "1 hour" }).expiresAt,
      now + 3_600_000,
    );
    assert.strictEqual(
      content({ expiresAfter: "1 minute" }, {}, { agentExpiresAfter: "1 hour" }).expiresAt,
      now + 60_000,
    );
    assert.strictEqual(
      content({ expiresAfter: "never" }, {}, { agentExpiresAfter: "1 hour" }).expiresAt,
      "never",
    );
    for (const expiresAfter of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, "soon" as never]) {
      assert.strictEqual(refusal({ expiresAfter }).part, "expiry");
    }
  });

  it("[A-03] targets are normalised: two spellings of one resource are one target", () => {
    const targets = (list: ReadonlyArray<{ readonly kind: string; readonly id: string }>) =>
      content({ targets: () => list }).targets;
    assert.deepStrictEqual(
      targets([{ kind: "path", id: "./a/../b" }]),
      targets([{ kind: "path", id: "b" }]),
    );
    assert.deepStrictEqual(
      targets([
        { kind: "path", id: "/srv//x/./y/" },
        { kind: "path", id: "/srv/x/y" },
        { kind: "url", id: "HTTPS://user:pw@Shop.Example.com:443/a/../b#top" },
        { kind: "order", id: " W1 " },
        { kind: "name", id: "Zoe\u0308" },
      ]),
      [
        { kind: "path", id: "/srv/x/y" },
        { kind: "url", id: "https://shop.example.com/b" },
        { kind: "order", id: "W1" },
        { kind: "name", id: "Zoë" },
      ],
    );
    assert.strictEqual(normalizePath("/../../etc/./passwd"), "/etc/passwd");
    assert.strictEqual(normalizePath("../x/../../y"), "../../y");
    assert.strictEqual(normalizePath("a\\..\\b"), "b");
    assert.strictEqual(normalizePath("./"), ".");
    assert.isUndefined(normalizeUrl("not a url"));
  });

  it("[A-03] normalising a path twice changes nothing, and an absolute path never climbs out", () => {
    const segment = fc.constantFrom(".", "..", "", "a", "b c", "é");
    fc.assert(
      fc.property(fc.array(segment), fc.boolean(), (segments, isAbsolute) => {
        const once = normalizePath(`${isAbsolute ? "/" : ""}${segments.join("/")}`);
        assert.strictEqual(normalizePath(once), once);
        if (isAbsolute) assert.notInclude(once.split("/"), "..");
      }),
    );
  });

  it("[A-02] over the bounds there is no request, and the error says which bound", () => {
    const order = (id: string) => ({ kind: "order", id });
    const cases: ReadonlyArray<readonly [ApprovalRuleOptions<RefundParameters>, string, string]> = [
      [
        { targets: () => Array.from({ length: 33 }, (_, index) => order(`W${index}`)) },
        "targets",
        "32",
      ],
      [{ targets: () => [order("x".repeat(2_048))] }, "targets", "2048"],
      [{ targets: () => [order("")] }, "targets", "kind and id"],
      [{ targets: () => [{ kind: "url", id: "nowhere" }] }, "targets", "kind and id"],
      [{ targets: () => "W1" as never }, "targets", "list"],
      [{ targets: () => [null] as never }, "targets", "kind and id"],
      [{ summary: () => "é".repeat(1_025) }, "summary", "2048"],
      [{ summary: () => "  " }, "summary", "no summary"],
      [{ summary: () => 5 as never }, "summary", "no summary"],
      [{ preview: () => "x".repeat(8_192) }, "preview", "size"],
      [{ preview: () => Array.from({ length: 4_096 }, () => 0) }, "preview", "values"],
      [{ preview: () => undefined as never }, "preview", "undefined"],
      [{ preview: () => Promise.resolve({}) as never }, "preview", "class"],
      [{ approversRequired: 0 }, "rule", "fit"],
      [{ approversRequired: 1.5 }, "rule", "fit"],
      [{ risk: "extreme" as never }, "rule", "fit"],
    ];
    for (const [rule, part, words] of cases) {
      const error = refusal(rule);
      assert.strictEqual(error.part, part);
      assert.include(error.message, words);
    }
    let deep: Json = 1;
    for (let depth = 0; depth < 17; depth++) deep = [deep];
    assert.include(refusal({ preview: () => deep }).message, "nesting");
    // Exactly at the bounds there is one.
    assert.strictEqual(
      content({ targets: () => Array.from({ length: 32 }, (_, index) => order(`W${index}`)) })
        .targets.length,
      32,
    );
    assert.strictEqual(content({ summary: () => "é".repeat(1_024) }).summary.length, 1_024);
  });

  it("[A-04] a rule that throws makes the request impossible and shows nothing unredacted in its place", () => {
    for (const part of ["summary", "targets", "preview"] as const) {
      const error = refusal(
        {
          [part]: () => {
            throw new Error("redactor broke on 4111-1111");
          },
        },
        { note: "card 4111-1111" },
      );
      assert.strictEqual(error.part, part);
      assert.notInclude(error.message, "4111");
      assert.instanceOf(error.cause, Error);
    }
  });

  it("[A-04] the default preview shows the structure and none of the values", () => {
    const request = content(undefined, {
      orderId: "W-canary",
      amount: 987_654,
      note: "call +49 canary",
    });
    assert.strictEqual(request.previewSource, "structure");
    assert.deepStrictEqual(request.preview, {
      orderId: "<string>",
      amount: "<string>",
      note: "<string>",
    });
    assert.deepStrictEqual(structurePreview({ a: [1, true, null, { b: "x" }], c: {} }), {
      a: ["<number>", "<boolean>", null, { b: "<string>" }],
      c: {},
    });
  });

  it("[A-04] the default preview always fits its bounds and never shows a value, whatever the parameters are", () => {
    const bounds = {
      depth: approvalLimits.maxPreviewDepth,
      collection: approvalLimits.maxPreviewNodes,
      nodes: approvalLimits.maxPreviewNodes,
      bytes: approvalLimits.maxPreviewBytes,
    };
    const scalars = new Set(["<string>", "<number>", "<boolean>", "<deeper>"]);
    const valuesOf = (preview: Json): ReadonlyArray<Json> =>
      typeof preview === "object" && preview !== null
        ? Object.values(preview).flatMap(valuesOf)
        : [preview];
    const fits = (value: Json) => {
      const preview = structurePreview(value);
      const checked = checkJsonBounds(preview, bounds);
      assert.isTrue(
        Result.isSuccess(checked),
        Result.isFailure(checked) ? checked.failure.message : "",
      );
      for (const shown of valuesOf(preview)) {
        assert.isTrue(
          shown === null || scalars.has(String(shown)) || /^<\d+ more>$/.test(String(shown)),
          String(shown),
        );
      }
    };
    fc.assert(fc.property(fc.jsonValue({ maxDepth: 20 }), (value) => fits(value as Json)));
    fits(Array.from({ length: 4_000 }, () => ({ a: 1 })));
    fits(
      Object.fromEntries(
        Array.from({ length: 4_000 }, (_, index) => [`${"k".repeat(100)}${index}`, "v"]),
      ),
    );
    let wide: Json = "x";
    for (let depth = 0; depth < 60; depth++) wide = { [`${"\u0001".repeat(64)}`]: wide, b: [wide] };
    fits(wide);
  });

  it("[A-02] hidden characters in parameters are noted with their names and places", () => {
    const request = content(undefined, { note: "pay\u202e 100\u200b" });
    assert.deepStrictEqual(request.hiddenCharacters, {
      characters: [
        { codePoint: 0x202e, name: "RIGHT-TO-LEFT OVERRIDE" },
        { codePoint: 0x200b, name: "ZERO WIDTH SPACE" },
      ],
      places: ["$.note"],
    });
    assert.notProperty(content(undefined, { note: "plain" }), "hiddenCharacters");
    assert.notProperty(content(undefined, { note: "plain ".repeat(100_000) }), "hiddenCharacters");
    const long = content(undefined, { note: `${"é".repeat(100_000)}\u202e` });
    assert.deepStrictEqual(long.hiddenCharacters, { characters: [], places: [], incomplete: true });
  });
});

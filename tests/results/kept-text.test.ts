import { assert, describe, it } from "@effect/vitest";
import * as fc from "fast-check";
import { boundResult, TruncatedResult } from "#lib/contract/json/bounded-result.ts";
import { canonicalJson } from "#lib/contract/json/canonical-json.ts";
import { sha256Hex } from "#lib/contract/json/digest.ts";
import type { Json } from "#lib/contract/json/json.ts";
import { utf8ByteLength } from "#lib/contract/json/utf8.ts";
import { ResultId, ToolCallId } from "#lib/contract/ids.ts";
import { keepText, maxKeptResultBytes, sourceOf } from "#lib/results/kept-text.ts";
import { pageOf } from "#lib/results/page.ts";
import * as Schema from "effect/Schema";
import { jsonValue } from "#tests/contract-json/arbitrary-json.ts";

const place = {
  resultId: ResultId.make(`res_${"0".repeat(32)}`),
  turn: 1,
  callId: ToolCallId.make("c1"),
};
const unbounded = Number.MAX_SAFE_INTEGER;

/** Reads a text page by page as a model does. */
const readWhole = (source: string, length: number, maxBytes: number, notice?: string): string => {
  let read = "";
  for (let offset: number | null = 0; offset !== null;) {
    const page = pageOf(source, offset, length, maxBytes, notice);
    assert.strictEqual(page.offset, offset);
    assert.isAbove(page.text.length, 0);
    assert.isAtMost(utf8ByteLength(canonicalJson(page)), maxBytes);
    assert.isTrue(page.text.length <= Math.max(2, length));
    read += page.text;
    offset = page.nextOffset;
  }
  return read;
};

const parts = fc.string({ unit: "binary", maxLength: 400 });

describe("kept results", () => {
  it("[R52][T-18] any result's pages are the whole text, each within its bound and well formed where the text is", () => {
    fc.assert(
      fc.property(
        jsonValue,
        fc.integer({ min: 1, max: 300 }),
        fc.integer({ min: 256, max: 600 }),
        (value, length, maxBytes) => {
          const kept = keepText(place, value, unbounded);
          assert.strictEqual(kept.text, canonicalJson(value));
          assert.strictEqual(kept.digest, sha256Hex(kept.text));
          const source = sourceOf(kept);
          if (source === "") return;
          assert.strictEqual(readWhole(source, length, maxBytes), source);
          if (typeof value === "string") assert.strictEqual(source, value);
        },
      ),
      { numRuns: 500 },
    );
  });

  it("[R52] a page that is asked inside a character begins with it, and one of length 1 is never half a character", () => {
    const source = "a👍👍b";
    assert.deepInclude(pageOf(source, 2, 1, 256), { offset: 1, text: "👍", nextOffset: 3 });
    assert.deepInclude(pageOf(source, 1, 3, 256), { offset: 1, text: "👍", nextOffset: 3 });
    assert.deepInclude(pageOf(source, 4, 9, 256), { offset: 3, text: "👍b", nextOffset: null });
  });

  it("[R52][R45] what passes the room is kept as a beginning that reads by itself, whatever character or escape the cut meets", () => {
    fc.assert(
      fc.property(parts, fc.integer({ min: 0, max: 900 }), (text, room) => {
        for (const value of [text, { text }] as ReadonlyArray<Json>) {
          const whole = canonicalJson(value);
          const kept = keepText(place, value, room);
          assert.isTrue(whole.startsWith(kept.text));
          assert.isTrue(kept.text.isWellFormed());
          assert.isAtMost(kept.bytes, Math.max(room, 0));
          assert.strictEqual(kept.bytes, utf8ByteLength(kept.text));
          assert.strictEqual(kept.originalBytes, utf8ByteLength(whole));
          const source = sourceOf(kept);
          assert.isTrue((typeof value === "string" ? value : whole).startsWith(source));
          // No more is lost than what a character or an escape takes, and the closing quote.
          if (kept.bytes < kept.originalBytes) assert.isAtLeast(kept.bytes, room - 9);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("[R52] of a result of 10 MB the first 8 MiB are kept", () => {
    const kept = keepText(place, "€".repeat(3_500_000), unbounded);
    assert.isAtMost(kept.bytes, maxKeptResultBytes);
    assert.isAbove(kept.bytes, maxKeptResultBytes - 4);
    assert.strictEqual(sourceOf(kept), "€".repeat(sourceOf(kept).length));
  });

  it("[R52][T-18] an envelope that says how to read on still fits, and its offset is where its head ends", () => {
    const readOn = { tool: "read_tool_result", resultId: place.resultId, keptBytes: 8_388_608 };
    fc.assert(
      fc.property(
        fc.oneof(parts, jsonValue),
        fc.integer({ min: 256, max: 700 }),
        (value, maxBytes) => {
          const large = [value, "x".repeat(maxBytes)];
          for (const one of [large, `${canonicalJson(value)}${"€👍".repeat(maxBytes)}`]) {
            const bounded = boundResult(one, maxBytes, readOn);
            assert.isAtMost(utf8ByteLength(canonicalJson(bounded)), maxBytes);
            const envelope = Schema.decodeUnknownSync(TruncatedResult)(bounded);
            const source = typeof one === "string" ? one : canonicalJson(one);
            const { resultId, ...rest } = readOn;
            const parameters = { resultId, offset: envelope.head.length };
            assert.deepStrictEqual(envelope.readOn, { ...rest, parameters });
            assert.strictEqual(source.slice(0, envelope.readOn?.parameters.offset), envelope.head);
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});

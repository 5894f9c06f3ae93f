/** The seal of a record gives its digest again, and no other place and no other record does. */
import * as fc from "fast-check";
import { assert, describe, it } from "vitest";
import { rowDigest } from "#lib/durable/chain.ts";
import { type LinkPlace, sealedDigest, sealOf } from "#lib/proof/link-seal.ts";

const hex = (length: number) =>
  fc
    .array(fc.constantFrom(..."0123456789abcdef"), { minLength: length, maxLength: length })
    .map((digits) => digits.join(""));
const row = fc.record({
  threadId: fc.string({ minLength: 1, maxLength: 40 }),
  epoch: fc.nat(),
  sequence: fc.nat(),
  previousDigest: hex(64),
  body: fc.string({ unit: "grapheme", maxLength: 300 }),
});

describe("a sealed record", () => {
  it("[PG-02] gives the digest that is stored for it, whatever its text and place", () => {
    fc.assert(
      fc.property(row, (one) => {
        assert.strictEqual(sealedDigest(one, sealOf(one)), rowDigest(one));
      }),
      { numRuns: 500 },
    );
  });

  it("[PG-02] does so for every length of text around the blocks of the hash", () => {
    for (let length = 0; length < 200; length += 1) {
      const one = {
        threadId: "thread",
        epoch: 3,
        sequence: 7,
        previousDigest: "b".repeat(64),
        body: "é".repeat(length % 3) + "x".repeat(length),
      };
      assert.strictEqual(sealedDigest(one, sealOf(one)), rowDigest(one), String(length));
    }
  });

  it("[PG-02] gives another digest at another place, behind another record or in another thread", () => {
    const elsewhere: ReadonlyArray<(place: LinkPlace) => LinkPlace> = [
      (place) => ({ ...place, sequence: place.sequence + 1 }),
      (place) => ({ ...place, threadId: `${place.threadId}2` }),
      // Whatever of it lies in the body's last block, its end does not.
      (place) => ({
        ...place,
        previousDigest:
          place.previousDigest.slice(0, -1) + (place.previousDigest.endsWith("0") ? "1" : "0"),
      }),
    ];
    fc.assert(
      fc.property(row, fc.constantFrom(...elsewhere), (one, move) => {
        assert.notStrictEqual(sealedDigest(move(one), sealOf(one)), rowDigest(one));
      }),
      { numRuns: 500 },
    );
  });

  it("[C042] tells the length of the text and nothing else of it", () => {
    const seal = sealOf({
      threadId: "t",
      epoch: 1,
      sequence: 1,
      previousDigest: "0".repeat(64),
      body: '{"secret":"s3cr3t"}',
    });
    assert.deepStrictEqual(Object.keys(seal).toSorted(), ["bytes", "state"]);
    assert.notInclude(JSON.stringify(seal), "s3cr3t");
  });
});

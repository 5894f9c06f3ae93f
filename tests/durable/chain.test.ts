import { assert, describe, it } from "@effect/vitest";
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import * as fc from "fast-check";
import { canonicalJson } from "#lib/contract/json/canonical-json.ts";
import type { Json } from "#lib/contract/json/json.ts";
import { digestOf } from "#lib/contract/json/digest.ts";
import { RunRecord } from "#lib/contract/records.ts";
import {
  bodyOf,
  chainRecords,
  type ChainLink,
  emptyTail,
  rowDigest,
  verifyChain,
} from "#lib/durable/chain.ts";
import { placeOf, recordsOf } from "#tests/postgres/records.ts";

const place = placeOf("chain");
const of = recordsOf(place);
const records: ReadonlyArray<RunRecord> = [
  of.opened({ nul: "\u0000", lone: "\ud800", zero: -0 }),
  of.attempt(),
  of.turn(["c1", "c2"]),
  of.prepared("c1"),
  of.settled("c1"),
  of.runSettled(),
];
const owner = { threadId: "thr_chain", epoch: 3 };

const linked = (): Array<ChainLink> =>
  chainRecords(emptyTail, records, owner).rows.map((row) => ({ ...row, epoch: owner.epoch }));

describe("the journal's hash chain", () => {
  it("[PG-02] records chained in any grouping give the same rows", () => {
    const whole = chainRecords(emptyTail, records, owner);
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 6 }),
        (sizes) => {
          let tail = emptyTail;
          let from = 0;
          const rows = [];
          for (const size of [...sizes, records.length]) {
            const part = chainRecords(tail, records.slice(from, from + size), owner);
            rows.push(...part.rows);
            tail = part.tail;
            from += size;
          }
          assert.deepStrictEqual(rows, whole.rows);
          assert.deepStrictEqual(tail, whole.tail);
        },
      ),
    );
    assert.deepStrictEqual(
      whole.rows.map((row) => row.sequence),
      [1, 2, 3, 4, 5, 6],
    );
  });

  it("[PG-02] a row's digest is that of the canonical JSON of its place and body", () => {
    const text = fc.string({ unit: "binary", maxLength: 40 });
    const number = fc.nat(Number.MAX_SAFE_INTEGER);
    fc.assert(
      fc.property(text, text, text, number, number, (body, threadId, before, epoch, sequence) => {
        const row = { body, epoch, previousDigest: before, sequence, threadId };
        assert.strictEqual(rowDigest(row), digestOf(row));
      }),
    );
    const lone = {
      body: "\ud800",
      epoch: 1,
      previousDigest: "\u0000",
      sequence: 2,
      threadId: "\udfff",
    };
    assert.strictEqual(rowDigest(lone), digestOf(lone));
  });

  it("[PG-06] a body is canonical text that decodes to the very record", () => {
    for (const record of records) {
      const body = bodyOf(record);
      const parsed = JSON.parse(body);
      assert.strictEqual(canonicalJson(parsed), body);
      assert.deepStrictEqual(Schema.decodeUnknownSync(RunRecord)(parsed), record);
      assert.isFalse(body.includes("\u0000"));
    }
  });

  it("[PG-06] a record that is written as it stands has the text that its schema gives it, and one that no reader takes is refused", () => {
    const encode = Schema.encodeSync(RunRecord);
    const number = fc.oneof(fc.maxSafeInteger(), fc.double(), fc.constantFrom(-0, 0.5, 2 ** 53));
    const optional = fc.option(number, { nil: undefined });
    const settled = of.settled("c1");
    const prepared = of.prepared("c1");
    let refused = 0;
    fc.assert(
      fc.property(
        number,
        number,
        optional,
        fc.jsonValue({ noUnicodeString: false }),
        (endedAt, originalBytes, startedAt, result) => {
          const given: ReadonlyArray<RunRecord> = [
            {
              ...settled,
              endedAt,
              originalBytes,
              result: result as Json,
              ...(startedAt === undefined ? {} : { startedAt }),
            },
            { ...prepared, attempt: endedAt },
          ];
          for (const record of given) {
            const expected = Result.try(() => canonicalJson(encode(record)));
            const written = Result.try(() => bodyOf(record));
            assert.strictEqual(Result.isFailure(written), Result.isFailure(expected));
            if (Result.isFailure(expected)) refused += 1;
            else assert.strictEqual(Result.getOrThrow(written), expected.success);
          }
        },
      ),
    );
    assert.isAbove(refused, 0);
  });

  it("[PG-02] an untouched chain verifies, also from the middle on", () => {
    const rows = linked();
    assert.isUndefined(verifyChain(owner.threadId, rows));
    const third = rows[2];
    assert.isDefined(third);
    const { tail } = chainRecords(emptyTail, records.slice(0, 3), owner);
    assert.isUndefined(verifyChain(owner.threadId, rows.slice(3), tail));
    assert.isUndefined(verifyChain(owner.threadId, []));
  });

  it("[PG-02] every single change, loss, swap, copy or insertion is reported at its place", () => {
    const change = (index: number, replace: (row: ChainLink) => ChainLink) =>
      linked().map((row, at) => (at === index ? replace(row) : row));
    for (let index = 0; index < records.length; index++) {
      const sequence = index + 1;
      const changed = verifyChain(
        owner.threadId,
        change(index, (row) => ({ ...row, body: row.body.replace("run_chain", "run_other") })),
      );
      assert.deepStrictEqual([changed?.sequence, changed?.reason], [sequence, "digest"]);
      const owned = verifyChain(
        owner.threadId,
        change(index, (row) => ({ ...row, epoch: 9 })),
      );
      assert.deepStrictEqual([owned?.sequence, owned?.reason], [sequence, "digest"]);
      const relinked = verifyChain(
        owner.threadId,
        change(index, (row) => ({ ...row, previousDigest: "f".repeat(64) })),
      );
      assert.deepStrictEqual([relinked?.sequence, relinked?.reason], [sequence, "previous-digest"]);
      if (index < records.length - 1) {
        const lost = verifyChain(owner.threadId, linked().toSpliced(index, 1));
        assert.deepStrictEqual([lost?.sequence, lost?.reason], [sequence + 1, "gap"]);
        const swapped = linked();
        const [one, other] = [swapped[index], swapped[index + 1]];
        if (one !== undefined && other !== undefined) swapped.splice(index, 2, other, one);
        assert.strictEqual(verifyChain(owner.threadId, swapped)?.reason, "gap");
      }
    }
    assert.strictEqual(verifyChain("thr_other", linked())?.reason, "digest");
  });

  it("[DU-13] an older owner's row after a newer one's is a break, although its digest is right", () => {
    const first = chainRecords(emptyTail, records.slice(0, 1), { ...owner, epoch: 5 });
    const second = chainRecords(first.tail, records.slice(1, 2), { ...owner, epoch: 4 });
    const found = verifyChain(owner.threadId, [
      ...first.rows.map((row) => ({ ...row, epoch: 5 })),
      ...second.rows.map((row) => ({ ...row, epoch: 4 })),
    ]);
    assert.deepStrictEqual([found?.sequence, found?.reason], [2, "epoch"]);
  });
});

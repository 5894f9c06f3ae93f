import { assert, describe, it } from "@effect/vitest";
import * as Effect from "effect/Effect";
import fc from "fast-check";
import type { Match } from "#lib/exposure/discovery/descriptor.ts";
import { packMatches } from "#lib/exposure/discovery/pack.ts";
import * as ToolDiscovery from "#lib/tool-discovery.ts";
import { hostileString } from "#tests/contract-json/arbitrary-json.ts";
import { callDiscovery, catalogueOf, sized } from "./desk.ts";

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

const matchOf = (id: string, description: string, nativeToolName = id): Match => ({
  id,
  name: id,
  nativeToolName,
  description,
  parametersSchema: { type: "object", properties: { id: { type: "string" } } },
  successSchema: { type: "null" },
});

describe("packing discovery results", () => {
  it.effect(
    "[D-08] of matches of 10, 40 and 10 KB, 32 KiB keep the first and the third, whole",
    () =>
      Effect.gen(function* () {
        const catalogue = catalogueOf(sized("a", 10_000), sized("b", 40_000), sized("c", 10_000));
        const { result, bytes } = yield* callDiscovery(ToolDiscovery.make(), catalogue, {
          query: "lookup",
        });
        assert.deepStrictEqual(result.toolNames, ["a", "c"]);
        assert.deepStrictEqual(
          result.matches.map(({ id }) => id),
          ["a", "c"],
        );
        assert.strictEqual(result.matches[1]?.description?.length, "lookup ".length + 10_000);
        assert.match(result.notice ?? "", /^1 of the matches did not fit/);
        assert.isAtMost(bytes, 32_768);
      }),
  );

  it.effect(
    "[D-09] when nothing fits the result is empty and successful, and its notice names maxResultBytes",
    () =>
      Effect.gen(function* () {
        const small = ToolDiscovery.make({ maxResultBytes: 256 });
        const { result, bytes } = yield* callDiscovery(
          small,
          catalogueOf(sized("a", 300), sized("b", 300)),
          { query: "lookup" },
        );
        assert.deepStrictEqual([result.toolNames, result.matches], [[], []]);
        assert.match(result.notice ?? "", /maxResultBytes/);
        assert.match(result.notice ?? "", /namespace/);
        assert.isAtMost(bytes, 256);
      }),
  );

  it.effect(
    "[D-09] a search that finds nothing says how to search, within the smallest result",
    () =>
      Effect.gen(function* () {
        const small = ToolDiscovery.make({ maxResultBytes: 256 });
        for (const namespace of [undefined, "orders"]) {
          const parameters = { query: "absent", ...(namespace === undefined ? {} : { namespace }) };
          const { result, bytes } = yield* callDiscovery(
            small,
            catalogueOf(sized("a", 3)),
            parameters,
          );
          assert.deepStrictEqual(result.toolNames, []);
          assert.match(result.notice ?? "", /fewer or more general words/);
          assert.isAtMost((result.notice ?? "").length, 192);
          assert.isAtMost(bytes, 256);
        }
      }),
  );

  it.effect(
    "[D-07] the bound counts the whole encoded result: multi-byte text, escapes, names and notice",
    () =>
      Effect.gen(function* () {
        for (const filler of ["漢", '"', "\\", "\u0001", "😀", "\ud800"]) {
          for (let maxResultBytes = 256; maxResultBytes < 6_000; maxResultBytes += 377) {
            const discovery = ToolDiscovery.make({ maxResultBytes });
            const catalogue = catalogueOf(
              ...[3, 90, 7, 400, 12, 60].map((size, index) =>
                sized(`t_${filler}_${index}`, size, filler),
              ),
            );
            const { bytes } = yield* callDiscovery(discovery, catalogue, { query: "lookup" });
            assert.isAtMost(bytes, maxResultBytes, filler);
          }
        }
      }),
  );

  it("[D-07] 256 to 262,144 bytes can be configured", () => {
    for (const maxResultBytes of [255, 262_145, 0, 1e9, 300.5]) {
      assert.throws(() => ToolDiscovery.make({ maxResultBytes }), /from 256 to 262144/);
    }
    ToolDiscovery.make({ maxResultBytes: 256 });
    ToolDiscovery.make({ maxResultBytes: 262_144 });
  });

  it("[D-08] packing keeps rank order and whole matches, fits, names each kept tool once, and skips only what did not fit", () => {
    const candidates = fc.uniqueArray(
      fc.record({
        id: fc.string({ minLength: 1 }),
        description: hostileString,
        repeat: fc.integer({ min: 0, max: 60 }),
        owner: fc.constantFrom(undefined, "owner"),
      }),
      { selector: ({ id }) => id, maxLength: 20 },
    );
    fc.assert(
      fc.property(candidates, fc.integer({ min: 256, max: 8_000 }), (items, maxResultBytes) => {
        const matches = items.map(({ id, description, repeat, owner }) =>
          matchOf(id, description.repeat(repeat), owner ?? id),
        );
        const packed = packMatches(matches, maxResultBytes);
        assert.isAtMost(sizeOf(packed), maxResultBytes);
        const kept = matches.filter((match) => packed.matches.includes(match));
        assert.deepStrictEqual(packed.matches, kept);
        assert.deepStrictEqual(
          packed.toolNames,
          Array.from(new Set(kept.map((match) => match.nativeToolName))),
        );
        assert.strictEqual(packed.notice === undefined, kept.length === matches.length);
        // Every match that was left out would have passed the bound at its turn, so none was left out for nothing.
        for (const match of matches.filter((item) => !kept.includes(item))) {
          const before = kept.filter((item) => matches.indexOf(item) < matches.indexOf(match));
          const with_ = {
            toolNames: Array.from(new Set([...before, match].map((item) => item.nativeToolName))),
            matches: [...before, match],
            notice: "x".repeat(110),
          };
          assert.isAbove(sizeOf(with_), maxResultBytes - 10);
        }
      }),
      { numRuns: 500 },
    );
  });
});

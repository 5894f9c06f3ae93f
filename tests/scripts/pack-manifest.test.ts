import { describe, expect, it } from "vitest";
import { importedPackages, libraryManifest } from "../../scripts/pack-manifest.mjs";

const manifest = {
  name: "effect-agent",
  bin: { "effect-agent": "dist/cli/effect-agent.js" },
  exports: { ".": { "effect-agent-source": "./lib/index.ts", default: "./dist/lib/index.js" } },
  dependencies: { effect: "4.0.0", minisearch: "7.0.0", next: "16.0.0", react: "19.0.0" },
  devDependencies: { vitest: "5.0.0" },
  scripts: { prepare: "node scripts/build-library.mjs" },
  imports: { "#lib/*": "./lib/*" },
  overrides: { other: "1.0.0" },
};

describe("the manifest of the packed library", () => {
  it("asks for what the library imports and for nothing of the host or the console", () => {
    expect(libraryManifest(manifest, ["minisearch", "effect", "effect"])).toEqual({
      name: "effect-agent",
      bin: manifest.bin,
      exports: { ".": { default: "./dist/lib/index.js" } },
      dependencies: { minisearch: "7.0.0" },
      peerDependencies: { effect: "4.0.0" },
    });
  });

  it("is refused when the library imports what nobody lists", () => {
    expect(() => libraryManifest(manifest, ["lodash"])).toThrow(/imports lodash/);
  });

  it("reads imports, exports and import types of built code, and no example in a comment", () => {
    const built = [
      'import * as Effect from "effect/Effect";',
      'import { a,\n  b } from "@noble/hashes/sha2.js";',
      'export * from "minisearch";',
      'export * from "./near.js";',
      'import "node:fs";',
      'declare const x: import("zod/v4").Type;',
      ' * import { y } from "example";',
      'const text = "taken from "; const more = "y";',
    ].join("\n");
    expect(importedPackages(built).toSorted()).toEqual([
      "@noble/hashes",
      "effect",
      "minisearch",
      "zod",
    ]);
  });
});

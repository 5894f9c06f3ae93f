/** Argument texts as a hostile model could write them, and what may be said of each before the engine sees it. */
import * as fc from "fast-check";
import { jsonValue } from "#tests/contract-json/arbitrary-json.ts";

export interface ArgumentsText {
  readonly text: string;
  /** `valid` must reach the handler, `malformed` must not; of `hostile` only that nothing of it may change. */
  readonly kind: "valid" | "malformed" | "hostile";
}

const hasProtoKey = (text: string): boolean => /proto|constructor/.test(text);

/** Every character of a string as its `\u` escape: another text of the same value. */
const escaped = (text: string): string =>
  text.replace(/"((?:[^"\\]|\\.)*)"/g, (quoted) => {
    const content: unknown = JSON.parse(quoted);
    const units = Array.from({ length: String(content).length }, (_, index) =>
      String(content).charCodeAt(index).toString(16).padStart(4, "0"),
    );
    return `"${units.map((unit) => `\\u${unit}`).join("")}"`;
  });

const written = fc
  .tuple(jsonValue, fc.constantFrom("plain", "spaced", "escaped"))
  .map(([value, style]): ArgumentsText => {
    const text =
      style === "spaced" ? JSON.stringify({ value }, null, "\t") : JSON.stringify({ value });
    return {
      text: style === "escaped" ? escaped(text) : text,
      kind: hasProtoKey(text) ? "hostile" : "valid",
    };
  });

/** Texts that no handler may see: reading them would change them, an object's prototype or the stack. */
const refused = [
  '{"__proto__":{"value":1}}',
  '{"value":{"__proto__":{"polluted":true}}}',
  '{"value":{"\\u005f_proto__":1}}',
  '{"value":{"constructor":{"prototype":{"polluted":true}}}}',
  '{"value":1,"value":2}',
  '{"value":9007199254740993}',
  '{"value":1e400}',
  '{"value":0.1000000000000000055}',
  `{"value":${"[".repeat(20_000)}${"]".repeat(20_000)}}`,
  `{"value":${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}}`,
  `{"value":[${"0,".repeat(5_000)}0]}`,
  '{"value":1}\u0000',
  "null",
  "[]",
  '"value"',
  "{}",
  '{"value":1,"other":2}',
] as const;

const odd = [
  '{"value":-0}',
  '{"value":"\\u0000"}',
  '{"value":"\\ud800"}',
  '{"value":"\ud800"}',
  '\ufeff{"value":1}',
  `{"value":${"[".repeat(63)}${"]".repeat(63)}}`,
  "",
] as const;

/** A text that was right, with one character taken out, put in or changed. */
const broken = fc
  .tuple(written, fc.nat(), fc.constantFrom("", "{", '"', ",", "\\", "\u0000", "0", "]"))
  .map(([{ text }, place, insert]): ArgumentsText => {
    const at = place % text.length;
    const changed = text.slice(0, at) + insert + text.slice(at + 1);
    try {
      JSON.parse(changed);
      return { text: changed, kind: "hostile" };
    } catch {
      return { text: changed, kind: "malformed" };
    }
  });

export const argumentsText: fc.Arbitrary<ArgumentsText> = fc.oneof(
  { weight: 5, arbitrary: written },
  { weight: 3, arbitrary: broken },
  fc.constantFrom(...odd).map((text): ArgumentsText => ({ text, kind: "hostile" })),
  {
    weight: 2,
    arbitrary: fc.constantFrom(...refused).map((text): ArgumentsText => ({
      text,
      kind: "malformed",
    })),
  },
);

#!/usr/bin/env node
/**
 * `npx effect-agent verify FILE`: checks a proof pack with nothing but the file: no server, no database, no
 * network. Exit codes: 0 it holds, 1 it does not, 2 it cannot be read or the command is not understood.
 */
import { createReadStream } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { makeProofVerifier } from "#lib/proof/verify-proof.ts";
import { reportText } from "./report-text.ts";

const usage = `Usage: effect-agent verify FILE [--known DIGEST]...

Checks a proof pack: that it is whole, that its records are chained and unaltered, that every call that
ran is the one that was declared and approved, that nothing refused ran, that everything ended once, and
that the audit knows every decision. --known names a digest that was noted elsewhere, for instance on the
run's page, and must stand in the chain.
`;

interface Wanted {
  readonly file: string;
  readonly known: ReadonlyArray<string>;
}

/** Undefined where the command is not understood. */
const wantedOf = (words: ReadonlyArray<string>): Wanted | undefined => {
  const [verb, ...rest] = words;
  if (verb !== "verify") return undefined;
  const files: Array<string> = [];
  const known: Array<string> = [];
  for (let index = 0; index < rest.length; index += 1) {
    const word = rest[index] ?? "";
    if (word !== "--known") files.push(word);
    else {
      const digest = rest[(index += 1)] ?? "";
      if (!/^[0-9a-f]{64}$/.test(digest)) return undefined;
      known.push(digest);
    }
  }
  const [file, more] = files;
  return file === undefined || more !== undefined || file.startsWith("-")
    ? undefined
    : { file, known };
};

/** Lines end with a line feed and with nothing else: U+2028 inside a text ends none. */
const eachLine = async (file: string, take: (line: string) => void): Promise<void> => {
  const decoder = new StringDecoder("utf8");
  // The pieces of a line that has not ended: a line may be many chunks long.
  let begun: Array<string> = [];
  for await (const chunk of createReadStream(file)) {
    const [first = "", ...more] = decoder.write(chunk).split("\n");
    begun.push(first);
    const last = more.pop();
    if (last === undefined) continue;
    take(begun.join(""));
    for (const line of more) take(line);
    begun = [last];
  }
  const rest = begun.join("") + decoder.end();
  if (rest !== "") take(rest);
};

const main = async (): Promise<number> => {
  const wanted = wantedOf(process.argv.slice(2));
  if (wanted === undefined) {
    process.stderr.write(usage);
    return 2;
  }
  const verifier = makeProofVerifier(wanted.known);
  try {
    await eachLine(wanted.file, verifier.take);
  } catch (error) {
    process.stderr.write(
      `${wanted.file} cannot be read: ${error instanceof Error ? error.message : String(error)}\n`,
    );
    return 2;
  }
  const report = verifier.end();
  process.stdout.write(reportText(wanted.file, report));
  return report.holds ? 0 : 1;
};

process.exitCode = await main();

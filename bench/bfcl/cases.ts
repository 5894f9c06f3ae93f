/** BFCL's files as cases: the functions of a question and the calls that answer it. */
import { readFileSync } from "node:fs";
import path from "node:path";
import type { PublishedFunction } from "./published-schema.ts";

export const categories = ["parallel", "parallel_multiple", "live_parallel_multiple"] as const;
export type Category = (typeof categories)[number];

export interface ExpectedCall {
  readonly name: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface Case {
  readonly id: string;
  readonly functions: ReadonlyArray<PublishedFunction>;
  readonly calls: ReadonlyArray<ExpectedCall>;
}

/** Each argument is a list of accepted values; an empty text among them means that it may be left out. */
type GroundTruth = Readonly<Record<string, Readonly<Record<string, ReadonlyArray<unknown>>>>>;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The first accepted value that is given at all; inside an object each property is again a list of accepted values. */
const firstAccepted = (accepted: ReadonlyArray<unknown>): unknown => {
  const value = accepted.find((one) => one !== "");
  return isObject(value) ? acceptedArguments(value) : value;
};

/** One set of arguments that the ground truth accepts. */
export const acceptedArguments = (
  accepted: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(accepted).flatMap(([name, values]) => {
      if (!Array.isArray(values)) throw new Error(`The argument ${name} has no list of values.`);
      const value = firstAccepted(values);
      return value === undefined ? [] : [[name, value]];
    }),
  );

const readLines = <Row>(file: string): ReadonlyArray<Row> =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "")
    // The benchmark's own files, trusted as far as a benchmark needs.
    .map((line) => JSON.parse(line) as Row);

export const readCases = (folder: string, category: Category): ReadonlyArray<Case> => {
  const file = path.join(folder, `BFCL_v4_${category}`);
  const questions = readLines<{ id: string; function: ReadonlyArray<PublishedFunction> }>(
    `${file}.jsonl`,
  );
  const answers = new Map(
    readLines<{ id: string; ground_truth: ReadonlyArray<GroundTruth> }>(
      `${file}.answers.jsonl`,
    ).map((answer) => [answer.id, answer.ground_truth]),
  );
  return questions.map((question) => ({
    id: question.id,
    functions: question.function,
    calls: (answers.get(question.id) ?? []).flatMap((truth) =>
      Object.entries(truth).map(([name, accepted]) => ({
        name,
        parameters: acceptedArguments(accepted),
      })),
    ),
  }));
};

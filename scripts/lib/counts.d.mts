import type { Rule } from "./rules.mjs";

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly names: ReadonlyArray<string>;
}
export declare const countVitest: (report: unknown, code: number) => Counts;
export declare const countPlaywright: (report: unknown, code: number) => Counts;
export declare const unprovenRules: (
  rules: ReadonlyArray<Rule>,
  pending: ReadonlyArray<string>,
  names: ReadonlyArray<string>,
) => ReadonlyArray<string>;

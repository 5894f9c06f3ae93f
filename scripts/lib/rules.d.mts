export interface Rule {
  readonly id: string;
  readonly when: "CORE" | "NEXT" | "LATER";
  readonly promise: string;
}
export declare const parseRules: (markdown: string) => ReadonlyArray<Rule>;
export declare const ruleIdsIn: (text: string) => ReadonlyArray<string>;
export declare const ruleIdsInSource: (source: string) => ReadonlyArray<string>;
export declare const readRules: () => ReadonlyArray<Rule>;
export declare const readPending: () => ReadonlyArray<string>;
export declare const rulesNamedByTests: () => ReadonlyMap<string, ReadonlyArray<string>>;

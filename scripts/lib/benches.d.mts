export interface Bench {
  readonly name: string;
  readonly says: string;
}
export declare const firstSentence: (source: string) => string;
export declare const listBenches: (folder: string) => ReadonlyArray<Bench>;
export declare const describeBenches: (benches: ReadonlyArray<Bench>) => string;
export declare const needsInstall: (folder: string) => boolean;

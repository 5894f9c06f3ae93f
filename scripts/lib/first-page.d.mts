export declare const entryChunks: (manifestScript: string, entry: string) => ReadonlyArray<string>;
export declare const firstPageWeight: () =>
  | { readonly chunks: number; readonly bytes: number }
  | undefined;

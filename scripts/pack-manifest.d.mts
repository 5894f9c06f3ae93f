type Manifest = Readonly<Record<string, unknown>>;
export declare const importedPackages: (built: string) => ReadonlyArray<string>;
export declare const libraryManifest: (
  manifest: Manifest,
  imported: ReadonlyArray<string>,
) => Manifest;

import { type ExactJson, exactJsonText } from "#lib/client/exact-json.ts";

/** Hands a file to the browser's own download; nothing leaves the page. */
export const downloadBlob = (blob: Blob, name: string): void => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
};

/** The value exactly as stored, indented. */
export const downloadJson = (value: ExactJson, label: string): void =>
  downloadBlob(
    new Blob([`${exactJsonText(value, 2)}\n`], { type: "application/json" }),
    `${label
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, "-")
      .slice(0, 60)}.json`,
  );

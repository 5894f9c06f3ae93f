import type { DiagnosticListItem } from "#lib/contract/http/diagnostic-list-item.ts";

/** Failures of one fingerprint, in the order of the list; groups in the order of their newest. */
export const groupsOf = (
  rows: ReadonlyArray<DiagnosticListItem>,
): ReadonlyArray<{
  readonly fingerprint: string;
  readonly rows: ReadonlyArray<DiagnosticListItem>;
}> => {
  const groups = new Map<string, Array<DiagnosticListItem>>();
  for (const row of rows) {
    const group = groups.get(row.fingerprint);
    if (group === undefined) groups.set(row.fingerprint, [row]);
    else group.push(row);
  }
  return Array.from(groups, ([fingerprint, group]) => ({ fingerprint, rows: group }));
};

/** Whether a title has the tool's name in it, as a word of its own. */
export const namesTool = (title: string, toolName: string): boolean => {
  const at = title.indexOf(toolName);
  if (toolName === "" || at === -1) return false;
  const isPart = (character: string | undefined): boolean => /[\w.-]/.test(character ?? "");
  return !isPart(title[at - 1]) && !isPart(title[at + toolName.length]);
};

/** How long a request may be given from now: never less than it has, which the server refuses. Pure. */

const extensions = [
  [900, "15 min"],
  [3_600, "1 h"],
  [14_400, "4 h"],
  [86_400, "24 h"],
  [604_800, "7 d"],
  [2_592_000, "30 d"],
] as const;

export interface Extension {
  readonly seconds: number;
  readonly name: string;
}

/** Those that move the expiry on, shortest first; none where it is further away than any of them. */
export const extensionsBeyond = (leftMillis: number): ReadonlyArray<Extension> =>
  extensions
    .filter(([seconds]) => seconds * 1_000 > leftMillis)
    .map(([seconds, name]) => ({ seconds, name }));

/** What is chosen before anybody chooses: an hour, or the least that moves the expiry on. */
export const usualExtension = (offered: ReadonlyArray<Extension>): number | undefined =>
  offered.find(({ seconds }) => seconds >= 3_600)?.seconds;

/** What the address of the sign-in page says. */

/** The one-time token from `#token=` or `?token=`, and the address without it. */
export const tokenFromAddress = (address: {
  readonly pathname: string;
  readonly search: string;
  readonly hash: string;
}): { readonly token: string; readonly cleaned: string } | undefined => {
  const search = new URLSearchParams(address.search);
  const token =
    new URLSearchParams(address.hash.replace(/^#/, "")).get("token") ?? search.get("token");
  if (token === null || token === "") return undefined;
  search.delete("token");
  const rest = search.toString();
  return { token, cleaned: `${address.pathname}${rest === "" ? "" : `?${rest}`}` };
};

/** Where to go after signing in: a path of this console, never another site. */
export const safeNext = (next: string | null): string => {
  if (next === null || !/^\/(?![/\\])/.test(next) || next.startsWith("/sign-in"))
    return "/approvals";
  // Control characters are stripped by browsers before they read an address, which could make `//` of it.
  // oxlint-disable-next-line no-control-regex
  return /[\u0000-\u0020\\]/.test(next) ? "/approvals" : next;
};

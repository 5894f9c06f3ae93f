/**
 * One spelling for one resource, so that two requests for the same thing show
 * the same target (`A-03`).
 */
import type { ApprovalTarget } from "#lib/contract/approval.ts";

/**
 * Resolves `.` and `..`, repeated and trailing slashes; a relative path keeps the
 * `..` it cannot resolve, an absolute one cannot climb above its root. The empty
 * path is `.`.
 */
export const normalizePath = (path: string): string => {
  const text = path.normalize("NFC").replaceAll("\\", "/");
  const isAbsolute = text.startsWith("/");
  const kept: Array<string> = [];
  for (const segment of text.split("/")) {
    if (segment === "" || segment === ".") continue;
    if (segment !== "..") kept.push(segment);
    else if (kept.length > 0 && kept.at(-1) !== "..") kept.pop();
    else if (!isAbsolute) kept.push("..");
  }
  const joined = kept.join("/");
  return isAbsolute ? `/${joined}` : joined === "" ? "." : joined;
};

/**
 * Lower-case host, no default port, resolved dot segments, no fragment, and no
 * user or password: those are credentials, not a place.
 *
 * @returns `undefined` when the text is no absolute URL
 */
export const normalizeUrl = (url: string): string | undefined => {
  if (!URL.canParse(url)) return undefined;
  const parsed = new URL(url);
  parsed.username = "";
  parsed.password = "";
  parsed.hash = "";
  return parsed.href;
};

/**
 * Normalises a target by its kind: `path` and `file` as paths, `url` as a URL,
 * anything else as an id in Unicode NFC without surrounding spaces.
 *
 * @returns `undefined` when the id is empty or does not suit its kind
 */
export const normalizeTarget = ({ kind, id }: ApprovalTarget): ApprovalTarget | undefined => {
  const named = kind.trim().normalize("NFC");
  const normalized =
    named === "path" || named === "file"
      ? id === ""
        ? undefined
        : normalizePath(id)
      : named === "url"
        ? normalizeUrl(id)
        : id.trim().normalize("NFC");
  return named === "" || normalized === undefined || normalized === ""
    ? undefined
    : { kind: named, id: normalized };
};

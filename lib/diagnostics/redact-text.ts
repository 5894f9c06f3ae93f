/**
 * Takes common forms of credentials out of text (`DX-03`), and leaves sentences
 * that merely speak of them readable. Every pattern is linear in the text.
 */

/** What stands in for a credential. */
export const redactionMarker = "[redacted]";

interface Rule {
  readonly pattern: RegExp;
  readonly replace: (match: string, ...groups: ReadonlyArray<string>) => string;
}

const hidden = (prefix: string | undefined): string => `${prefix ?? ""}${redactionMarker}`;

/** A quoted value with its escapes, or one word. A backslash before a quote is JSON inside of JSON. */
const value = String.raw`(?:\[redacted\]|\\*"(?:\\.|[^"\\])*(?:"|$)|\\*'(?:\\.|[^'\\])*(?:'|$)|[^\s"',;&)\]}<>\\]+)`;

const scheme = String.raw`(?:Bearer|Basic|Digest|Negotiate|Token|ApiKey)`;

/** Names whose value is a secret wherever they stand, alone or at the end of a longer name. */
const secretName = [
  String.raw`api[ _-]?key`,
  String.raw`access[ _-]?key(?:[ _-]?id)?`,
  String.raw`(?:access|refresh|id|auth|session|bearer)[ _-]?token`,
  String.raw`client[ _-]?secret`,
  String.raw`private[ _-]?key`,
  String.raw`pass(?:word|wd|phrase)`,
  "pwd",
  "secret",
  "credentials?",
].join("|");

const queryName =
  "(?:access_token|refresh_token|id_token|api_key|apikey|token|key|secret|password|passwd|pwd|signature|sig|credential|auth)";

/** Words that follow "Bearer" in a sentence about it. */
const proseAfterBearer =
  /^(?:tokens?|auth\w*|scheme|realm|credentials?|headers?|access|is|was|or|and|not|of|the|in)\b/i;

/** Base64 of `user:password` is never a plain lower-case, capitalised or all-capital word. */
const plainWord = /^(?:[a-z]+|[A-Z][a-z]+|[A-Z]+)$/;

const rules: ReadonlyArray<Rule> = [
  {
    pattern: /-----BEGIN ([A-Z ]{0,40}PRIVATE KEY)-----[\s\S]*?(?:-----END \1-----|$)/g,
    replace: (_, kind) => `-----BEGIN ${kind ?? ""}----- ${redactionMarker}`,
  },
  // user:password@ with a password that may hold anything but spaces and quotes; a port is no password.
  {
    pattern:
      /([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/:@"'<>]*:(?!\d{1,5}(?:[/?#\s"'<>]|$))[^\s"'<>]{0,1024}?@(?=[^\s@"'<>]*(?:[\s"'<>]|$))/gi,
    replace: (_, start) => `${hidden(start)}@`,
  },
  {
    pattern: /([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/?#@"'<>]+@/gi,
    replace: (_, start) => `${hidden(start)}@`,
  },
  // The same where the text was cut inside the password.
  {
    pattern:
      /([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/:@"'<>]+:(?!\d{0,5}(?:[/?#\s"'<>]|$))[^\s/?#"'<>]+$/gi,
    replace: (_, start) => hidden(start),
  },
  {
    pattern: new RegExp(String.raw`([?&#;][\w.-]{0,40}?${queryName}=)[^&\s#"'<>]*`, "gi"),
    replace: (_, name) => hidden(name),
  },
  {
    pattern: new RegExp(
      String.raw`((?:proxy-)?authorization\\*["']?\s*[:=]\s*)(?:\\*["'])?(?:${scheme}\s+)?${value}`,
      "gi",
    ),
    replace: (_, name) => hidden(name),
  },
  {
    pattern: new RegExp(String.raw`((?:set-)?cookie\s*[:=]\s*)[^\r\n"']+`, "gi"),
    replace: (_, name) => hidden(name),
  },
  {
    pattern: new RegExp(String.raw`((?:${secretName})\\*["']?\s*[:=]\s*)${value}`, "gi"),
    replace: (_, name) => hidden(name),
  },
  // "token: }" is how parsers complain, so a bare token counts only with "=" or as a quoted key.
  {
    pattern: new RegExp(String.raw`(token(?:\s*=\s*|\\*["']\s*:\s*))${value}`, "gi"),
    replace: (_, name) => hidden(name),
  },
  {
    pattern: /\b(Bearer\s+)([^\s"',;<>]+)/gi,
    replace: (match, start, token) => (proseAfterBearer.test(token ?? "") ? match : hidden(start)),
  },
  {
    pattern: /\b(Basic\s+)([A-Za-z0-9+/_-]{4,}={0,2})/gi,
    replace: (match, start, token) => (plainWord.test(token ?? "") ? match : hidden(start)),
  },
  // Keys whose form alone gives them away.
  {
    pattern:
      /\b(?:sk-[A-Za-z0-9_-]{8,}|[srp]k_(?:live|test)_[A-Za-z0-9]{8,}|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}|xox[abeoprs]-[\w-]{8,}|npm_[A-Za-z0-9]{20,}|AKIA[0-9A-Z]{16}|AIza[\w-]{30,}|eyJ[\w-]{8,}\.[\w-]+\.[\w-]*)/g,
    replace: () => redactionMarker,
  },
];

/** Replaces every credential it recognises by `[redacted]`. */
export const redactText = (text: string): string =>
  rules.reduce((redacted, { pattern, replace }) => redacted.replace(pattern, replace), text);

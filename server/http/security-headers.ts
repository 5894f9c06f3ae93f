/** Headers of every answer, pages and API alike. */
import { randomBytes } from "node:crypto";

export interface SecurityHeaders {
  /** The policy of this one request; Next reads the nonce out of it and puts it on its own scripts. */
  readonly contentSecurityPolicy: string;
  readonly all: ReadonlyArray<readonly [name: string, value: string]>;
}

/**
 * No inline script without this request's nonce, nothing from other origins, no
 * framing. Styles may be inline: React writes `style` attributes into the page.
 * Development also needs `eval` and a socket for reloading.
 */
const policyOf = (nonce: string, development: boolean): string =>
  [
    "default-src 'self'",
    `script-src 'self' 'nonce-${nonce}' 'strict-dynamic'${development ? " 'unsafe-eval'" : ""}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    `connect-src 'self'${development ? " ws: wss:" : ""}`,
    "worker-src 'self' blob:",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");

/** One fresh nonce per call: call it once per request. */
export const securityHeaders = (development: boolean): SecurityHeaders => {
  const contentSecurityPolicy = policyOf(randomBytes(18).toString("base64"), development);
  return {
    contentSecurityPolicy,
    all: [
      ["content-security-policy", contentSecurityPolicy],
      ["x-content-type-options", "nosniff"],
      ["referrer-policy", "same-origin"],
      ["x-frame-options", "DENY"],
      ["cross-origin-opener-policy", "same-origin"],
      ["cross-origin-resource-policy", "same-origin"],
      ["permissions-policy", "camera=(), microphone=(), geolocation=()"],
    ],
  };
};

/**
 * Whether a request that may change something was made by our own pages (OP-09).
 * A cookie is sent along whoever made the request; a bearer token is not, so it
 * needs no such proof.
 */
import type { HttpServerRequest } from "effect/unstable/http";
import { OriginRefused } from "#lib/contract/errors.ts";

const safeMethods = new Set(["GET", "HEAD", "OPTIONS"]);

type Request = Pick<HttpServerRequest.HttpServerRequest, "method" | "headers">;

const hostOf = (origin: string): string | undefined => {
  try {
    return new URL(origin).host;
  } catch {
    return undefined;
  }
};

const isOwnOrigin = (request: Request, ownHosts: ReadonlyArray<string>): boolean => {
  const origin = request.headers["origin"];
  if (origin === undefined) return false;
  const host = hostOf(origin);
  return host !== undefined && (host === request.headers["host"] || ownHosts.includes(host));
};

const refused = () =>
  new OriginRefused({
    message: "This request did not come from the console's own pages, so nothing was changed.",
  });

/**
 * Browsers say where a request came from in `Sec-Fetch-Site`, which no page can
 * write; without it `Origin` must name this host or one of `ownHosts` (where a
 * proxy changes the host). A request with neither is refused.
 */
export const refuseForeignOrigin = (
  request: Request,
  ownHosts: ReadonlyArray<string>,
): OriginRefused | undefined => {
  if (safeMethods.has(request.method)) return undefined;
  const site = request.headers["sec-fetch-site"];
  if (site !== undefined) return site === "same-origin" ? undefined : refused();
  return isOwnOrigin(request, ownHosts) ? undefined : refused();
};

/** For signing in, which needs no cookie: a program says nothing about its origin, a foreign page gives itself away. */
export const refuseForeignPage = (
  request: Request,
  ownHosts: ReadonlyArray<string>,
): OriginRefused | undefined => {
  const saysNothing =
    request.headers["sec-fetch-site"] === undefined && request.headers["origin"] === undefined;
  return saysNothing ? undefined : refuseForeignOrigin(request, ownHosts);
};

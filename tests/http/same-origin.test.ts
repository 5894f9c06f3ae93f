import { assert, describe, it } from "vitest";
import { refuseForeignOrigin, refuseForeignPage } from "#server/http/same-origin.ts";

const post = (headers: Record<string, string>) =>
  ({ method: "POST", headers: { host: "console.example:3000", ...headers } }) as never;

describe("the origin of a request", () => {
  it("[OP-09] counts as ours by Sec-Fetch-Site, whatever a proxy made of the host", () => {
    assert.isUndefined(
      refuseForeignOrigin(
        post({ "sec-fetch-site": "same-origin", origin: "https://public.example" }),
        [],
      ),
    );
    for (const site of ["cross-site", "same-site", "none", "", "Same-Origin "])
      assert.isDefined(
        refuseForeignOrigin(
          post({ "sec-fetch-site": site, origin: "http://console.example:3000" }),
          [],
        ),
        site,
      );
  });

  it("[OP-09] counts as ours by Origin only with the same host and port, or a named one", () => {
    assert.isUndefined(refuseForeignOrigin(post({ origin: "http://console.example:3000" }), []));
    assert.isUndefined(
      refuseForeignOrigin(post({ origin: "https://public.example" }), ["public.example"]),
    );
    for (const origin of [
      "http://console.example",
      "http://console.example:3001",
      "http://evil.example/console.example:3000",
      "http://console.example:3000.evil.example",
      "null",
      "",
      "not a url",
    ])
      assert.isDefined(refuseForeignOrigin(post({ origin }), ["public.example"]), origin);
  });

  it("[OP-09] is refused when a request says nothing of it; only signing in may say nothing", () => {
    assert.isDefined(refuseForeignOrigin(post({}), []));
    assert.isUndefined(refuseForeignPage(post({}), []));
    assert.isDefined(refuseForeignPage(post({ origin: "https://evil.example" }), []));
  });

  it("[C046] does not matter for a request that only reads", () => {
    const get = { method: "GET", headers: { "sec-fetch-site": "cross-site" } } as never;
    assert.isUndefined(refuseForeignOrigin(get, []));
  });
});

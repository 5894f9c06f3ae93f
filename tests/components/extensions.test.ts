import { assert, describe, it } from "vitest";
import { extensionsBeyond, usualExtension } from "#components/approvals/extensions.ts";

const namesAt = (leftMillis: number) => extensionsBeyond(leftMillis).map(({ name }) => name);
const hour = 3_600_000;

describe("more time for a request", () => {
  it("[A-07][C013] offers only what moves the expiry on", () => {
    assert.deepStrictEqual(namesAt(-5_000), ["15 min", "1 h", "4 h", "24 h", "7 d", "30 d"]);
    assert.deepStrictEqual(namesAt(hour), ["4 h", "24 h", "7 d", "30 d"]);
    assert.deepStrictEqual(namesAt(24 * hour - 1), ["24 h", "7 d", "30 d"]);
    assert.deepStrictEqual(namesAt(30 * 24 * hour), []);
  });

  it("[A-07][C013] begins with an hour, or with the least that is more than there is", () => {
    assert.strictEqual(usualExtension(extensionsBeyond(60_000)), 3_600);
    assert.strictEqual(usualExtension(extensionsBeyond(23 * hour)), 86_400);
    assert.isUndefined(usualExtension(extensionsBeyond(31 * 24 * hour)));
  });
});

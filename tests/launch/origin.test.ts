import { describe, expect, it } from "vitest";
import { originOf } from "#server/launch/origin.ts";

describe("the address that is printed for a person", () => {
  it.each([
    ["127.0.0.1", "http://127.0.0.1:3000"],
    ["agents.example.com", "http://agents.example.com:3000"],
    ["0.0.0.0", "http://localhost:3000"],
    ["::", "http://localhost:3000"],
    ["::1", "http://[::1]:3000"],
  ])("a listener on %s is reached at %s", (host, origin) => {
    expect(originOf(host, 3000)).toBe(origin);
    expect(new URL(origin).port).toBe("3000");
  });
});

import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { assert, describe, it } from "@effect/vitest";
import { Schema } from "effect";
import { readEvent } from "#lib/client/event-stream.ts";
import { LoggedEvent, RunEvent } from "#lib/contract/events.ts";

/** One file per kind and version: first an event with every field, then ones without what is optional. Never edited. */
const folder = path.join(import.meta.dirname, "golden");

interface Stored {
  readonly version: number;
  readonly event: Readonly<Record<string, unknown>>;
}
const goldenFiles = readdirSync(folder).map((file) => {
  const [kind = "", version = ""] = file.split(".");
  const events: ReadonlyArray<Stored> = JSON.parse(readFileSync(path.join(folder, file), "utf8"));
  return { file, kind, version, events };
});

const decode = Schema.decodeUnknownSync(LoggedEvent);
const encode = Schema.encodeSync(LoggedEvent);
const kinds = RunEvent.members.map((member) => ({
  kind: member.fields._tag.schema.literal,
  fields: Object.keys(member.fields),
}));
const kindNames: ReadonlySet<string> = new Set(kinds.map(({ kind }) => kind));

describe("the events of every version, as files", () => {
  it("every kind has a file of the current version, and the first event in it has every field of the kind", () => {
    for (const { fields, kind } of kinds) {
      const golden = goldenFiles.find((file) => file.kind === kind && file.version === "v1");
      assert.isDefined(golden, `write tests/contract-events/golden/${kind}.v1.json`);
      const [complete] = golden?.events ?? [];
      assert.sameMembers(Object.keys(complete?.event ?? {}), fields, kind);
    }
  });

  for (const { events, file, kind } of goldenFiles) {
    it(`${file} is still read as its kind and written as it was`, () => {
      assert.isNotEmpty(events);
      assert.isTrue(
        kindNames.has(kind),
        `${kind} was removed: stored events of it lose their meaning`,
      );
      for (const stored of events) {
        const logged = decode(stored);
        assert.strictEqual(logged.event._tag, kind);
        assert.deepStrictEqual(JSON.parse(JSON.stringify(encode(logged))), stored);
        assert.deepStrictEqual(readEvent(JSON.stringify(stored)), logged);
      }
    });
  }
});

describe("events of a later version", () => {
  const [known] = goldenFiles.find(({ kind }) => kind === "RunAborted")?.events ?? [];
  const withEvent = (event: unknown) => ({ ...known, event });

  it("become a neutral event that names their kind, on the server and in the browser", () => {
    for (const event of [
      { _tag: "ToolCallDreamt", depth: 3 },
      { _tag: "RunAborted", why: { code: 7 } },
      { _tag: "__proto__" },
    ]) {
      const stored = withEvent(event);
      assert.deepStrictEqual(decode(stored).event, { _tag: "UnknownEvent", kind: event._tag });
      assert.deepStrictEqual(readEvent(JSON.stringify(stored))?.event, decode(stored).event);
    }
  });

  it("keep a known kind when only fields were added", () => {
    const stored = withEvent({ _tag: "RunAborted", reason: "late", newer: true });
    assert.deepStrictEqual(decode(stored).event, { _tag: "RunAborted", reason: "late" });
  });

  it("are bounded in what they may put into a neutral event", () => {
    const { event } = decode(withEvent({ _tag: "x".repeat(10_000) }));
    assert.deepStrictEqual(event, { _tag: "UnknownEvent", kind: "x".repeat(128) });
  });

  it("are refused where they are no event at all", () => {
    for (const event of [null, [], "RunAborted", { tag: "RunAborted" }, { _tag: 7 }])
      assert.throws(() => decode(withEvent(event)));
  });
});

import { assert, describe, it } from "@effect/vitest";
import { Schema } from "effect";
import { AgentToolApprovalDenied, AgentToolAuthorizationCheckError } from "#lib/agent-error.ts";
import { FailureDiagnostic } from "#lib/failure-diagnostic.ts";

class Wrapped extends Schema.TaggedError<Wrapped>()("Wrapped", {
  details: Schema.Array(Schema.Struct({ evidence: Schema.optionalKey(FailureDiagnostic.Value) })),
}) {}
class Safe extends Schema.TaggedError<Safe>()("Safe", { message: Schema.String }) {}

interface Tree {
  readonly children: ReadonlyArray<Tree>;
}
const Tree = Schema.Struct({
  children: Schema.Array(Schema.suspend((): Schema.Codec<Tree> => Tree)),
});

describe("carriesDiagnostic", () => {
  it("[DX-08] finds a diagnostic codec wherever it stands in a failure schema, and only there", () => {
    const carrying: ReadonlyArray<Schema.Top> = [
      FailureDiagnostic.Value,
      FailureDiagnostic.Cause,
      AgentToolAuthorizationCheckError,
      Wrapped,
      Schema.Union([Safe, Wrapped]),
      Schema.Record(Schema.String, FailureDiagnostic.Cause),
      Schema.Tuple([Schema.String, FailureDiagnostic.Value]),
      Schema.NullOr(Wrapped),
    ];
    for (const schema of carrying)
      assert.isTrue(FailureDiagnostic.carriesDiagnostic(schema), String(schema.ast._tag));
    const safe: ReadonlyArray<Schema.Top> = [
      Safe,
      Tree,
      Schema.Never,
      Schema.Unknown,
      AgentToolApprovalDenied,
      Schema.DateTimeUtcFromString,
    ];
    for (const schema of safe)
      assert.isFalse(FailureDiagnostic.carriesDiagnostic(schema), String(schema.ast._tag));
  });
});

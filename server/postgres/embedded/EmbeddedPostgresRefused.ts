import * as Schema from "effect/Schema";

/** Why the bundled PostgreSQL cannot serve. `message` is one sentence for a person: what, where, and what to do. */
export class EmbeddedPostgresRefused extends Schema.TaggedError<EmbeddedPostgresRefused>()(
  "EmbeddedPostgresRefused",
  {
    reason: Schema.Literals([
      "unsupported-platform",
      "missing-binaries",
      "folder-unwritable",
      "folder-busy",
      "copied-while-running",
      "other-major-version",
      "did-not-start",
    ]),
    message: Schema.String,
  },
) {}

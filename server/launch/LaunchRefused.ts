import * as Schema from "effect/Schema";

/** The host cannot start. `message` is one sentence for a person: what is wrong, where, and what to do. */
export class LaunchRefused extends Schema.TaggedError<LaunchRefused>()("LaunchRefused", {
  reason: Schema.Literals([
    "port-taken",
    "database-unreachable",
    "database-too-old",
    "database-newer",
    "migration-failed",
    "provider-did-not-start",
  ]),
  message: Schema.String,
}) {}

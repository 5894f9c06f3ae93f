/** What a host of the process proofs says to the process that started it: one JSON value a line. */
import { Schema } from "effect";

const HostLine = Schema.Union([
  Schema.TaggedStruct("ready", {}),
  /** An append that the journal refused. */
  Schema.TaggedStruct("refused", {
    error: Schema.String,
    threadId: Schema.String,
    runId: Schema.String,
    epoch: Schema.Int,
    kinds: Schema.Array(Schema.String),
  }),
  /** The model was asked, and read these results of the turn before, in this order. */
  Schema.TaggedStruct("asked", { results: Schema.Array(Schema.String) }),
  /** Bytes after a full garbage collection; the answer to SIGUSR2. */
  Schema.TaggedStruct("memory", { rss: Schema.Int, heap: Schema.Int }),
]);
export type HostLine = typeof HostLine.Type;

export const say = (line: HostLine): void => console.log(JSON.stringify(line));

export const parseLine = Schema.decodeUnknownOption(Schema.fromJsonString(HostLine));

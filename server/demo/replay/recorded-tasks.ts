/** The recorded customer tasks of a data set (`tasks.json`). */
import { Effect, FileSystem, Path, Schema } from "effect";

import { DataSetInvalid } from "../data/data-set-errors.ts";
import { OrderRecord, UserRecord } from "../data/records.ts";

export const RecordedCall = Schema.Struct({
  tool: Schema.String,
  arguments: Schema.Record(Schema.String, Schema.Unknown),
  result: Schema.String,
});
export type RecordedCall = typeof RecordedCall.Type;

const RecordedTask = Schema.Struct({
  index: Schema.Int,
  user_id: Schema.String,
  instruction: Schema.String,
  actions: Schema.Array(RecordedCall),
  changed: Schema.Struct({
    orders: Schema.Record(Schema.String, OrderRecord),
    users: Schema.Record(Schema.String, UserRecord),
  }),
});
export type RecordedTask = typeof RecordedTask.Type;

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Array(RecordedTask)));

export const readRecordedTasks = Effect.fn("readRecordedTasks")(function* (folder: string) {
  const fileSystem = yield* FileSystem.FileSystem;
  const path = yield* Path.Path;
  const invalid = (problem: string) =>
    new DataSetInvalid({ file: "tasks.json", record: "", path: "", problem });
  const text = yield* fileSystem
    .readFileString(path.join(folder, "tasks.json"))
    .pipe(Effect.mapError(() => invalid(`no readable file in ${folder}`)));
  return yield* decode(text).pipe(Effect.mapError((error) => invalid(error.message)));
});

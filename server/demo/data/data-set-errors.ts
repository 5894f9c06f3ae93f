import { Schema } from "effect";

/** A data set file that cannot be read or is not what its format says. */
export class DataSetInvalid extends Schema.TaggedError<DataSetInvalid>()("DataSetInvalid", {
  file: Schema.String,
  /** Key of the record in the file; empty when the file as a whole is at fault. */
  record: Schema.String,
  /** Where in the record, e.g. `payment_methods.paypal_1.source`. */
  path: Schema.String,
  problem: Schema.String,
}) {
  override get message(): string {
    const place = [this.record, this.path].filter((part) => part !== "").join(" at ");
    return `The data set file ${this.file} cannot be loaded: ${place === "" ? "" : `record ${place}: `}${this.problem}. Nothing was loaded.`;
  }
}

/** The shop holds another data set, and loading over it would mix the two. */
export class DataSetConflict extends Schema.TaggedError<DataSetConflict>()("DataSetConflict", {
  loaded: Schema.String,
  requested: Schema.String,
}) {
  override get message(): string {
    return `The shop already holds the data set "${this.loaded}" and "${this.requested}" was asked for. Start with an empty DATA_DIR or database, or leave --dataset out to keep it.`;
  }
}

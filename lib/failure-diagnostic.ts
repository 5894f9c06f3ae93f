/**
 * Private evidence of failures: what went wrong, kept whole in the process and
 * reduced to bounded, redacted data wherever it crosses a JSON boundary
 * (`DX-01`). Operator data only; never model text, never a tool's failure
 * payload (`DX-06`, `DX-08`).
 */
import * as Schema from "effect/Schema";
import * as SchemaTransformation from "effect/SchemaTransformation";
import { captureValue } from "#lib/diagnostics/capture-value.ts";

/**
 * Codec for any failure value. In the process it holds the original value; it
 * encodes to captured data, and decoding gives that data, never a rebuilt error
 * class (`DX-01`).
 */
export const Value = Schema.Json.pipe(
  Schema.decodeTo(
    Schema.Unknown,
    SchemaTransformation.transform<unknown, Schema.Json>({
      decode: (encoded) => encoded,
      encode: (value) => captureValue(value),
    }),
  ),
);

import type * as Schema from "effect/Schema";

/**
 * Any value that JSON can hold: `null`, a boolean, a finite number, a string, an array of them or a
 * plain object of them. Immutable. The same type as Effect's `Schema.Json`, named here so that code
 * which only needs the type does not load the schema.
 */
export type Json = Schema.Json;

/** A JSON object: own string keys, JSON values, no particular prototype. */
export type JsonObject = Schema.JsonObject;

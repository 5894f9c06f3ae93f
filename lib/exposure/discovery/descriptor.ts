import * as Schema from "effect/Schema";

const fields = {
  /** Unique in the catalogue, and what a search returns. A native tool's is its name. */
  id: Schema.String,
  name: Schema.String,
  /** The registered tool that becomes callable when this is selected (D-11). */
  nativeToolName: Schema.String,
  /** From the `ToolNamespace` annotation or an allowlist, never from the name (D-05). */
  namespace: Schema.optionalKey(Schema.String),
  /** The method of an alias, as a program calls it. */
  method: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.String),
  /** The host's hint about the namespace; on eligible tools only (D-05). */
  namespaceDescription: Schema.optionalKey(Schema.String),
};

/** What a search may know of one eligible tool or alias (D-03, D-12). */
export const Descriptor = Schema.Struct(fields);
export type Descriptor = typeof Descriptor.Type;

/** One tool that a discovery result documents: its descriptor and both complete encoded schemas (D-03). */
export const Match = Schema.Struct({
  ...fields,
  /** JSON Schema of the encoded parameters. */
  parametersSchema: Schema.Json,
  /** JSON Schema of the encoded success value. */
  successSchema: Schema.Json,
});
export type Match = typeof Match.Type;

/** Most characters of a query (D-02). */
export const maxQueryLength = 512;
/** Most characters of a namespace filter (D-02). */
export const maxNamespaceLength = 128;

/** Parameters of a discovery tool (D-02). A model that has no namespace in mind may leave it out or send null. */
export const DiscoveryParameters = Schema.Struct({
  query: Schema.String.check(
    Schema.isMaxLength(maxQueryLength),
    Schema.isPattern(/\S/, { description: "at least one character that is no white space" }),
  ).annotate({
    description: "Words that describe what the tool should do. Every word must match.",
  }),
  namespace: Schema.optionalKey(
    Schema.NullOr(Schema.String.check(Schema.isMaxLength(maxNamespaceLength))),
  ).annotate({ description: "Exact namespace to search in; leave it out to search everywhere." }),
});

/** Success of a discovery tool (D-03). `toolNames` replaces the non-pinned exposed set. */
export const DiscoveryResult = Schema.Struct({
  /** Registered names that become callable with the next request, each once, in rank order. */
  toolNames: Schema.Array(Schema.String),
  matches: Schema.Array(Match),
  /** At most 192 characters; how to search better, when something was left out (D-09). */
  notice: Schema.optionalKey(Schema.String),
});
export type DiscoveryResult = typeof DiscoveryResult.Type;

/** What a search is asked. */
export interface SearchRequest {
  /** 1 to 512 characters, not blank. */
  readonly query: string;
  /** The exact filter, already applied to the catalogue. */
  readonly namespace?: string;
}

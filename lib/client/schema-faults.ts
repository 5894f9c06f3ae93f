/**
 * The plain part of JSON Schema, on a value whose numbers are as written: enough to point at a field while a
 * person types. What is not understood here is left to the server, which decides.
 */
import type { ExactJson } from "./exact-json.ts";
import { exactJsonText } from "./exact-json.ts";
import { childPath } from "./json-place.ts";

export interface SchemaFault {
  readonly path: string;
  readonly message: string;
}

type Schema = Readonly<Record<string, unknown>>;

const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** References deeper than this are left to the server; a schema may be hostile too. */
const mostReferences = 32;

const resolved = (schema: unknown, root: Schema): Schema | undefined => {
  let here = schema;
  for (let step = 0; step < mostReferences; step += 1) {
    if (!isSchema(here)) return undefined;
    const reference = here["$ref"];
    if (typeof reference !== "string") return here;
    if (!reference.startsWith("#/")) return undefined;
    here = reference
      .slice(2)
      .split("/")
      .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
      .reduce<unknown>(
        (value, part) => (isSchema(value) && Object.hasOwn(value, part) ? value[part] : undefined),
        root,
      );
  }
  return undefined;
};

const typeOf = (value: ExactJson): string =>
  value.kind === "number" && /^-?\d+(?:\.0+)?$/.test(value.text) ? "integer" : value.kind;

const hasType = (value: ExactJson, wanted: string): boolean => {
  const type = typeOf(value);
  return type === wanted || (type === "integer" && wanted === "number");
};

const named = (list: ReadonlyArray<unknown>): string =>
  list
    .map((one) => JSON.stringify(one))
    .join(", ")
    .slice(0, 200);

const article = (type: string): string => (/^[aio]/.test(type) ? `an ${type}` : `a ${type}`);

const typeFault = (value: ExactJson, schema: Schema): string | undefined => {
  const type = schema["type"];
  const wanted = (Array.isArray(type) ? type : [type]).filter((one) => typeof one === "string");
  if (wanted.length === 0 || wanted.some((one) => hasType(value, one))) return undefined;
  return `must be ${wanted.map(article).join(" or ")}, not ${value.kind === "null" ? "null" : article(value.kind)}`;
};

const valueFault = (value: ExactJson, schema: Schema): string | undefined => {
  const text = exactJsonText(value);
  const choices = schema["enum"];
  if (Array.isArray(choices) && !choices.some((one) => JSON.stringify(one) === text))
    return `must be one of ${named(choices)}`;
  if (Object.hasOwn(schema, "const") && JSON.stringify(schema["const"]) !== text)
    return `must be ${named([schema["const"]])}`;
  return undefined;
};

const boundFault = (value: ExactJson, schema: Schema): string | undefined => {
  const bound = (name: string): number | undefined => {
    const limit = schema[name];
    return typeof limit === "number" ? limit : undefined;
  };
  const checks: ReadonlyArray<
    readonly [string, number, (size: number, limit: number) => boolean, string]
  > =
    value.kind === "string"
      ? [
          ["minLength", value.value.length, (size, limit) => size >= limit, "must have at least"],
          ["maxLength", value.value.length, (size, limit) => size <= limit, "must have at most"],
        ]
      : value.kind === "array"
        ? [
            ["minItems", value.items.length, (size, limit) => size >= limit, "must hold at least"],
            ["maxItems", value.items.length, (size, limit) => size <= limit, "must hold at most"],
          ]
        : value.kind === "number"
          ? [
              ["minimum", Number(value.text), (size, limit) => size >= limit, "must be at least"],
              ["maximum", Number(value.text), (size, limit) => size <= limit, "must be at most"],
            ]
          : [];
  for (const [name, size, holds, words] of checks) {
    const limit = bound(name);
    if (limit !== undefined && !holds(size, limit))
      return `${words} ${limit}${name.endsWith("Length") ? " characters" : name.endsWith("Items") ? " items" : ""}`;
  }
  return undefined;
};

/** What the schema plainly refuses, in document order. */
export const schemaFaults = (value: ExactJson, schema: unknown): ReadonlyArray<SchemaFault> =>
  isSchema(schema) ? faultsOf(value, schema, schema, "$", 0) : [];

const faultsOf = (
  value: ExactJson,
  unresolved: unknown,
  root: Schema,
  path: string,
  depth: number,
): ReadonlyArray<SchemaFault> => {
  const schema = resolved(unresolved, root);
  if (schema === undefined || depth > mostReferences) return [];
  const own = typeFault(value, schema) ?? valueFault(value, schema) ?? boundFault(value, schema);
  if (own !== undefined) return [{ path, message: `${path} ${own}.` }];
  const inner = (part: unknown, of: ExactJson, at: string) =>
    faultsOf(of, part, root, at, depth + 1);
  const all = Array.isArray(schema["allOf"]) ? schema["allOf"] : [];
  return [
    ...all.flatMap((part) => inner(part, value, path)),
    ...anyFaults(value, schema, path, inner),
    ...memberFaults(value, schema, path, inner),
    ...(value.kind === "array" && schema["items"] !== undefined
      ? value.items.flatMap((item, index) => inner(schema["items"], item, childPath(path, index)))
      : []),
  ];
};

type Inner = (schema: unknown, value: ExactJson, path: string) => ReadonlyArray<SchemaFault>;

/** One alternative that holds is enough; of several that do not, the one that comes closest explains. */
const anyFaults = (value: ExactJson, schema: Schema, path: string, inner: Inner) => {
  const either = schema["anyOf"] ?? schema["oneOf"];
  if (!Array.isArray(either) || either.length === 0) return [];
  const tried = either.map((part) => inner(part, value, path));
  if (tried.some((faults) => faults.length === 0)) return [];
  const closest = tried.find((faults) => faults.some((fault) => fault.path !== path));
  return (
    closest ?? [{ path, message: `${path} fits none of its ${either.length} allowed shapes.` }]
  );
};

const memberFaults = (value: ExactJson, schema: Schema, path: string, inner: Inner) => {
  if (value.kind !== "object") return [];
  const properties = isSchema(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const names = new Set(value.members.map(([name]) => name));
  const missing = required
    .filter((name) => typeof name === "string" && !names.has(name))
    .map((name) => ({ path, message: `${path} needs ${JSON.stringify(name)}.` }));
  const present = value.members.flatMap(([name, member]) => {
    const at = childPath(path, name);
    if (Object.hasOwn(properties, name)) return inner(properties[name], member, at);
    return schema["additionalProperties"] === false
      ? [{ path: at, message: `${at} is not known here.` }]
      : [];
  });
  return [...missing, ...present];
};

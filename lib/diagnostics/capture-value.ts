import type * as Schema from "effect/Schema";

const readText = (value: object, key: "_tag" | "name" | "message"): string | undefined => {
  try {
    const read: unknown = Reflect.get(value, key);
    return typeof read === "string" ? read.slice(0, 1024) : undefined;
  } catch {
    return undefined;
  }
};

/** Captures the identity of a failure value without its payload (`DX-02`); never throws. */
export const captureValue = (value: unknown): Schema.Json => {
  if (typeof value === "string") return { message: value.slice(0, 1024) };
  if (typeof value !== "object" || value === null) return { message: typeof value };
  const captured: Record<string, string> = {};
  for (const key of ["_tag", "name", "message"] as const) {
    const text = readText(value, key);
    if (text !== undefined) captured[key] = text;
  }
  return captured;
};

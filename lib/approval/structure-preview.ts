/**
 * The default preview of parameters: what shape they have, and none of what they
 * say (`A-04`).
 */
import type { Json, JsonObject } from "#lib/contract/json/json.ts";
import { jsonStringByteLength } from "#lib/contract/json/utf8.ts";
import { approvalLimits } from "#lib/contract/approval.ts";

const maxKeyLength = 64;
/** Kept free for the markers of what was left out. */
const reserveBytes = 512;

interface Budget {
  bytes: number;
  nodes: number;
}

/**
 * Replaces every scalar by the name of its type and keeps objects, arrays and key
 * names. Always fits the preview bounds: what does not fit is named by a marker
 * such as `<3 more>` or `<deeper>`.
 */
export const structurePreview = (value: Json): Json => {
  const budget: Budget = {
    bytes: approvalLimits.maxPreviewBytes - reserveBytes,
    nodes: approvalLimits.maxPreviewNodes,
  };
  return shapeOf(value, 1, budget);
};

const shapeOf = (value: Json, depth: number, budget: Budget): Json => {
  budget.nodes -= 1;
  if (value === null) return spend(budget, null, 5);
  if (typeof value !== "object") return spend(budget, `<${typeof value}>`, 12);
  if (depth >= approvalLimits.maxPreviewDepth) return spend(budget, "<deeper>", 12);
  budget.bytes -= 4;
  return isArray(value) ? shapeOfArray(value, depth, budget) : shapeOfObject(value, depth, budget);
};

/** `Array.isArray` alone does not tell a readonly array from an object. */
const isArray = (value: Json): value is ReadonlyArray<Json> => Array.isArray(value);

/** Bytes are counted before a value is kept; a comma is part of each count. */
const spend = (budget: Budget, shape: Json, bytes: number): Json => {
  budget.bytes -= bytes;
  return shape;
};

const hasRoom = (budget: Budget, bytes: number): boolean =>
  budget.nodes > 1 && budget.bytes > bytes;

const moreMarker = (count: number): string => `<${count} more>`;
/** Room for one marker on every level that is still open. */
const markerBytes = 32 * approvalLimits.maxPreviewDepth;

const shapeOfArray = (values: ReadonlyArray<Json>, depth: number, budget: Budget): Json => {
  const shapes: Array<Json> = [];
  for (const [index, value] of values.entries()) {
    if (!hasRoom(budget, markerBytes)) {
      shapes.push(moreMarker(values.length - index));
      break;
    }
    shapes.push(shapeOf(value, depth + 1, budget));
  }
  return shapes;
};

const shapeOfObject = (value: JsonObject, depth: number, budget: Budget): Json => {
  const entries: Array<[string, Json]> = [];
  const keys = Object.keys(value);
  for (const [index, key] of keys.entries()) {
    const shown = key.length > maxKeyLength ? `${key.slice(0, maxKeyLength)}…` : key;
    const keyBytes = jsonStringByteLength(shown) + 2;
    if (!hasRoom(budget, markerBytes + keyBytes)) {
      entries.push(["…", moreMarker(keys.length - index)]);
      break;
    }
    budget.bytes -= keyBytes;
    entries.push([shown, shapeOf(value[key] ?? null, depth + 1, budget)]);
  }
  return Object.fromEntries(entries);
};

import { Struct } from "effect/Schema";
import { DiagnosticView } from "../denial-views.ts";

const { diagnostic: _evidence, ...fields } = DiagnosticView.fields;

/** A diagnostic in a list: everything but the evidence, which is behind its own route (C079). */
export const DiagnosticListItem = Struct(fields);
export type DiagnosticListItem = typeof DiagnosticListItem.Type;

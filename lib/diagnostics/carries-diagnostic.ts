import type * as Schema from "effect/Schema";
import * as SchemaAST from "effect/SchemaAST";

/** Marks the diagnostic codecs, so that a schema that contains one can be recognised. */
export const diagnosticAnnotation = "effect-agent/failure-diagnostic";

/** A suspended schema may build itself anew without end. */
const maxNodes = 10_000;

/**
 * Whether a schema holds a diagnostic codec anywhere. A tool that returns its
 * failures to the model may not use such a schema: private evidence would become
 * model text, so the failure needs a safe schema of its own (`DX-08`).
 */
export const carriesDiagnostic = (schema: Schema.Top): boolean => {
  const seen = new Set<SchemaAST.AST>();
  const open: Array<SchemaAST.AST> = [schema.ast];
  for (let ast = open.pop(); ast !== undefined && seen.size < maxNodes; ast = open.pop()) {
    if (seen.has(ast)) continue;
    seen.add(ast);
    if (SchemaAST.resolveAt<boolean>(diagnosticAnnotation)(ast) === true) return true;
    open.push(...childrenOf(ast));
  }
  return false;
};

const childrenOf = (ast: SchemaAST.AST): ReadonlyArray<SchemaAST.AST> => {
  const encoded = (ast.encoding ?? []).map(({ to }) => to);
  switch (ast._tag) {
    case "Declaration":
      return [...encoded, ...ast.typeParameters];
    case "Objects":
      return [
        ...encoded,
        ...ast.propertySignatures.map(({ type }) => type),
        ...ast.indexSignatures.map(({ type }) => type),
      ];
    case "Arrays":
      return [...encoded, ...ast.elements, ...ast.rest];
    case "Union":
      return [...encoded, ...ast.types];
    case "Suspend":
      return [...encoded, ast.thunk()];
    default:
      return encoded;
  }
};

/** House rules that no stock rule can say. Each reads one file and names the arrow or the habit it breaks. */
import path from "node:path";
import { primitives, rooms } from "./rooms.mjs";

const root = path.resolve(import.meta.dirname, "../..");
const aliases = /^#(lib|server|components|tests)\//;

const repoPath = (file) => path.relative(root, file).split(path.sep).join("/");

const targetOf = (specifier, importer) => {
  if (aliases.test(specifier)) return specifier.slice(1);
  if (specifier.startsWith(".")) return path.posix.join(path.posix.dirname(importer), specifier);
  return specifier;
};

const isInside = (target, prefix) => {
  if (prefix.endsWith(":") || (prefix.endsWith("/") && prefix.startsWith("@")))
    return target.startsWith(prefix);
  // The bare barrel: `effect` pulls the whole library into a browser, `effect/Schema` does not.
  if (prefix === "effect") return target === "effect";
  return target === prefix || target.startsWith(`${prefix}/`);
};

const isOurs = (target) => /^(lib|server|components|app|tests|scripts)(\/|$)/.test(target);

/** @returns {string | undefined} why `importer` may not import `target` */
export const brokenArrow = (importer, target, typeOnly) => {
  const room = rooms.find((candidate) => isInside(importer, candidate.room));
  if (room === undefined) return undefined;
  const refused = (room.never ?? []).find((prefix) => isInside(target, prefix));
  if (refused !== undefined && !(typeOnly && refused === "effect")) return room.why;
  if (
    room.only !== undefined &&
    isOurs(target) &&
    !room.only.some((prefix) => isInside(target, prefix))
  )
    return room.why;
  const feature = /^components\/([^/]+)\//.exec(importer)?.[1];
  const other = /^components\/([^/]+)\//.exec(target)?.[1];
  if (
    feature !== undefined &&
    other !== undefined &&
    feature !== other &&
    !primitives.includes(other)
  ) {
    return "a feature never imports another feature: move what both need into a primitive folder";
  }
  return undefined;
};

const roomArrows = {
  create(context) {
    const importer = repoPath(context.filename);
    const check = (node, source, typeOnly) => {
      if (source === null || source === undefined || typeof source.value !== "string") return;
      const why = brokenArrow(importer, targetOf(source.value, importer), typeOnly);
      if (why !== undefined)
        context.report({ node, message: `${importer} may not import ${source.value}: ${why}.` });
    };
    return {
      ImportDeclaration: (node) => check(node, node.source, node.importKind === "type"),
      ExportNamedDeclaration: (node) => check(node, node.source, node.exportKind === "type"),
      ExportAllDeclaration: (node) => check(node, node.source, node.exportKind === "type"),
      ImportExpression: (node) => check(node, node.source, false),
    };
  },
};

const runAtTheEdge = {
  create: (context) => ({
    MemberExpression(node) {
      if (node.object.type !== "Identifier" || node.property.type !== "Identifier") return;
      if (node.object.name !== "Effect" || !/^run(?:[A-Z]|$)/.test(node.property.name)) return;
      context.report({
        node,
        message: `Effect.${node.property.name} belongs in server/main.ts, scripts and tests: return the effect instead.`,
      });
    },
  }),
};

const ambient = [
  ["Date", "now", "Clock.currentTimeMillis or DateTime.now"],
  ["Math", "random", "Random"],
  ["crypto", "randomUUID", "the Ids service or Random"],
];

const noAmbientTime = {
  create: (context) => ({
    MemberExpression(node) {
      if (node.object.type !== "Identifier" || node.property.type !== "Identifier") return;
      const hit = ambient.find(
        ([object, property]) => object === node.object.name && property === node.property.name,
      );
      if (hit)
        context.report({
          node,
          message: `${hit[0]}.${hit[1]} cannot be controlled by a test: use ${hit[2]}.`,
        });
    },
    NewExpression(node) {
      if (
        node.callee.type === "Identifier" &&
        node.callee.name === "Date" &&
        node.arguments.length === 0
      ) {
        context.report({
          node,
          message: "new Date() cannot be controlled by a test: use DateTime.now.",
        });
      }
    },
  }),
};

const explainedCast = {
  create(context) {
    const commentLines = new Set();
    for (const comment of context.sourceCode.getAllComments()) {
      for (let line = comment.loc.start.line; line <= comment.loc.end.line; line += 1)
        commentLines.add(line);
    }
    const report = (node, what) => {
      // A reason stands on the same line, or within the lines from the statement's start to just above it.
      let statement = node;
      while (
        statement.parent &&
        !/Statement$|Declaration$|PropertyDefinition|^Property$/.test(statement.type)
      )
        statement = statement.parent;
      for (let line = statement.loc.start.line - 1; line <= node.loc.end.line; line += 1)
        if (commentLines.has(line)) return;
      context.report({ node, message: `${what} needs a one-line comment that says why it holds.` });
    };
    return {
      TSAsExpression(node) {
        const target = node.typeAnnotation;
        if (target.type === "TSTypeReference" && target.typeName.name === "const") return;
        report(node, "A cast");
      },
      TSNonNullExpression: (node) => report(node, "A non-null assertion"),
    };
  },
};

export default {
  meta: { name: "effect-agent" },
  rules: {
    "room-arrows": roomArrows,
    "run-at-the-edge": runAtTheEdge,
    "no-ambient-time": noAmbientTime,
    "explained-cast": explainedCast,
  },
};

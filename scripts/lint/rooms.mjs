/**
 * The dependency arrows of docs/architecture.md as data. A room is a folder; `only` lists what it may import
 * inside this repository, `never` what it may not, packages included. The first room whose prefix fits wins.
 */
const browserForbids = [
  "effect",
  "effect/unstable/ai",
  "effect/unstable/sql",
  "@effect/",
  "node:",
  "next",
  "react",
];
const hostForbids = [
  "node:",
  "react",
  "next",
  "@effect/sql-pg",
  "@effect/platform-node",
  "effect/unstable/sql",
];
const clientSide = ["lib/contract", "lib/client", "components", "app"];
const rulesBelowEngine = [
  "server",
  "app",
  "components",
  "tests",
  "lib/engine",
  "lib/client",
  "lib/testing",
  "lib/index.ts",
];

/** Component folders that carry no domain words: every feature may use them. */
export const primitives = ["ui", "status", "feedback", "shell", "json", "timeline"];

/** @type {ReadonlyArray<{ room: string, only?: readonly string[], never?: readonly string[], why: string }>} */
export const rooms = [
  {
    room: "lib/contract",
    only: ["lib/contract"],
    never: browserForbids,
    why: "lib/contract is the vocabulary: Schema by deep path (effect/Schema), safe in a browser, importing no other room",
  },
  {
    room: "lib/client",
    only: ["lib/contract", "lib/client"],
    never: browserForbids,
    why: "lib/client runs in the browser: contract only, no React, no effect barrel",
  },
  {
    room: "lib/engine",
    never: [
      "server",
      "app",
      "components",
      "tests",
      "lib/client",
      "lib/testing",
      "lib/index.ts",
      ...hostForbids,
    ],
    why: "the engine is host-neutral and sits below lib/index",
  },
  ...[
    "agent",
    "exposure",
    "approval",
    "authorization",
    "scheduling",
    "diagnostics",
    "durable",
    "broker",
    "results",
  ].map((name) => ({
    room: `lib/${name}`,
    never: [...rulesBelowEngine, ...hostForbids],
    why: `lib/${name} sits below lib/engine: the engine imports it, never the other way round`,
  })),
  {
    room: "lib",
    never: ["server", "app", "components", "tests", "lib/client", ...hostForbids],
    why: "lib is host-neutral: no node:, SQL or React, and nothing of the server or the console",
  },
  {
    room: "cli",
    only: ["cli", "lib/proof", "lib/contract"],
    why: "the verifier is a program of its own: the pack's rules and the vocabulary, nothing of the server",
  },
  {
    room: "components",
    only: clientSide.filter((room) => room !== "app"),
    never: ["node:", "effect", "effect/unstable/ai", "@effect/"],
    why: "components see the contract and the client, never the server or the engine",
  },
  {
    room: "app",
    only: clientSide,
    never: ["effect", "effect/unstable/ai", "@effect/"],
    why: "a route composes components; it reads the server only over HTTP",
  },
  {
    room: "server/main.ts",
    never: ["app", "components", "tests"],
    why: "the server serves the console through next, it does not import it",
  },
  {
    room: "server/App.ts",
    never: ["app", "components", "tests", "server/main.ts", "lib/durable/memory"],
    why: "App wires live layers for main; the memory ports promise nothing and are for tests",
  },
  {
    room: "server/launch",
    never: ["app", "components", "tests", "server/main.ts"],
    why: "the launcher starts App for main",
  },
  {
    room: "server",
    never: [
      "app",
      "components",
      "tests",
      "server/App.ts",
      "server/main.ts",
      "server/launch",
      "lib/durable/memory",
    ],
    why: "adapters do not know who wires them; the memory ports promise nothing and are for tests",
  },
];

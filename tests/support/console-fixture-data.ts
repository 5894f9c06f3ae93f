/** The other answers of the console's fixtures: approvals, effects in doubt, denials and what is about the installation. */
import { digestOf } from "#lib/contract/json/digest.ts";
import type { Json, JsonObject } from "#lib/contract/json/json.ts";
import type { Risk } from "#lib/contract/status.ts";
import { hostile, id, minute, pick, refund, start, titles } from "./console-fixture-runs.ts";

export { runDetail, runRow } from "./console-fixture-runs.ts";

const risks: ReadonlyArray<Risk> = ["high", "medium", "critical", "low"];
const bigLine = `${"x".repeat(1_000_000)} END-MARKER-rm-rf`;

const argumentsOf = (number: number): Json => {
  if (number === 2)
    return {
      to: hostile.bidi,
      subject: hostile.host,
      body: hostile.script,
      raw: hostile.controls,
      note: hostile.template,
      empty: "",
    };
  if (number === 3) return { command: bigLine };
  if (number === 4)
    return {
      rows: Array.from({ length: 5_000 }, (_, index) => ({
        index,
        sku: `SKU-${index}`,
        price: index / 4,
      })),
    };
  // The refund tool's own shape; what is not in it is what a preview of it cannot read.
  const own = {
    order_id: `#W${1_000_000 + number}`,
    payment_method_id: "card_4417",
    amount: (100 + number * 0.05).toFixed(2),
    reason: number === 12 ? `${hostile.bidi}\nAmount: $1.00` : "arrived with a cracked burr",
  };
  return number === 6 ? { ...own, cc: "someone@example.com" } : own;
};

const toolOf = (number: number): string =>
  number === 2
    ? "send_email"
    : number === 3
      ? "run_command"
      : pick(["issue_refund", "cancel_pending_order", "modify_user_address"], number);

const argumentsObject = (value: Json): JsonObject =>
  // `Array.isArray` alone does not tell a readonly array from an object.
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? ({ ...value } as JsonObject)
    : {};

const basisOf = (expiresAt: number | null) => ({
  toolDigest: digestOf("issue_refund"),
  definitionDigest: digestOf("retail-desk"),
  approvalRule: "1 person, never the requester, a denial is recoverable, risk high",
  authorization: "asked",
  visibility: "visible",
  callsLeft: 21,
  expiresAt,
});

export const approvalRow = (number: number, state: string) => {
  const decided = state !== "pending";
  const requestedAt = start - 4 * minute - number * 1_000;
  return {
    requestId: id("approval", number),
    runId: id("run", number),
    agentId: "retail-desk",
    threadId: id("thread", number),
    runTitle: pick(titles, number),
    turn: 3,
    callId: "call_3_0",
    toolName: toolOf(number),
    summary:
      number === 2
        ? `Send 1 e-mail to ${hostile.bidi}`
        : `Refund ${(100 + number * 0.05).toFixed(2)} USD of order #W${1_000_000 + number} to card_4417`,
    risk: pick(risks, number),
    state,
    requester: number % 7 === 0 ? "Ana Sofia Lima" : "ops@example.com",
    batchPending: number === 1 ? 3 : 1,
    requestedAt,
    expiresAt: number === 6 ? null : start + 40_000 + number * 45_000,
    decidedAt: decided ? start - 30_000 : null,
    decidedBy: decided ? (state === "expired" ? "the clock" : "Ben Okoro") : null,
  };
};

export const approvalDetail = (number: number, state: string) => {
  const row = approvalRow(number, state);
  const parameters = argumentsOf(number);
  const decided = state !== "pending";
  return {
    ...row,
    content: {
      requestId: row.requestId,
      agentId: row.agentId,
      threadId: row.threadId,
      runId: row.runId,
      turnId: "turn-3",
      turnNumber: 3,
      callId: row.callId,
      toolName: row.toolName,
      parameters: number === 1 ? { ...refund, currency: "USD" } : parameters,
      effectiveParameters: parameters,
      parametersDigest: digestOf(parameters),
      targets: [
        { kind: "order", id: `#W${1_000_000 + number}` },
        { kind: "payment method", id: number === 2 ? hostile.host : "card_4417" },
      ],
      preview: { orderId: "text", amount: "number" },
      previewSource: "structure",
      summary: row.summary,
      risk: row.risk,
      denial: number % 4 === 0 ? "terminal" : "recoverable",
      requestedAt: row.requestedAt,
      expiresAt: row.expiresAt ?? "never",
      requester: row.requester,
      approversRequired: number === 3 || number === 5 ? 2 : 1,
      selfApproval: false,
      ...(number === 2
        ? {
            hiddenCharacters: {
              characters: [
                { codePoint: 0x202e, name: "RIGHT-TO-LEFT OVERRIDE" },
                { codePoint: 0x200b, name: "ZERO WIDTH SPACE" },
              ],
              places: ["$.to", "$.raw"],
            },
          }
        : {}),
    },
    reason: state === "denied" ? "The customer must send a photo first." : null,
    suggestion: state === "denied" ? { ...argumentsObject(parameters), amount: "50.00" } : null,
    approvers:
      number === 5
        ? [{ operatorId: "op-2", name: "Ben Okoro", reason: "seen the photo", at: start - minute }]
        : [],
    approversMissing: decided ? 0 : number === 3 ? 2 : 1,
    lookers:
      number === 1 && !decided
        ? [{ operatorId: "op-2", name: "Ben Okoro", until: Date.now() + 40_000 }]
        : [],
    basis: basisOf(row.expiresAt),
    changedSinceAsked:
      number === 8 ? [{ part: "toolDigest", before: "9f31c0aa21b7", now: "0d4e77f1c210" }] : [],
    decision: decided ? { kind: "operator", id: "op-2", name: "Ben Okoro" } : null,
    delivery: {
      decidedAt: row.decidedAt,
      recordedAt: row.decidedAt === null ? null : row.decidedAt + 4,
      deliveredAt: state === "approved" ? start - 29_000 : null,
      effectAt: state === "approved" ? start - 27_000 : null,
      effect: state === "approved" ? "succeeded" : null,
    },
    batch:
      number === 1
        ? ["issue_refund", "create_return_label", "send_email"].map((toolName, index) => ({
            index,
            callId: `call_3_${index}`,
            toolName,
            state: index === 0 && decided ? "succeeded" : "waiting",
            needsApproval: true,
            requestId: id("approval", index + 1),
            summary: pick(
              ["Refund 129.90 USD", "Make a return label", `E-mail to ${hostile.bidi}`],
              index,
            ),
            executionClass: pick(["idempotent", "readonly", "uncertain"], index),
          }))
        : [
            {
              index: 0,
              callId: "call_3_0",
              toolName: row.toolName,
              state: "waiting",
              needsApproval: true,
              requestId: row.requestId,
              summary: row.summary,
              executionClass: "uncertain",
            },
          ],
    fingerprint: "amber otter lifts brass kettle",
    receipt: state === "approved" ? "ran-as-approved" : null,
    mayDecide:
      number === 7
        ? {
            allowed: false,
            why: "You started this run; the policy of issue_refund asks for somebody else.",
          }
        : { allowed: true, why: "" },
  };
};

export const unknownRow = (number: number, state = "open") => ({
  unknownId: id("unknown", number),
  runId: id("run", 5 + number * 8),
  agentId: "retail-desk",
  threadId: id("thread", number),
  runTitle: pick(titles, number),
  turn: 2,
  callId: "call_2_6",
  toolName: "charge_payment_method",
  reason: pick(["process-lost", "interrupted", "handler-unsure"], number),
  state,
  afterSettlement: number === 3,
  preparedAt: start - 12 * minute,
  unknownAt: start - 11 * minute - number * minute,
  resolvedAt: state === "resolved" ? start - minute : null,
  resolvedBy: state === "resolved" ? "Ben Okoro" : null,
});

export const unknownDetail = (number: number, state = "open") => {
  const parameters = {
    userId: "maya_okafor_2201",
    amount: 12.5,
    currency: "USD",
    memo: number === 2 ? hostile.bidi : "express shipping",
  };
  return {
    ...unknownRow(number, state),
    parameters,
    parametersDigest: digestOf(parameters),
    idempotencyKey: `3f0c2d9a-${number}`,
    attempt: 2,
    executionClass: "uncertain",
    detail:
      "The connection to the payment provider closed after the request was sent and before it answered.",
    stages: {
      sent: { known: "not-known", why: "the process was lost after the promise" },
      answered: { known: "not-known", why: "nothing was recorded" },
    },
    probeRule: number === 2 ? "An entry with this key settles it as completed." : null,
    probes: [],
    resultSchema: {
      type: "object",
      properties: { chargeId: { type: "string" }, amount: { type: "number" } },
      required: ["chargeId", "amount"],
    },
    failureSchema: null,
    resolution:
      state === "resolved"
        ? {
            kind: "completed-with-result",
            actor: { kind: "operator", id: "op-2", name: "Ben Okoro" },
            reason: "found in the provider's ledger",
            evidence: "ledger entry ch_88123 at 03:41:07",
            result: { chargeId: "ch_88123", amount: 12.5 },
          }
        : null,
  };
};

export const denialRow = (number: number) => ({
  denialId: id("denial", number),
  kind: number % 3 === 0 ? "check-error" : "denial",
  runId: id("run", number),
  agentId: "retail-desk",
  threadId: id("thread", number),
  runTitle: pick(titles, number),
  turn: 2,
  callId: "call_2_2",
  toolName: "delete_customer",
  reason:
    number % 3 === 0
      ? "The permission service did not answer within 2 s."
      : "Customers are deleted by the privacy team only.",
  diagnosticId: number % 3 === 0 ? "diagnostic-00001" : null,
  deniedAt: start - number * minute,
  acknowledgedAt: number > 8 ? start - minute : null,
  acknowledgedBy: number > 8 ? "Ben Okoro" : null,
  note: number > 8 ? "expected, the agent was told" : null,
});

export const diagnosticRow = (number: number) => ({
  diagnosticId: id("diagnostic", number),
  fingerprint: pick(["f3a19c", "0b77e2", "c41d09"], number),
  runId: id("run", number),
  toolName: pick(["track_shipment", "issue_refund"], number),
  callId: "call_2_1",
  capturedAt: start - number * 3 * minute,
  title: pick(
    [
      "CarrierUnavailable: no answer within 5 s",
      "TypeError: cannot read properties of undefined",
      hostile.script,
    ],
    number,
  ),
});

export const diagnosticEvidence: Json = {
  version: 1,
  error: {
    tag: "CarrierUnavailable",
    message: "no answer within 5 s",
    headers: { authorization: "[redacted]" },
    self: "[circular]",
  },
  cause: [{ tag: "TimeoutException", message: "[truncated 18,220 characters]" }],
};

export const agentView = (agentId: string) => ({
  agentId,
  instructions:
    "You are the retail desk of an online shop. Help customers with orders, refunds and deliveries. Never promise what a tool has not confirmed.",
  definitionDigest: digestOf(agentId),
  inputSchema: { type: "string" },
  toolCount: 4,
  tools: ["discover_tools", "issue_refund", "get_order_details", "delete_customer"].map(
    (name, index) => ({
      name,
      description: pick(
        [
          "Finds tools by words.",
          "Refunds a payment of an order.",
          "Reads one order.",
          "Deletes a customer.",
        ],
        index,
      ),
      namespace: pick([null, "payments", "orders", "customers"], index),
      failureMode: index === 1 ? "return" : "error",
      executionClass: pick(["readonly", "idempotent", "readonly", "uncertain"], index),
      approval: pick(["never", "by-rule", "never", "always"], index),
      risk: pick([null, "high", null, "critical"], index),
      pinned: index === 0,
      discovery: index === 0,
      discoveryBounds: index === 0 ? { maxResults: 8, maxResultBytes: 32_768 } : null,
      requiresHandler: true,
      toolDigest: digestOf(name),
      parametersSchema: {
        type: "object",
        properties: {
          orderId: { type: "string" },
          amount: { type: "number", exclusiveMinimum: 0 },
        },
        required: ["orderId"],
      },
      successSchema: { type: "object" },
      failureSchema: index === 1 ? { type: "object" } : null,
    }),
  ),
  exposure: { initialToolNames: ["get_order_details"], maxTools: 64, maxSchemaBytes: 262_144 },
  policyInstalled: agentId === "retail-desk",
  budgets: { maxTurns: 12, maxToolCalls: 24, maxDurationMillis: 300_000, toolConcurrency: 4 },
  visibilityInstalled: true,
  examples:
    agentId === "retail-desk"
      ? [
          {
            id: "refund",
            title: "Refund above the limit",
            shows: "The refund waits in Approvals; approve it and the provider books it once.",
            input: "Hi, I'm Maya Okafor. Please refund the Coffee Grinder.",
          },
          {
            id: "cancel",
            title: "Cancel a pending order",
            shows: "Deny it and the agent tells the customer why.",
            input: "Please cancel order #W1000002.",
          },
        ]
      : [],
});

export const obligationRow = (number: number) => ({
  submissionId: id("submission", number),
  runId: id("run", number),
  threadId: id("thread", number),
  agentId: "retail-desk",
  title: pick(titles, number),
  blocker: pick(["approval", "unknown", "child", "ready-aged", "running-aged", "none"], number),
  severity: pick(["ok", "aging", "overdue"], number),
  explanation: "Restore the wait for the approval; ask nothing twice.",
  since: start - number * 11 * minute,
  attempts: (number % 3) + 1,
});

export const workerRow = (number: number) => ({
  workerId: id("worker", number),
  address: `127.0.0.1:${34_430 + number}`,
  startedAt: start - 80 * minute,
  heartbeatAt: start - number * 40_000,
  state: pick(["alive", "silent", "stopped"], number),
  threads: number === 0 ? 412 : 0,
  lastTakeoverAt: number === 0 ? start - 20 * minute : null,
});

const verbs = [
  "decide-approval",
  "extend-approval",
  "abort-run",
  "resolve-unknown",
  "acknowledge-denial",
  "sign-in",
  "read-diagnostics",
];

export const auditRow = (number: number) => ({
  sequence: 900 - number,
  at: start - number * 50_000,
  actor: { kind: "operator", id: "op-2", name: number === 3 ? hostile.bidi : "Ben Okoro" },
  verb: pick(verbs, number),
  target: id("approval", number),
  runId: id("run", number),
  accepted: number % 4 !== 1,
  reason:
    number % 4 === 1
      ? "ApprovalAlreadyDecided: Ana Sofia Lima approved this call 2 s before."
      : "checked with the customer",
  before: { state: "pending" },
  after: number % 4 === 1 ? null : { state: "approved" },
  commandId: `c${number}`,
  digest: digestOf(`audit ${number}`),
  previousDigest: digestOf(`audit ${number + 1}`),
});

export const recordRow = (number: number) => {
  const body = JSON.stringify({
    _tag: pick(["RunOpened", "TurnRecorded", "ToolCallPrepared", "ToolCallSettled"], number),
    exact: "9007199254740993",
    note: hostile.bidi,
  });
  return {
    sequence: number + 1,
    epoch: 4,
    kind: pick(["RunOpened", "TurnRecorded", "ToolCallPrepared", "ToolCallSettled"], number),
    recordedAt: start - 9 * minute + number * 800,
    digest: digestOf(`record ${number}`),
    previousDigest: digestOf(`record ${number - 1}`),
    body: body.replace('"9007199254740993"', "9007199254740993"),
  };
};

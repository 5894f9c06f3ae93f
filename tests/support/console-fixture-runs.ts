/**
 * Contract-shaped answers in every state a console page must show, for development and component tests of
 * the console without the host. Never imported by product code. Times hang on one start moment.
 */
import { digestOf } from "#lib/contract/json/digest.ts";
import type { Json } from "#lib/contract/json/json.ts";
import type { CallState, RunState } from "#lib/contract/status.ts";

export const start = Date.now();
export const minute = 60_000;

/** Characters that hide, reorder, imitate or try to run. */
export const hostile = {
  bidi: "invoice \u202Egpj.exe\u202C to a\u200Bb\u2066c\u2069",
  script: `<script>window.__ran=1</script><img src=x onerror="window.__ran=1"><details open ontoggle=alert(1)>`,
  host: "https://pаypal.com/login",
  formula: '=HYPERLINK("http://evil.example","x")',
  controls: "a\u0000b\u001B[31mred\rback\u2028sep\uFEFF\u{E0100}",
  template: "${process.env.SECRET} {{constructor}} `x`",
};

export const id = (kind: string, number: number): string =>
  `${kind}-${String(number).padStart(5, "0")}`;
export const pick = <A>(list: ReadonlyArray<A>, number: number): A => {
  const found = list[number % list.length];
  if (found === undefined) throw new Error("an empty list has nothing to pick");
  return found;
};

const states: ReadonlyArray<RunState> = [
  "running",
  "waiting",
  "completed",
  "completed",
  "failed",
  "unknown",
  "aborted",
  "queued",
];
export const titles = [
  "Refund for the cracked Coffee Grinder in order #W1000001",
  "Cancel order #W1000002, no longer needed",
  "Ship order #W1000003 to 41 Linden Avenue instead",
  hostile.bidi,
  hostile.script,
  "Where is my parcel? Order #W1000140",
  `A very long title ${"that goes on ".repeat(30)}`,
  hostile.formula,
];

export const runRow = (number: number) => {
  const state = pick(states, number);
  const createdAt = start - number * 37_000;
  const settled = state === "completed" || state === "failed" || state === "aborted";
  return {
    runId: id("run", number),
    threadId: id("thread", number % 900),
    submissionId: id("submission", number),
    agentId: number % 5 === 4 ? "warehouse" : "retail-desk",
    state,
    title: pick(titles, number),
    failureTag:
      state === "failed"
        ? pick(["PaymentDeclined", "ModelProtocolError", "ToolDenied"], number)
        : null,
    requester: number % 3 === 0 ? "ops@example.com" : "Ana Sofia Lima",
    turns: (number % 6) + 1,
    toolCalls: number % 9,
    pendingApprovals: state === "waiting" ? (number % 3) + 1 : 0,
    openUnknowns: state === "unknown" ? 1 : 0,
    inputTokens: 1_200 * ((number % 12) + 1),
    outputTokens: 140 * ((number % 7) + 1),
    createdAt,
    startedAt: state === "queued" ? null : createdAt + 400,
    settledAt: settled ? createdAt + 21_000 + number : null,
  };
};

export const exposure = (names: ReadonlyArray<string>, source = "initial") => ({
  exposed: names,
  pins: ["discover_tools"],
  discoveryTools: ["discover_tools"],
  eager: false,
  selectionSource: source,
  selected: names.filter((name) => name !== "discover_tools"),
  schemaBytes: 940 * names.length,
  maxTools: 64,
  maxSchemaBytes: 262_144,
  hiddenByVisibility: ["delete_customer"],
  hiddenByVisibilityCount: 1,
  notSelected: ["report_sales_by_product", "report_top_customers"],
  notSelectedCount: 2,
  warnings: [],
});

const call = (
  turn: number,
  index: number,
  toolName: string,
  state: CallState,
  parameters: Json,
  more: object = {},
) => {
  const at = start - 9 * minute + turn * 70_000 + index * 900;
  const asked = state === "waiting" || state === "denied-by-person" || state === "expired";
  const ran =
    state === "running" || state === "succeeded" || state === "failed" || state === "unknown";
  const over =
    state !== "queued" && state !== "waiting" && state !== "running" && state !== "unknown";
  return {
    turn,
    index,
    callId: `call_${turn}_${index}`,
    toolName,
    state,
    executionClass: "uncertain",
    providerExecuted: false,
    parameters,
    effectiveParameters: parameters,
    parametersDigest: digestOf(parameters),
    failureMode: null,
    failureHandling: null,
    failure: null,
    result: null,
    hasResult: false,
    isFailure: false,
    originalBytes: null,
    selection: null,
    approvalRequestId: asked ? id("approval", 1) : null,
    unknownId: state === "unknown" ? id("unknown", 1) : null,
    idempotencyKey: ran ? `key-${turn}-${index}` : null,
    declaredAt: at,
    requestedAt: asked ? at + 20 : null,
    decidedAt: state === "denied-by-person" || state === "expired" ? at + 40_000 : null,
    startedAt: ran ? at + 300 : null,
    endedAt: over ? at + 2_400 + index * 800 : null,
    ...more,
  };
};

export const refund = {
  orderId: "#W1000001",
  amount: 129.9,
  paymentMethodId: "card_4417",
  reason: "arrived with a cracked burr",
};
const done = (result: Json) => ({
  result,
  hasResult: true,
  originalBytes: JSON.stringify(result).length,
});

/** Calls that the program of another call made: one done, one denied, one under way. */
const innerCall = (turn: number, index: number) => {
  const id = { orderId: `#W100000${index}` };
  const made =
    index === 0
      ? call(turn, index, "get_order_details", "succeeded", id, done({ status: "delivered" }))
      : index === 1
        ? call(turn, index, "send_email", "denied-by-policy", { to: hostile.bidi })
        : call(turn, index, "add_order_note", "running", id);
  return { ...made, callId: `inner_${String(index).repeat(32)}` };
};

/** A run whose calls stand in all eleven states. */
export const runDetail = (runId: string) => {
  const number = Number(runId.slice(-5)) || 1;
  const row = runRow(number);
  const turns = [
    [
      call(
        1,
        0,
        "find_user_id_by_email",
        "succeeded",
        { email: "maya.okafor@example.com" },
        done("maya_okafor_2201"),
      ),
      call(
        1,
        1,
        "discover_tools",
        "succeeded",
        { query: "refund", namespace: "payments" },
        { ...done({ toolNames: ["issue_refund"], matches: [] }), selection: ["issue_refund"] },
      ),
      ...[159_744, 8_388_608, 0].map((keptBytes, index) =>
        call(
          1,
          2 + index,
          "read_shop_log",
          "succeeded",
          {},
          {
            ...done({
              truncated: true,
              format: "text",
              originalBytes: keptBytes === 8_388_608 ? 20_971_520 : 159_744,
              head: hostile.script,
              tail: "the end",
            }),
            originalBytes: keptBytes === 8_388_608 ? 20_971_520 : 159_744,
            keptBytes,
          },
        ),
      ),
    ],
    [
      call(
        2,
        0,
        "get_order_details",
        "succeeded",
        { orderId: "#W1000001" },
        done({
          id: "#W1000001",
          items: [{ sku: 9_007_199_254_740_991, price: 129.9 }],
          note: hostile.script,
        }),
      ),
      call(
        2,
        1,
        "track_shipment",
        "failed",
        { trackingId: "TRK-1" },
        {
          isFailure: true,
          failure: {
            errorTag: "CarrierUnavailable",
            message: "The carrier did not answer within 5 s.",
            diagnosticId: "diagnostic-00001",
          },
          failureMode: "return",
          failureHandling: "returned-to-model",
          ...done({ error: "CarrierUnavailable" }),
        },
      ),
      call(2, 2, "delete_customer", "denied-by-policy", { userId: "maya_okafor_2201" }),
      call(2, 3, "send_email", "denied-by-person", { to: hostile.bidi, body: hostile.script }),
      call(2, 4, "modify_user_address", "expired", { userId: "maya_okafor_2201" }),
      call(2, 5, "add_customer_note", "not-executed", { note: "x" }),
      call(2, 6, "charge_payment_method", "unknown", { amount: 12 }),
      call(2, 7, "cancel_pending_order", "aborted", { orderId: "#W1" }),
      call(
        2,
        8,
        "tidy_orders",
        "running",
        {},
        { inner: [0, 1, 2].map((index) => innerCall(2, index)) },
      ),
    ],
    [
      call(3, 0, "issue_refund", "waiting", refund),
      call(3, 1, "create_return_label", "running", { orderId: "#W1000001" }),
      call(3, 2, "send_email", "queued", {
        to: "maya.okafor@example.com",
        body: "line ".repeat(400),
      }),
    ],
  ];
  const names = [
    "discover_tools",
    "find_user_id_by_email",
    "get_order_details",
    "track_shipment",
    "send_email",
  ];
  return {
    ...row,
    runId,
    input:
      "Hi, I'm Maya Okafor (maya.okafor@example.com). The Coffee Grinder in my order #W1000001 arrived with a cracked burr. Please refund the $129.90 to the card I paid with.",
    output: row.state === "completed" ? "Your refund of $129.90 is on its way." : null,
    failure:
      row.state === "failed"
        ? {
            errorTag: row.failureTag,
            message: "The bank declined the payment: insufficient funds.",
          }
        : null,
    finishReason: row.settledAt === null ? null : "answered",
    exhausted: null,
    modelId: "rehearsal-1",
    abort:
      row.state === "aborted"
        ? {
            actor: { kind: "operator", id: "op-2", name: "Ben Okoro" },
            reason: "customer withdrew",
            at: start,
          }
        : null,
    attempts: [
      {
        attempt: 1,
        epoch: 4,
        decision: "first-attempt",
        explanation: "A new submission: nothing is recorded yet.",
        startedAt: row.createdAt + 400,
        suspendedFor: "approval",
      },
      {
        attempt: 2,
        epoch: 5,
        decision: "apply-decisions",
        explanation: "The approval was decided; the same batch goes on without asking the model.",
        startedAt: row.createdAt + 90_000,
        suspendedFor: null,
      },
    ],
    turnViews: turns.map((calls, index) => ({
      turn: index + 1,
      text: index === 1 ? "I found the order. Let me look at the shipment first." : "",
      finishReason: "tool-calls",
      usage: { inputTokens: 2_140 + index * 800, outputTokens: 96 },
      exposure: exposure(
        index === 2 ? [...names, "issue_refund"] : names,
        index === 2 ? "discovery" : "initial",
      ),
      calls,
      startedAt: start - 9 * minute + (index + 1) * 70_000 - 3_000,
      recordedAt: start - 9 * minute + (index + 1) * 70_000 - 200,
    })),
    earlier: { turns: 0, calls: 0 },
    opening: [],
    policy: { maxTurns: 32, maxToolCalls: 128, maxDurationMillis: 600_000, toolConcurrency: 4 },
  };
};

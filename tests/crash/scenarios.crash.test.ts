/**
 * The black-box scenarios of the requirements that kill processes (section 23: 3, 10,
 * 16, 17, 18), each with real hosts, a real SIGKILL, and a provider's own book.
 */
import { afterEach, assert, beforeEach, describe, it } from "vitest";
import { Schema } from "effect";
import { TruncatedResult } from "#lib/contract/json/bounded-result.ts";
import { ResultPage } from "#lib/results/page.ts";
import type { SubmissionReceipt } from "#lib/contract/commands.ts";
import { makeTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";
import { type Script, type ScriptedCall, survey } from "./fleet/agent.ts";
import { bundleFleetHost, freePorts, type Host, startHost, untilReady } from "./fleet/hosts.ts";
import { checkInvariants } from "./fleet/invariants.ts";
import { approve, settleAll } from "./fleet/people.ts";
import { type Provider, startProvider } from "./fleet/provider.ts";
import { type Open, openStore, type Store } from "./fleet/store.ts";
import { until } from "./fleet/until.ts";

const patience = 60_000;

let database: TestDatabase;
let provider: Provider;
let store: Store;
let port: number;
const hosts: Array<Host> = [];

beforeEach(async () => {
  database = await makeTestDatabase();
  provider = await startProvider();
  store = openStore(database.url);
  await store.prepare();
  await bundleFleetHost();
  [port = 0] = await freePorts(1);
}, 120_000);
afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.end("SIGKILL")));
  await store?.close();
  await provider?.close();
  await database?.drop();
});

const launch = async (killAt?: string): Promise<Host> => {
  const host = startHost({
    databaseUrl: database.url,
    provider: provider.url,
    port,
    isAlone: true,
    ...(killAt === undefined ? {} : { killAt }),
  });
  hosts.push(host);
  await untilReady(host);
  return host;
};
const dead = (host: Host) => until("the host is dead", patience, () => !host.isAlive());

const params = (amount: number, afterMs: number) => ({
  amount,
  beforeMs: 0,
  afterMs,
  decline: false,
});
const charge = (amount: number, afterMs = 0): ScriptedCall => ({
  tool: "charge",
  params: params(amount, afterMs),
});
const refund = (amount: number): ScriptedCall => ({ tool: "refund", params: params(amount, 0) });
const script = (...turns: ReadonlyArray<ReadonlyArray<ScriptedCall>>): Script => ({
  modelMs: 0,
  turns,
});
const stateOf = async (runId: string) =>
  (await store.states()).find((run) => run.runId === runId)?.state;
const asked = () => hosts.flatMap((host) => host.asked());

const expectSound = async (mayWait = false) => {
  const { findings } = await checkInvariants(store, provider, mayWait);
  assert.deepStrictEqual(findings, []);
};

describe("section 23, with processes killed", () => {
  it("[DU-14][F-08][R62] 3: killed after a response with bad arguments is stored: the model is not asked again, the same call fails, the other acts once", async () => {
    const first = await launch("after:append:TurnRecorded:1");
    const { runId } = await store.submit(script([{ tool: "malformed" }, charge(1)]), "three");
    await dead(first);
    assert.lengthOf(provider.effects, 0);
    await launch();
    await until(
      "the run is completed",
      patience,
      async () => (await stateOf(runId)) === "completed",
    );
    assert.deepStrictEqual(asked(), [[], ["call_0", "call_1"]]);
    assert.lengthOf(provider.effects, 1);
    await expectSound();
  }, 120_000);

  it("[A-08][R03] 10: an approval asked by one process and given while none runs: another acts once and asks the model nothing before", async () => {
    const first = await launch();
    const { runId } = await store.submit(script([refund(2)]), "ten");
    await until("the run waits", patience, async () => (await stateOf(runId)) === "waiting");
    await first.end("SIGKILL");
    const [request] = await store.pending();
    if (request === undefined) throw new Error("nothing to approve");
    await store.decide(request, "approved");
    // Killed once more before its handler starts: it had not begun, so it simply runs (R03).
    await dead(await launch("before:append:ToolCallPrepared:1"));
    assert.lengthOf(provider.effects, 0);
    await launch();
    await until(
      "the run is completed",
      patience,
      async () => (await stateOf(runId)) === "completed",
    );
    assert.lengthOf(provider.effects, 1);
    assert.deepStrictEqual(asked(), [[], ["call_0"]]);
    await expectSound();
  }, 120_000);

  it("[R52][T-18][DU-14] a result of 156 KB is kept by one process, which is killed at once, and read page by page by two others", async () => {
    const first = await launch("after:append:ToolCallSettled:1");
    const readOn = Array.from({ length: 12 }, () => [{ tool: "read-on" } as const]);
    const { runId } = await store.submit(script([{ tool: "survey" }], ...readOn), "large");
    await dead(first);
    // The second dies after its second page.
    await dead(await launch("after:append:ToolCallSettled:2"));
    await launch();
    await until(
      "the run is completed",
      patience,
      async () => (await stateOf(runId)) === "completed",
    );
    const [envelope, ...pages] = (await store.results(runId)).map(({ result }) => result);
    const { head, originalBytes } = Schema.decodeUnknownSync(TruncatedResult)(envelope);
    assert.isAbove(originalBytes, 156_000);
    assert.isAbove(pages.length, 3);
    const read = pages.map((page) => Schema.decodeUnknownSync(ResultPage)(page).text);
    assert.strictEqual([head, ...read].join(""), survey);
    await expectSound();
  }, 120_000);

  it("[DU-04][R61][R67] 16: killed inside an uncertain call after its effect: once for ever, however often hosts start", async () => {
    const first = await launch("handler:after-effect:1");
    const { runId } = await store.submit(script([charge(3)]), "sixteen");
    await dead(first);
    for (let start = 0; start < 2; start++) {
      const again = await launch();
      await until("the doubt is shown", patience, async () => (await stateOf(runId)) === "unknown");
      // Long enough for a sweep, which must find nothing to do.
      await new Promise((resolve) => setTimeout(resolve, 1_200));
      await again.end("SIGKILL");
    }
    assert.lengthOf(provider.effects, 1);
    assert.lengthOf(await store.unknowns(), 1);
    await expectSound(true);
  }, 120_000);

  it("[DU-07][DU-08][R61] 17: four doubts, four answers: each has exactly the effects its answer allows, and a second answer is refused", async () => {
    const first = await launch();
    provider.hold();
    const answers = [
      "completed-with-result",
      "never-happened",
      "safe-to-retry",
      "abort-submission",
    ] as const;
    const runs: Array<SubmissionReceipt> = [];
    for (const [index] of answers.entries())
      runs.push(await store.submit(script([charge(10 + index)]), `seventeen-${index}`));
    await until("every call is at the provider", patience, () => provider.held() === 4);
    await first.end("SIGKILL");
    provider.release();
    await launch();
    await until("four doubts", patience, async () => (await store.unknowns()).length === 4);
    const opened = new Map<string, Open>(
      (await store.unknowns()).map((open) => [open.runId, open]),
    );
    for (const [index, answer] of answers.entries()) {
      const open = opened.get(runs[index]?.runId ?? "");
      if (open === undefined) throw new Error("a doubt is missing");
      await store.resolveAs(open, answer);
      const other = answer === "never-happened" ? "safe-to-retry" : "never-happened";
      const refusal = await store.resolveAs(open, other).then(
        () => "accepted",
        (error: { readonly _tag?: string }) => error._tag ?? String(error),
      );
      assert.include(["UnknownAlreadyResolved", "RunAlreadySettled"], refusal);
    }
    assert.deepStrictEqual(await settleAll(store, provider, approve, patience), []);
    const times = runs.map(({ runId }) => provider.timesOf(opened.get(runId)?.key ?? ""));
    // An answer that lets a call run again is the person's word; this one happened before.
    assert.deepStrictEqual(times, [1, 2, 2, 1]);
    assert.deepStrictEqual(await Promise.all(runs.map(({ runId }) => stateOf(runId))), [
      "completed",
      "completed",
      "completed",
      "aborted",
    ]);
  }, 120_000);

  it("[DU-02][DU-03][DU-14][R64] 18: six calls, two at once, killed with two done and two running: two are kept, two in doubt, two run by themselves, and the model reads all six in order", async () => {
    const first = await launch();
    const slow = 600_000;
    const calls = [charge(1), charge(2), charge(3, slow), charge(4, slow), charge(5), charge(6)];
    const { runId } = await store.submit(script(calls), "eighteen");
    await until("two are running", patience, () => provider.effects.length === 4);
    await first.end("SIGKILL");
    await launch();
    await until("two doubts", patience, async () => (await store.unknowns()).length === 2);
    assert.lengthOf(provider.effects, 4);
    for (const open of await store.unknowns()) await store.resolve(open, true);
    await until(
      "the run is completed",
      patience,
      async () => (await stateOf(runId)) === "completed",
    );
    assert.lengthOf(provider.effects, 6);
    assert.deepStrictEqual(asked(), [
      [],
      ["call_0", "call_1", "call_2", "call_3", "call_4", "call_5"],
    ]);
    await expectSound();
  }, 120_000);
});

/**
 * The restore drill: a backup while hosts work, more work after it, then the backup
 * in the place of the database. What came after it happened and is not recorded.
 */
import { afterAll, assert, beforeAll, describe, it } from "vitest";
import { Effect, Layer, Schedule } from "effect";
import { EventHints } from "#server/postgres/EventHints.ts";
import * as JournalPg from "#server/postgres/JournalPg.ts";
import { afterRestore } from "#server/restore/after-restore.ts";
import { type ChaosPostgres, startChaosPostgres } from "./chaos/chaos-postgres.ts";
import type { EffectTool, Script, ScriptedCall } from "./fleet/agent.ts";
import { bundleFleetHost, freePorts, type Host, startHost, untilReady } from "./fleet/hosts.ts";
import { checkInvariants } from "./fleet/invariants.ts";
import { approve, settleAll, unfinished } from "./fleet/people.ts";
import { type Provider, startProvider } from "./fleet/provider.ts";
import { openStore, type Store } from "./fleet/store.ts";
import { until } from "./fleet/until.ts";

const patience = 60_000;
const journal = JournalPg.layer.pipe(Layer.provide(EventHints.layer));

let postgres: ChaosPostgres;
let provider: Provider;
const hosts: Array<Host> = [];
const stores: Array<Store> = [];

beforeAll(async () => {
  postgres = await startChaosPostgres();
  provider = await startProvider();
  await bundleFleetHost();
}, 120_000);
afterAll(async () => {
  await Promise.all(hosts.map((host) => host.end("SIGKILL")));
  await Promise.all(stores.map((store) => store.close()));
  await provider?.close();
  await postgres?.stop();
});

const call = (tool: EffectTool, amount: number): ScriptedCall => ({
  tool,
  params: { amount, beforeMs: 0, afterMs: 0, decline: false },
});
const script = (...turns: ReadonlyArray<ReadonlyArray<ScriptedCall>>): Script => ({
  modelMs: 0,
  turns,
});

const launch = async (databaseUrl: string, port: number): Promise<Host> => {
  const host = startHost({ databaseUrl, provider: provider.url, port, isAlone: true });
  hosts.push(host);
  await untilReady(host);
  return host;
};
const openAt = (url: string): Store => {
  const store = openStore(url);
  stores.push(store);
  return store;
};
const countOf = async (store: Store, state: string) =>
  (await store.states()).filter((run) => run.state === state).length;

describe("a database restored from a backup", () => {
  it("[PG-01][DU-04][DU-13][A-08] fences later owners, leaves later effects in doubt, asks people again, and repeats nothing", async () => {
    const [port = 0, secondPort = 0] = await freePorts(2);
    const database = await postgres.database();
    const before = openAt(database.url);
    await before.prepare();
    const lost = await launch(database.url, port);
    // Finished before the backup; then waits for a person; then in the middle of a call; then still in the queue.
    const done = await before.submit(script([call("charge", 1)]), "done");
    await until(
      "one run has ended",
      patience,
      async () => (await countOf(before, "completed")) === 1,
    );
    const gated = await before.submit(script([call("refund", 2)], [call("charge", 3)]), "gated");
    await until("one run waits", patience, async () => (await countOf(before, "waiting")) === 1);
    provider.hold();
    const held = await before.submit(script([call("charge", 4), call("transfer", 5)]), "held");
    const marked = await before.submit(script([call("mark", 9)]), "marked");
    await until("their calls are at the provider", patience, () => provider.held() === 3);
    const queued = await before.submit(script([call("charge", 6)]), "queued", held.threadId);
    await postgres.backup();

    // What the backup does not know: an approval and its effect, the results, the queued run, a new submission.
    provider.release();
    assert.deepStrictEqual(await settleAll(before, provider, approve, patience), []);
    const later = await before.submit(script([call("charge", 7)]), "later");
    assert.deepStrictEqual(await settleAll(before, provider, approve, patience), []);
    assert.lengthOf(provider.effects, 8);
    // An owner from after the backup stands still in the middle of a call.
    provider.hold();
    await before.submit(script([call("charge", 8)]), "zombie", held.threadId);
    await until("the last call is at the provider", patience, () => provider.held() === 1);
    lost.signal("SIGSTOP");
    await before.close();

    await postgres.restore();
    const after = openAt(database.url);
    const restored = afterRestore.pipe(Effect.provide(journal));
    const report = await after.run(
      // The host of the backup may have spoken a moment before it.
      Effect.retry(restored, {
        schedule: Schedule.spaced("250 millis"),
        while: (error) => error._tag === "HostsAreRunning",
      }),
    );
    assert.deepStrictEqual(report, { threads: 4, inDoubt: 2, doubts: 3, held: 2 });

    const fresh = await launch(database.url, secondPort);
    assert.isTrue(fresh.isAlive());
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    assert.lengthOf(provider.effects, 9, "something ran again by itself");
    const refusal = await after.run(Effect.flip(restored));
    assert.strictEqual(refusal._tag, "HostsAreRunning");
    provider.release();
    lost.signal("SIGCONT");
    await until("the owner from after the backup was refused", patience, () =>
      lost.refused().some((line) => line.kinds.includes("ToolCallSettled")),
    );

    // The person of the approval is asked again; the doubts are answered from the provider's book.
    assert.deepStrictEqual(
      (await after.pending()).map(({ runId }) => runId),
      [gated.runId],
    );
    assert.lengthOf(await after.unknowns(), 3);
    // Whoever sees more effects of a run in the book than in its records ends the run instead of letting it go on.
    const known = await after.callKeys();
    const wentFurther = new Set(
      provider.effects.flatMap(({ key, runId }) => (known.has(key) ? [] : [runId])),
    );
    const open = await unfinished(after);
    assert.sameMembers([...open], [gated.runId, held.runId, queued.runId, marked.runId]);
    assert.sameMembers(
      open.filter((runId) => wentFurther.has(runId)),
      [gated.runId, queued.runId],
    );
    for (const runId of open) if (wentFurther.has(runId)) await after.abort(runId);
    // What is safe to repeat is asked for again, once somebody lets its run go on, as the same call.
    const [mark] = provider.effects.filter(({ runId }) => runId === marked.runId);
    assert.strictEqual(provider.askedOf(mark?.key ?? ""), 1);
    await after.wake(marked.runId);
    assert.deepStrictEqual(await settleAll(after, provider, approve, patience), []);

    assert.strictEqual(provider.askedOf(mark?.key ?? ""), 2);

    // A client that sends its submissions again, not knowing of the restore, gets the runs that are there.
    const again = [
      await after.submit(script([call("charge", 1)]), "done"),
      await after.submit(script([call("refund", 2)], [call("charge", 3)]), "gated"),
      await after.submit(script([call("charge", 4), call("transfer", 5)]), "held"),
      await after.submit(script([call("charge", 6)]), "queued", held.threadId),
      await after.submit(script([call("mark", 9)]), "marked"),
    ];
    assert.deepStrictEqual(
      again.map(({ runId }) => runId),
      [done, gated, held, queued, marked].map(({ runId }) => runId),
    );
    await after.submit(script([call("charge", 2)]), "done").then(
      () => assert.fail("another payload for a key of the backup was let in"),
      (error: unknown) => assert.include(String(error), "IdempotencyConflict"),
    );
    assert.deepStrictEqual(await unfinished(after), [], "a known submission ran again");
    // What came after the backup is not known: its key is free, and its run another one.
    const anew = await after.submit(script([call("charge", 7)]), "later");
    assert.notStrictEqual(anew.runId, later.runId);
    assert.deepStrictEqual(await settleAll(after, provider, approve, patience), []);

    for (const { key } of provider.effects) assert.strictEqual(provider.timesOf(key), 1);
    const { findings } = await checkInvariants(after, provider, false);
    // Effects of runs and turns that came after the backup are in the provider's book alone.
    assert.deepStrictEqual(
      findings.filter((finding) => !finding.includes("for a key that no call has")),
      [],
    );
    const states = new Map((await after.states()).map(({ runId, state }) => [runId, state]));
    assert.strictEqual(states.get(done.runId), "completed");
    assert.strictEqual(states.get(held.runId), "completed");
    assert.strictEqual(states.get(gated.runId), "aborted");
    assert.strictEqual(states.get(queued.runId), "aborted");
    assert.strictEqual(states.get(marked.runId), "completed");
    assert.isFalse(states.has(later.runId), "a submission from after the backup is gone");
  }, 240_000);
});

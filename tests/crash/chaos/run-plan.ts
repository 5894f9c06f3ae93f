/** Runs one chaos plan against real host processes and checks every invariant at its end. */
import type { SubmissionReceipt } from "#lib/contract/commands.ts";
import type { ThreadId } from "#lib/contract/ids.ts";
import { type Host, freePorts, startHost, untilReady } from "../fleet/hosts.ts";
import { checkInvariants, type InvariantReport } from "../fleet/invariants.ts";
import { answerOnce, settleAll } from "../fleet/people.ts";
import { startProvider } from "../fleet/provider.ts";
import { openStore, type Store } from "../fleet/store.ts";
import type { ChaosPostgres } from "./chaos-postgres.ts";
import { type Mishap, type Plan, stormMillis } from "./plan.ts";

export interface PlanResult extends InvariantReport {
  readonly plan: Plan;
  readonly kills: number;
  readonly restarts: number;
  readonly refused: number;
  readonly seconds: number;
  /** What the hosts wrote, for whoever looks into a broken plan. */
  readonly output: string;
}

const pauseMillis = 300;
/** After the storm; a run that a database restart left to nobody is due again after 20 s. */
const patienceMillis = 60_000;

const sleep = (millis: number) => new Promise<void>((resolve) => setTimeout(resolve, millis));

/** Submits as a client does whose answers get lost: with the same key until there is one. */
const submitAll = async (store: Store, plan: Plan): Promise<ReadonlyArray<SubmissionReceipt>> => {
  const threads = new Map<number, ThreadId>();
  const receipts: Array<SubmissionReceipt> = [];
  for (const [index, { lane, script }] of plan.submissions.entries()) {
    const submit = () => store.submit(script, `chaos-${index}`, threads.get(lane));
    for (;;) {
      const receipt = await submit().catch(() => undefined);
      if (receipt === undefined) {
        await sleep(50);
        continue;
      }
      threads.set(lane, threads.get(lane) ?? receipt.threadId);
      receipts.push(receipt);
      break;
    }
  }
  return receipts;
};

/** Hosts that are started again as soon as they are gone, as a supervisor does. */
const supervise = (startAgain: (index: number, isFirst: boolean) => Host, count: number) => {
  const all: Array<Host> = [];
  const current: Array<Host> = [];
  let isOver = false;
  let kills = 0;
  const launch = (index: number, isFirst: boolean): void => {
    const host = startAgain(index, isFirst);
    all.push(host);
    current[index] = host;
    void host.gone.then(() => {
      if (isOver) return;
      kills += 1;
      launch(index, false);
    });
  };
  for (let index = 0; index < count; index++) launch(index, true);
  return {
    all,
    kills: () => kills,
    signal: (index: number, signal: NodeJS.Signals) => current[index]?.signal(signal),
    end: async () => {
      isOver = true;
      await Promise.all(all.map((host) => host.end("SIGKILL")));
    },
  };
};

export const runPlan = async (postgres: ChaosPostgres, plan: Plan): Promise<PlanResult> => {
  const begun = performance.now();
  const database = await postgres.database();
  const provider = await startProvider();
  const store = openStore(database.url);
  await store.prepare();
  const ports = await freePorts(plan.hosts);
  const hosts = supervise(
    (index, isFirst) =>
      startHost({
        databaseUrl: database.url,
        provider: provider.url,
        port: ports[index] ?? 0,
        isAlone: plan.hosts === 1,
        ...(isFirst && index === 0 && plan.killAt !== undefined ? { killAt: plan.killAt } : {}),
      }),
    plan.hosts,
  );
  let restarts = 0;
  const suffer = async (
    mishap: Mishap,
    receipts: ReadonlyArray<SubmissionReceipt>,
  ): Promise<void> => {
    switch (mishap.what) {
      case "kill":
        return void hosts.signal(mishap.host, "SIGKILL");
      case "pause":
        hosts.signal(mishap.host, "SIGSTOP");
        await sleep(pauseMillis);
        return void hosts.signal(mishap.host, "SIGCONT");
      case "abort": {
        const receipt = receipts[mishap.submission];
        if (receipt !== undefined) await store.abort(receipt.runId).catch(() => undefined);
        return;
      }
      case "restart-postgres":
        restarts += 1;
        return postgres.restart();
    }
  };
  let decided = 0;
  const decide = () => plan.decisions[decided++ % plan.decisions.length] ?? "approved";
  try {
    // The storm is for hosts at work, not for hosts that are still starting.
    await Promise.all(hosts.all.map(untilReady));
    const receipts = await submitAll(store, plan);
    const submitted = performance.now();
    const storm = (async () => {
      for (const mishap of plan.mishaps) {
        await sleep(Math.max(0, submitted + mishap.atMs - performance.now()));
        await suffer(mishap, receipts);
      }
    })();
    while (performance.now() - submitted < stormMillis) {
      await answerOnce(store, provider, decide).catch(() => undefined);
      await sleep(40);
    }
    await storm;
    const stuck = await settleAll(store, provider, decide, patienceMillis);
    // A repeated submission is the first one: its receipt says so.
    const again = await submitAll(store, plan);
    const report = await checkInvariants(store, provider, false);
    const findings = [
      ...report.findings,
      ...stuck.map((runId) => `Run ${runId} did not end in ${patienceMillis} ms.`),
      ...again.flatMap((receipt, index) =>
        receipt.runId === receipts[index]?.runId
          ? []
          : [`Submission ${index} was admitted twice: ${receipt.runId}.`],
      ),
    ];
    return {
      ...report,
      findings,
      plan,
      kills: hosts.kills(),
      restarts,
      refused: hosts.all.reduce((sum, host) => sum + host.refused().length, 0),
      seconds: (performance.now() - begun) / 1_000,
      output: hosts.all.map((host) => `host ${host.port}:\n${host.output()}`).join("\n"),
    };
  } finally {
    await hosts.end();
    await store.close();
    await provider.close();
    await database.drop();
  }
};

/** DBOS: one workflow whose steps are the calls, its system tables in the same PostgreSQL server as ours. */
import { DBOS } from "@dbos-inc/dbos-sdk";

/**
 * @param {string} url a database of its own on the server under test
 * @param {() => void} mark the work of a call begins
 */
export const startDbos = async (url, mark) => {
  DBOS.setConfig({ name: "bench", systemDatabaseUrl: url, logLevel: "error" });
  const calls = DBOS.registerWorkflow(
    async (/** @type {number} */ count) => {
      for (let index = 0; index < count; index++) {
        await DBOS.runStep(
          async () => {
            mark();
            return { charged: index };
          },
          { name: `charge-${index}` },
        );
      }
      return count;
    },
    { name: "calls" },
  );
  await DBOS.launch();
  return {
    runCalls: async (/** @type {number} */ count) => {
      const handle = await DBOS.startWorkflow(calls)(count);
      await handle.getResult();
    },
    stop: () => DBOS.shutdown(),
  };
};

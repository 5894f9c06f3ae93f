import { startTestServer } from "#tests/support/postgres-server.ts";

let running: Promise<Awaited<ReturnType<typeof startTestServer>>> | undefined;
let users = 0;

/** Vitest calls this once per project that names it; the projects of one run share one server. */
export default async function setup(): Promise<() => Promise<void>> {
  users += 1;
  running ??= startTestServer();
  const server = await running;
  // Workers inherit the environment of the process that starts them.
  process.env["EFFECT_AGENT_TEST_ADMIN_URL"] = server.adminUrl;
  process.env["EFFECT_AGENT_TEST_URL"] = server.applicationUrl;
  process.env["EFFECT_AGENT_TEST_TEMPLATE"] = server.template;
  return async () => {
    users -= 1;
    if (users === 0) await server.stop();
  };
}

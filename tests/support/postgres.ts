/** What a test that needs PostgreSQL calls: a database of its own, migrated, as the application's role. */
import { randomBytes } from "node:crypto";
import { cloneTemplate, type TestDatabase } from "#tests/support/postgres-template.ts";

export type { TestDatabase };

const fromRun = (name: string): string => {
  const value = process.env[name];
  if (value === undefined || value === "") {
    throw new Error(
      `${name} is not set: name the file *.pg.test.ts or *.crash.test.ts and run it with its vitest project`,
    );
  }
  return value;
};

/** One database per test file is enough for most: call it in `beforeAll` and `drop` it in `afterAll`. */
export const makeTestDatabase = (): Promise<TestDatabase> =>
  cloneTemplate({
    adminUrl: fromRun("EFFECT_AGENT_TEST_ADMIN_URL"),
    applicationUrl: fromRun("EFFECT_AGENT_TEST_URL"),
    template: fromRun("EFFECT_AGENT_TEST_TEMPLATE"),
    name: `test_${randomBytes(6).toString("hex")}`,
  });

/** The API of one test file with an administrator who reads it; made before the file's tests and closed after them. */
import { afterAll, assert, beforeAll } from "vitest";
import { startApi, type TestApi, type TestOperator } from "#tests/support/api-server.ts";

export const adminApi = () => {
  let started: { readonly api: TestApi; readonly ann: TestOperator } | undefined;
  beforeAll(async () => {
    const api = await startApi();
    started = { api, ann: await api.addOperator("admin") };
  }, 60_000);
  afterAll(() => started?.api.close());
  const running = () => {
    if (started === undefined) throw new Error("The API is there in tests only.");
    return started;
  };
  return {
    get api() {
      return running().api;
    },
    get ann() {
      return running().ann;
    },
    /** The body of what is there. */
    get: async (path: string) => {
      const { ann, api } = running();
      const answer = await api.request(path, { token: ann.token });
      assert.strictEqual(answer.status, 200, `${path}: ${JSON.stringify(answer.body)}`);
      return answer.body;
    },
  };
};

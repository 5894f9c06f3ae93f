import * as Effect from "effect/Effect";
import * as Semaphore from "effect/Semaphore";
import { HttpServerResponse } from "effect/unstable/http";
import { HttpApiBuilder } from "effect/unstable/httpapi";
import { Api } from "#lib/contract/http/api.ts";
import { CurrentOperator } from "#lib/contract/http/authentication.ts";
import { abortRun } from "#server/operator/abort-run.ts";
import { retryRun } from "#server/operator/retry-run.ts";
import { wakeRun } from "#server/operator/wake-run.ts";
import { ofRun } from "./of-run.ts";
import { readExposure, readExposureExplanation } from "#server/views/exposure-view.ts";
import { listRecords } from "#server/views/list-records.ts";
import { listRuns } from "#server/views/list-runs.ts";
import { readRunMoment } from "#server/views/run-moment.ts";
import { readRunDetail } from "#server/views/run-detail.ts";
import { readRunExplanation } from "#server/views/run-explanation.ts";
import { readRunTimes } from "#server/views/run-times.ts";
import { readCallBody, readRunTurns } from "#server/views/run-turns.ts";
import { servicesOf } from "./services.ts";
import { operatorFor } from "./view-as.ts";

/** A look at the past of a long run holds up to `momentEvents` events in memory while it is folded. */
const momentsAtOnce = 2;

export const runsHandlers = HttpApiBuilder.group(
  Api,
  "runs",
  Effect.fn(function* (handlers) {
    const services = yield* servicesOf;
    const moments = yield* Semaphore.make(momentsAtOnce);
    return handlers.handleAll({
      list: ({ query }) =>
        Effect.gen(function* () {
          const { tenantId } = yield* operatorFor("view", "runs");
          return yield* listRuns(tenantId, query);
        }).pipe(Effect.provideContext(services)),
      get: ({ params }) =>
        Effect.gen(function* () {
          const { tenantId } = yield* operatorFor("view", params.runId);
          return yield* readRunDetail(tenantId, params.runId);
        }).pipe(ofRun(params.runId), Effect.provideContext(services)),
      moment: ({ params }) =>
        Effect.gen(function* () {
          const { tenantId } = yield* operatorFor("view", params.runId);
          return yield* moments.withPermit(readRunMoment(tenantId, params.runId, params.sequence));
        }).pipe(ofRun(params.runId), Effect.provideContext(services)),
      turns: ({ params, query }) =>
        Effect.gen(function* () {
          const { tenantId } = yield* operatorFor("view", params.runId);
          return yield* readRunTurns(tenantId, params.runId, query.first);
        }).pipe(ofRun(params.runId), Effect.provideContext(services)),
      times: ({ params, query }) =>
        Effect.gen(function* () {
          const { tenantId } = yield* operatorFor("view", params.runId);
          const text = yield* readRunTimes(tenantId, params.runId, query.before);
          return HttpServerResponse.text(text, { contentType: "application/json" });
        }).pipe(ofRun(params.runId), Effect.provideContext(services)),
      callBody: ({ params, query }) =>
        Effect.gen(function* () {
          const { tenantId } = yield* operatorFor("view", params.runId);
          const { isPart, text } = yield* readCallBody(
            tenantId,
            params.runId,
            params.turn,
            query.callId,
            query.body,
          );
          // A beginning of JSON text is none.
          const [contentType, ending] = isPart
            ? ["text/plain; charset=utf-8", "part.txt"]
            : ["application/json", "json"];
          return HttpServerResponse.text(text, {
            contentType,
            headers: {
              "content-disposition": `attachment; filename="${params.runId}-${params.turn}-${query.body}.${ending}"`,
            },
          });
        }).pipe(ofRun(params.runId), Effect.provideContext(services)),
      records: ({ params, query }) =>
        Effect.gen(function* () {
          const { tenantId } = yield* operatorFor("view", params.runId);
          return yield* listRecords(tenantId, params.runId, query);
        }).pipe(ofRun(params.runId), Effect.provideContext(services)),
      exposure: ({ params, query }) =>
        Effect.gen(function* () {
          const { tenantId } = yield* operatorFor("view", params.runId);
          return yield* readExposure(tenantId, params.runId, params.turn, query.at);
        }).pipe(ofRun(params.runId), Effect.provideContext(services)),
      explainExposure: ({ params, query }) =>
        Effect.gen(function* () {
          const { tenantId } = yield* operatorFor("view", params.runId);
          return yield* readExposureExplanation(
            tenantId,
            params.runId,
            query.turn,
            query.tool,
            query.at,
          );
        }).pipe(ofRun(params.runId), Effect.provideContext(services)),
      explain: ({ params }) =>
        Effect.gen(function* () {
          const { tenantId } = yield* operatorFor("view", params.runId);
          return yield* readRunExplanation(tenantId, params.runId);
        }).pipe(ofRun(params.runId), Effect.provideContext(services)),
      wake: ({ params, payload }) =>
        Effect.gen(function* () {
          const operator = yield* CurrentOperator;
          yield* wakeRun(operator, params.runId, payload);
          return yield* readRunExplanation(operator.tenantId, params.runId);
        }).pipe(ofRun(params.runId), Effect.provideContext(services)),
      retry: ({ params, payload }) =>
        Effect.gen(function* () {
          const operator = yield* CurrentOperator;
          return yield* retryRun(operator, params.runId, payload);
        }).pipe(ofRun(params.runId), Effect.provideContext(services)),
      abort: ({ params, payload }) =>
        Effect.gen(function* () {
          const operator = yield* CurrentOperator;
          yield* abortRun(operator, params.runId, payload);
          return yield* readRunDetail(operator.tenantId, params.runId);
        }).pipe(ofRun(params.runId), Effect.provideContext(services)),
    });
  }),
);

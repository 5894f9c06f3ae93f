import * as Effect from "effect/Effect";
import * as Semaphore from "effect/Semaphore";
import { HttpApiBuilder } from "effect/unstable/httpapi";
import { Api } from "#lib/contract/http/api.ts";
import { CurrentOperator } from "#lib/contract/http/authentication.ts";
import { decideApproval } from "#server/operator/decide-approval.ts";
import { extendApproval } from "#server/operator/extend-approval.ts";
import { lookAtApproval } from "#server/operator/look-at-approval.ts";
import { readApprovalDetail } from "#server/views/approval-detail.ts";
import { readApprovalsMoment } from "#server/views/queue-moment.ts";
import { listApprovals } from "#server/views/list-approvals.ts";
import { unlessArchived } from "#server/views/archived-run.ts";
import { ofItem } from "./of-run.ts";
import { servicesOf } from "./services.ts";
import { operatorFor } from "./view-as.ts";

/** A look at the past reads the events of up to a thousand runs; more than these at once would starve the present. */
const momentsAtOnce = 2;

export const approvalsHandlers = HttpApiBuilder.group(
  Api,
  "approvals",
  Effect.fn(function* (handlers) {
    const services = yield* servicesOf;
    const moments = yield* Semaphore.make(momentsAtOnce);
    return handlers.handleAll({
      list: ({ query }) =>
        Effect.gen(function* () {
          const { tenantId } = yield* operatorFor("view", "approvals");
          return yield* listApprovals(tenantId, query).pipe(unlessArchived(tenantId, query.runId));
        }).pipe(Effect.provideContext(services)),
      moment: ({ params }) =>
        Effect.gen(function* () {
          const { tenantId } = yield* operatorFor("view", "approvals");
          return yield* moments.withPermit(readApprovalsMoment(tenantId, params.sequence));
        }).pipe(Effect.provideContext(services)),
      get: ({ params }) =>
        Effect.gen(function* () {
          const operator = yield* operatorFor("view", params.requestId);
          return yield* readApprovalDetail(operator, params.requestId);
        }).pipe(ofItem(params.requestId), Effect.provideContext(services)),
      decide: ({ params, payload }) =>
        Effect.gen(function* () {
          const operator = yield* CurrentOperator;
          yield* decideApproval(operator, params.requestId, payload);
          return yield* readApprovalDetail(operator, params.requestId);
        }).pipe(ofItem(params.requestId), Effect.provideContext(services)),
      extend: ({ params, payload }) =>
        Effect.gen(function* () {
          const operator = yield* CurrentOperator;
          yield* extendApproval(operator, params.requestId, payload);
          return yield* readApprovalDetail(operator, params.requestId);
        }).pipe(ofItem(params.requestId), Effect.provideContext(services)),
      look: ({ params, payload }) =>
        Effect.gen(function* () {
          const operator = yield* CurrentOperator;
          return yield* lookAtApproval(operator, params.requestId, payload);
        }).pipe(ofItem(params.requestId), Effect.provideContext(services)),
    });
  }),
);

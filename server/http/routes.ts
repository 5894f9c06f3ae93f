/** Every handler and the two middlewares, as the routes of one API. Needs `ApiServices`. */
import { NodeServices } from "@effect/platform-node";
import * as Layer from "effect/Layer";
import { Etag, HttpPlatform, type HttpRouter } from "effect/unstable/http";
import { HttpApiBuilder } from "effect/unstable/httpapi";
import { Api } from "#lib/contract/http/api.ts";
import { agentsHandlers } from "./agents.ts";
import { approvalsHandlers } from "./approvals.ts";
import { authenticationLayer } from "./authentication.ts";
import { decodedInputLayer } from "./decoded-input.ts";
import { denialsHandlers } from "./denials.ts";
import { diagnosticsHandlers } from "./diagnostics.ts";
import { healthHandlers } from "./health.ts";
import { operationsHandlers } from "./operations.ts";
import { proofHandlers } from "./proof.ts";
import { runsHandlers } from "./runs.ts";
import { meHandlers, signInHandlers } from "./sign-in.ts";
import type { ApiServices } from "./services.ts";
import { eventsHandlers } from "./sse.ts";
import { submissionsHandlers } from "./submissions.ts";
import { unknownsHandlers } from "./unknowns.ts";
import { verificationHandlers } from "./verification.ts";

const handlers = Layer.mergeAll(
  healthHandlers,
  signInHandlers,
  meHandlers,
  agentsHandlers,
  submissionsHandlers,
  runsHandlers,
  proofHandlers,
  approvalsHandlers,
  unknownsHandlers,
  denialsHandlers,
  diagnosticsHandlers,
  operationsHandlers,
  verificationHandlers,
  eventsHandlers,
);

/** What the HTTP machinery itself asks for; no file is ever served through it. */
const platform = HttpPlatform.layer.pipe(
  Layer.provideMerge(Etag.layerWeak),
  Layer.provideMerge(NodeServices.layer),
);

export const apiRoutes: Layer.Layer<never, never, ApiServices | HttpRouter.HttpRouter> =
  HttpApiBuilder.layer(Api).pipe(
    Layer.provide(handlers),
    Layer.provide(Layer.mergeAll(authenticationLayer, decodedInputLayer)),
    Layer.provide(platform),
  );

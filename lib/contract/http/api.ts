/**
 * The whole HTTP API as one definition, `/api/v1`. Server side only: a browser
 * uses `fetch` and the plain schemas of the contract, because this module pulls
 * the HTTP machinery with it.
 */
import { HttpApi, OpenApi } from "effect/unstable/httpapi";
import { agentsGroup } from "./agents.ts";
import { approvalsGroup } from "./approvals.ts";
import { denialsGroup } from "./denials.ts";
import { diagnosticsGroup } from "./diagnostics.ts";
import { eventsGroup } from "./events.ts";
import { healthGroup } from "./health.ts";
import { operationsGroup } from "./operations.ts";
import { proofGroup } from "./proof.ts";
import { runsGroup } from "./runs.ts";
import { meGroup, signInGroup } from "./sign-in.ts";
import { submissionsGroup } from "./submissions.ts";
import { unknownsGroup } from "./unknowns.ts";
import { verificationGroup } from "./verification.ts";

/** Every path of the API starts with this. */
export const apiPrefix = "/api/v1";

export class Api extends HttpApi.make("effect-agent")
  .add(
    healthGroup,
    signInGroup,
    meGroup,
    agentsGroup,
    submissionsGroup,
    runsGroup,
    proofGroup,
    approvalsGroup,
    unknownsGroup,
    denialsGroup,
    diagnosticsGroup,
    operationsGroup,
    verificationGroup,
    eventsGroup,
  )
  .prefix(apiPrefix)
  .annotateMerge(
    OpenApi.annotations({
      title: "Effect Agent",
      version: "1",
      description: "Runs, approvals, effects in doubt, denials and the event log of one tenant.",
    }),
  ) {}

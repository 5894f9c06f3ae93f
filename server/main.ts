/** The only file of the server that runs an Effect. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime";
import * as Effect from "effect/Effect";
import { launch } from "#server/launch/launch.ts";
import { placeholderApp } from "#server/launch/placeholder-app.ts";
import { endOnTime, reportRefusal, teardown } from "#server/launch/ending.ts";

endOnTime();
NodeRuntime.runMain(launch(placeholderApp).pipe(Effect.tapCause(reportRefusal)), {
  disableErrorReporting: true,
  teardown,
});

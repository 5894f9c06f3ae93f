/** The only file of the server that runs an Effect. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime";
import * as Effect from "effect/Effect";
import { layerApp } from "#server/App.ts";
import { launch } from "#server/launch/launch.ts";
import { endOnTime, reportRefusal, teardown } from "#server/launch/ending.ts";

endOnTime();
NodeRuntime.runMain(launch(layerApp).pipe(Effect.tapCause(reportRefusal)), {
  disableErrorReporting: true,
  teardown,
});

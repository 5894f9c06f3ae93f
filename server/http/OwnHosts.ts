import * as Context from "effect/Context";

/** Hosts (`name` or `name:port`) under which browsers reach the console besides the one they send: behind a proxy, that of PUBLIC_URL. */
export const OwnHosts = Context.Reference<ReadonlyArray<string>>("effect-agent/http/OwnHosts", {
  defaultValue: () => [],
});

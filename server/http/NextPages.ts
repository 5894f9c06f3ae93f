/** Starts Next in this process and gives its handler; the server never imports the console. */
import next from "next";
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import type { NextHandler } from "./NextHandler.ts";

/** The console cannot be served, most often because it has not been built. */
export class PagesUnavailable extends Schema.TaggedError<PagesUnavailable>()("PagesUnavailable", {
  message: Schema.String,
  cause: Schema.Defect(),
}) {}

export interface NextPagesOptions {
  /** The package's folder, where `app/` and the build are. */
  readonly folder: string;
  readonly development: boolean;
  readonly host: string;
  readonly port: number;
}

/** Development compiles pages as they are asked for; production needs `npm run build` first. */
export const nextPages = Effect.fn("NextPages.start")(function* (options: NextPagesOptions) {
  const app = next({
    dir: options.folder,
    dev: options.development,
    hostname: options.host,
    port: options.port,
    customServer: true,
    quiet: true,
  });
  yield* Effect.acquireRelease(
    Effect.tryPromise({
      try: () => app.prepare(),
      catch: (cause) =>
        new PagesUnavailable({
          message: `The console in ${options.folder} cannot be served. Build it with \`npm run build\` and start again.`,
          cause,
        }),
    }),
    () => Effect.ignore(Effect.tryPromise(() => app.close())),
  );
  const handle = app.getRequestHandler();
  const upgrade = app.getUpgradeHandler();
  const pages: NextHandler = {
    handle: (request, response) => void handle(request, response),
    ...(options.development
      ? { upgrade: (request, socket, head) => void upgrade(request, socket, head) }
      : {}),
  };
  return pages;
});

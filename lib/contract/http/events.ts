import * as Schema from "effect/Schema";
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/unstable/httpapi";
import { InvalidInput, TooManyStreams } from "../errors.ts";
import { RunId, Sequence } from "../ids.ts";
import { Authentication, DecodedInput } from "./authentication.ts";
import { runRefusals } from "./refusals.ts";

/** One frame as it stands on the wire; see `event-frames.ts` for what `data` holds. */
const WireFrame = Schema.Struct({
  id: Schema.optionalKey(Schema.String),
  event: Schema.optionalKey(Schema.Literals(["message", "heartbeat", "reset"])),
  data: Schema.String,
});

/** The tenant's events after a cursor, then live; resumed with `Last-Event-ID` (OP-01, C064). */
export const eventsGroup = HttpApiGroup.make("events")
  .add(
    HttpApiEndpoint.get("follow", "/events", {
      query: {
        /** Absent, and no `Last-Event-ID`: from now on. */
        after: Schema.optionalKey(Sequence),
        runId: Schema.optionalKey(RunId),
      },
      headers: { "last-event-id": Schema.optionalKey(Sequence) },
      success: HttpApiSchema.StreamSse({ events: WireFrame }),
      error: [...runRefusals, InvalidInput, TooManyStreams],
    }),
  )
  .middleware(DecodedInput)
  .middleware(Authentication);

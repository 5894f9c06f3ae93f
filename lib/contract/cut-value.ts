import * as Schema from "effect/Schema";
import { CutValue } from "./events.ts";

const looksCut = Schema.is(CutValue);

/**
 * Whether a value is what stands for a longer one. A model may write the same: of a value with anything more in it
 * all is shown, so that none of its arguments hides behind the beginning that it gives itself.
 */
export const isCutValue = (value: unknown): value is typeof CutValue.Type =>
  looksCut(value) && Object.keys(value).length === 3;

/** Private failure evidence, written with the records that name it (`Journal.append`) and read behind its own permission (DX-06). */
import * as Context from "effect/Context";
import type * as Effect from "effect/Effect";
import type * as Option from "effect/Option";
import type { DiagnosticId, RunId, TenantId } from "#lib/contract/ids.ts";
import type { DiagnosticView } from "#lib/contract/denial-views.ts";
import type { StoreError } from "./StoreError.ts";

/** Failures with one fingerprint. */
export interface DiagnosticGroup {
  readonly fingerprint: string;
  readonly title: string;
  readonly occurrences: number;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly lastDiagnosticId: DiagnosticId;
}

/** Titles are cut at 4,000 characters, tool names and call ids at 256; no answer has more than 200 rows. */
export class Diagnostics extends Context.Service<
  Diagnostics,
  {
    readonly find: (request: {
      readonly tenantId: TenantId;
      readonly diagnosticId: DiagnosticId;
    }) => Effect.Effect<Option.Option<DiagnosticView>, StoreError>;
    /** Every attempt's failures of one run, oldest first, at most 200. */
    readonly ofRun: (request: {
      readonly tenantId: TenantId;
      readonly runId: RunId;
    }) => Effect.Effect<ReadonlyArray<DiagnosticView>, StoreError>;
    /** The groups of the last `days` days (1 to 90), most recent first, at most 200. */
    readonly groups: (request: {
      readonly tenantId: TenantId;
      readonly days: number;
    }) => Effect.Effect<ReadonlyArray<DiagnosticGroup>, StoreError>;
  }
>()("effect-agent/durable/Diagnostics") {}

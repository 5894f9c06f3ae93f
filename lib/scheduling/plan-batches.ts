/**
 * Which calls of a batch may run beside each other. Pure.
 */

/** Part of a batch that is finished before the next part starts. */
export type BatchSegment<Call> =
  /** Calls that may overlap, at least one. */
  | { readonly _tag: "concurrent"; readonly calls: ReadonlyArray<IndexedCall<Call>> }
  /** One call that overlaps nothing. */
  | { readonly _tag: "barrier"; readonly calls: readonly [IndexedCall<Call>] };

/** A call with its place in the declared batch. */
export interface IndexedCall<Call> {
  readonly call: Call;
  /** 0 for the first declared call. */
  readonly index: number;
}

/**
 * Splits a batch at its barriers (`S-02`).
 *
 * The whole declared batch is planned and only then are recorded calls left out,
 * so a resumed batch keeps every boundary, even around a barrier that is already
 * done (`S-05`). A call on one side of a barrier never meets one on the other.
 *
 * @param calls the whole batch in declaration order
 * @param isBarrier whether a call must run alone
 * @param isRecorded whether a call already has its result; none by default
 * @returns segments in order, none of them empty
 */
export const planBatches = <Call>(
  calls: ReadonlyArray<Call>,
  isBarrier: (call: Call) => boolean,
  isRecorded: (call: Call, index: number) => boolean = () => false,
): ReadonlyArray<BatchSegment<Call>> => {
  const segments: Array<BatchSegment<Call>> = [];
  let open: Array<IndexedCall<Call>> = [];
  const close = () => {
    if (open.length > 0) segments.push({ _tag: "concurrent", calls: open });
    open = [];
  };
  calls.forEach((call, index) => {
    const barrier = isBarrier(call);
    if (barrier) close();
    if (isRecorded(call, index)) return;
    if (barrier) segments.push({ _tag: "barrier", calls: [{ call, index }] });
    else open.push({ call, index });
  });
  close();
  return segments;
};

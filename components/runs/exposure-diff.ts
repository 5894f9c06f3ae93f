/** What one request showed more and less than the one before it, in the order of the toolkit. */
export const exposureDiff = (
  before: ReadonlyArray<string>,
  after: ReadonlyArray<string>,
): { readonly added: ReadonlyArray<string>; readonly removed: ReadonlyArray<string> } => {
  const had = new Set(before);
  const has = new Set(after);
  return {
    added: after.filter((name) => !had.has(name)),
    removed: before.filter((name) => !has.has(name)),
  };
};

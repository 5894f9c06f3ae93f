/**
 * Whether a JSON number means the same after a double has held it. `0.1` does: its shortest text is
 * `0.1` again. `9007199254740993`, `1e400` and `1e-400` do not (R46).
 */

/** No double needs more text than this written out in full; a longer number is refused unread. */
const longestNumberText = 1_100;

/** @param text one number token of valid JSON */
export const isExactNumberText = (text: string): boolean => {
  // Fifteen digits always fit; this is nearly every number there is.
  if (/^-?\d{1,15}$/.test(text)) return true;
  if (text.length > longestNumberText) return false;
  const value = Number(text);
  if (!Number.isFinite(value)) return false;
  const written = decimalOf(text);
  const held = decimalOf(String(value));
  return (
    written.digits === held.digits && (written.digits === "" || written.exponent === held.exponent)
  );
};

/** A decimal as its significant digits and the power of ten of the last of them; zero has no digits. */
const decimalOf = (text: string): { readonly digits: string; readonly exponent: number } => {
  const parts = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text);
  if (parts === null) return { digits: "invalid", exponent: 0 };
  const fraction = parts[2] ?? "";
  const all = (parts[1] ?? "") + fraction;
  let start = 0;
  while (start < all.length && all.charCodeAt(start) === 0x30) start++;
  let end = all.length;
  while (end > start && all.charCodeAt(end - 1) === 0x30) end--;
  return {
    digits: all.slice(start, end),
    exponent: Number(parts[3] ?? 0) - fraction.length + (all.length - end),
  };
};

/**
 * UTF-8 sizes without encoding anything, so that a size can be refused before memory is spent on it.
 * A lone surrogate counts three bytes, as it does when it is written as U+FFFD.
 */

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/** The number of UTF-8 bytes of a text. */
export const utf8ByteLength = (text: string): number => {
  let bytes = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (isHighSurrogate(unit) && isLowSurrogate(text.charCodeAt(index + 1))) {
      bytes += 4;
      index++;
    } else bytes += 3;
  }
  return bytes;
};

/** The longest beginning of whole characters with at most so many UTF-8 bytes. */
export const utf8Beginning = (text: string, maxBytes: number): string => {
  let bytes = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    const isPair = isHighSurrogate(unit) && isLowSurrogate(text.charCodeAt(index + 1));
    bytes += isPair ? 4 : unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;
    if (bytes > maxBytes) return text.slice(0, index);
    if (isPair) index++;
  }
  return text;
};

/**
 * The number of UTF-8 bytes of a text written as a JSON string: the two quotes and every escape
 * included, exactly as `JSON.stringify` writes it.
 */
export const jsonStringByteLength = (text: string): number => {
  let bytes = 2;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit === 0x22 || unit === 0x5c) bytes += 2;
    else if (unit < 0x20) bytes += isShortEscape(unit) ? 2 : 6;
    else if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (unit < 0xd800 || unit > 0xdfff) bytes += 3;
    else if (isHighSurrogate(unit) && isLowSurrogate(text.charCodeAt(index + 1))) {
      bytes += 4;
      index++;
    } else bytes += 6;
  }
  return bytes;
};

/** `\b \t \n \f \r` have a two-character escape; every other control character takes six. */
const isShortEscape = (unit: number): boolean => unit >= 0x08 && unit <= 0x0d && unit !== 0x0b;

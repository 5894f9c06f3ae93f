/** Names every provider accepts as a JSON Schema property. */
const plainName = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;

/**
 * Property names for a structured answer: the given names themselves when all are plain, else the prefix
 * with a number. Labels are prose as often as not, and a property cannot be.
 *
 * @param names distinct names of an author
 * @param prefix of the numbered names, for example `option`
 */
export const wireNames = (names: ReadonlyArray<string>, prefix: string): ReadonlyArray<string> =>
  names.every((name) => plainName.test(name))
    ? names
    : names.map((_name, index) => `${prefix}${index + 1}`);

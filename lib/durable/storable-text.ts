/** What text becomes before a store keeps it beside the records, where people read it and lists filter by it. */

/** Names that lists filter by are cut here, so that an index entry always fits. */
const maxNameLength = 256;

/**
 * Text for a column that people read and lists filter by. Stores such as
 * PostgreSQL have no NUL in their text and want valid UTF-8, so those become
 * visible stand-ins; the exact text is in the record.
 *
 * @param maxLength in UTF-16 units, default 4,000; a cut text ends in an ellipsis
 */
export const columnText = (text: string, maxLength = 4_000): string => {
  const clean = text.replaceAll("\u0000", "\u2400").toWellFormed();
  return clean.length <= maxLength
    ? clean
    : `${clean.slice(0, maxLength - 1).toWellFormed()}\u2026`;
};

export const columnName = (name: string): string => columnText(name, maxNameLength);

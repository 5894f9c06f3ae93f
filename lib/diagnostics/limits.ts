/** Bounds of one captured diagnostic (`DX-04`); bytes are UTF-8. */
export const diagnosticLimits = {
  /** Failure values and causes, omissions included. */
  maxNodes: 1_024,
  /** Nesting of objects and arrays in the encoded diagnostic. */
  maxLevels: 56,
  /** All text of one diagnostic together. */
  maxTextBytes: 131_072,
  /** One message, stack or text. */
  maxStringBytes: 16_384,
  /** One class name, tag or code. */
  maxNameBytes: 1_024,
  /** Reasons of one cause, and errors of one aggregate. */
  maxListLength: 128,
  maxOmittedFieldNames: 32,
  /** One identity of the context. */
  maxContextBytes: 256,
} as const;

/** Makes a value of plain parts unchangeable, for code of others that is only to read it. */
export const deepFreeze = <A>(value: A): A => {
  // A view of bytes cannot be frozen; the bytes of a file part are the one thing here that is none of these.
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
  Object.freeze(value);
  for (const part of Object.values(value)) if (!Object.isFrozen(part)) deepFreeze(part);
  return value;
};

/**
 * The address to print for a person: a listener on every address is reached by a
 * name of this machine (browsers refuse 0.0.0.0), and an IPv6 address needs brackets.
 */
export const originOf = (host: string, port: number): string => {
  if (host === "0.0.0.0" || host === "::") return `http://localhost:${port}`;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
};

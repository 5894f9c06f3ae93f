/** Placeholder until the shared server exists: see tests/support/postgres.ts. */
export default function setup(): void {}

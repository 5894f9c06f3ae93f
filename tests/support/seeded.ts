/** Settings of a property: a fresh seed for each process, printed, so that a failure can be repeated. */

const given = process.env["FC_SEED"];
const seed = given === undefined ? Date.now() % 1_000_000_000 : Number(given);

/**
 * @param claim what is printed beside the seed
 * @param numRuns how many random cases
 */
export const seeded = (
  claim: string,
  numRuns: number,
): { readonly seed: number; readonly numRuns: number } => {
  console.info(`${claim}: ${numRuns} random cases, FC_SEED=${seed}`);
  return { seed, numRuns };
};

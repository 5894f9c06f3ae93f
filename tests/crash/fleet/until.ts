/** Waits for a fact of another process; the failure says which one did not come. */
export const until = async (
  what: string,
  patienceMillis: number,
  isSo: () => boolean | Promise<boolean>,
): Promise<void> => {
  const deadline = performance.now() + patienceMillis;
  while (!(await isSo())) {
    if (performance.now() > deadline)
      throw new Error(`Not so within ${patienceMillis} ms: ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
};

import { type HeapProfiler, Session } from "node:inspector/promises";

const sizeOf = (node: HeapProfiler.SamplingHeapProfileNode): number =>
  node.children.reduce((sum, child) => sum + sizeOf(child), node.selfSize);

/** Bytes that one run allocates, collected ones included: the mean of `runs`, from samples every 4 KiB. */
export const bytesPerRun = async (run: () => Promise<void>, runs: number): Promise<number> => {
  const session = new Session();
  session.connect();
  await session.post("HeapProfiler.startSampling", {
    samplingInterval: 4_096,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  });
  for (let index = 0; index < runs; index++) await run();
  const { profile } = await session.post("HeapProfiler.stopSampling");
  session.disconnect();
  return sizeOf(profile.head) / runs;
};

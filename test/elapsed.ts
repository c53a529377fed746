/** Times that hold on a busy machine too: those of the processor, and the middle one of several. */

/** Processor time in ms of work that waits for nothing. */
export function processorMs(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** The median wall-clock time in ms of five waits, one after the other. */
export async function medianMs(wait: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let turn = 0; turn < 5; turn += 1) {
    const began = performance.now();
    await wait();
    times.push(performance.now() - began);
  }
  return times.toSorted((a, b) => a - b)[2] ?? Number.NaN;
}

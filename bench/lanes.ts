/** Runs `count` times with `width` at once: the time of each, and of all. */
export interface Together {
  times: number[];
  wallMs: number;
}

export async function inParallel(count: number, width: number, run: () => Promise<unknown>): Promise<Together> {
  const times: number[] = [];
  let left = count;
  const startedAt = performance.now();
  const lane = async (): Promise<void> => {
    for (; left > 0;) {
      left -= 1;
      const began = performance.now();
      await run();
      times.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
  return { times, wallMs: performance.now() - startedAt };
}

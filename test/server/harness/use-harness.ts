/** Services that all tests of a file share. */
import { rmSync } from 'node:fs';
import { afterAll, beforeAll } from 'vitest';
import { Harness } from './harness.ts';

/** Open from the first test on, when `prepare` has ended; `folders` go with them. */
export function useHarness(prepare: (harness: Harness) => Promise<void>, folders: readonly string[]): () => Harness {
  let opened: Harness | undefined;
  beforeAll(async () => {
    opened = await Harness.open();
    await prepare(opened);
  });
  afterAll(async () => {
    await opened?.close();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });
  return () => {
    if (opened === undefined) throw new Error('the services are not open yet');
    return opened;
  };
}

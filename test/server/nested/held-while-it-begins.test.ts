/**
 * Nested runs that begin while the run around them is held and resumed, as fast as signals can be sent. That
 * keeps the server and the worker busy, so most of the passes belong to the soak.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, test } from 'vitest';
import { isSoak } from '../../random-runs.ts';
import { SIGNALS } from '../../../workflows/messages/messages.ts';
import { counted, once, shell } from '../harness/definitions.ts';
import { Harness, until } from '../harness/harness.ts';

const passes = isSoak ? 20 : 5;

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker();
});
afterAll(() => harness.close());

const hasEnded = async (handle: string): Promise<boolean> =>
  typeof (await harness.store.runs.find(handle))?.finishedAt === 'number';

test.concurrent.each([true, false])(
  'a nested run that begins while its parent is held and resumed goes on as its parent does (awaited: %s)',
  async (awaited) => {
    const child = once('child', [shell('true')]);
    const handle = await harness.start(
      counted('parent', passes, [{ type: 'sentinel', definition: child, await: awaited }]),
    );
    // Signals are delivered as they come; a child that missed one of them would be held for good.
    while (!(await hasEnded(handle))) {
      for (const verb of ['pause', 'resume'] as const)
        await harness
          .workflow(handle)
          .signal(SIGNALS.control, verb)
          .catch(() => undefined);
      await sleep(5);
    }
    for (let pass = 1; pass <= passes; pass += 1) {
      await until(() => hasEnded(`${handle}/steps.0@${pass}`), 20_000);
    }
  },
);

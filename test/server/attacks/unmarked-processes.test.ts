/**
 * A whole run whose steps start processes that lose their parents, leave their session and take off their marks: they
 * count for the bound on memory, and end with their step. Beside it stands what may do the same and stays within it.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Definition } from '../../../language/model.ts';
import { processStart } from '../../../world/processes/processes.ts';
import { once, shell } from '../harness/definitions.ts';
import { Harness } from '../harness/harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker();
});
afterAll(() => harness.close());

/** Without a parent, in a session of its own, for a while. */
const holds = (megabytes: number): string =>
  `(setsid python3 -c "import time; x=bytearray(${megabytes}<<20); time.sleep(2); print('HELD ${megabytes} MB')" > out &) ; sleep 4; cat out`;
/** Moreover without variables, and without the bound that marks it. */
const sleeper =
  "(setsid env -i sh -c 'ulimit -S -w unlimited; echo $$ > pid; exec sleep 600' >/dev/null 2>&1 &) ; while [ ! -s pid ]; do sleep 0.02; done; cat pid";

const both = (name: string, megabytes: number): Definition =>
  once(
    name,
    [shell(holds(megabytes), { onError: 'skip', outputTo: 'held' }), shell(sleeper, { outputTo: 'sleeper' })],
    {
      safety: { maxMemoryMb: 100 },
      outputs: { held: '{{held.stdout}}', pid: '{{sleeper.stdout}}' },
    },
  );

test('what holds too much without a parent ends its step, and nobody outlives the next', async () => {
  const { result, events } = await harness.run(both('unmarked', 300));
  expect(result.outcome).toBe('completed');
  const failures = events.flatMap((event) =>
    event.type === 'step-finished' && event.failure !== undefined ? [event.failure.code] : [],
  );
  expect(failures).toEqual(['MEMORY_LIMIT']);
  const { held, pid } = result.outputs;
  expect(held).toBeNull();
  expect(Number(pid)).toBeGreaterThan(1);
  expect(await processStart(Number(pid))).toBeNull();
});

test('the same below the bound runs to its end, and is waited for', async () => {
  const { result } = await harness.run(both('within-bound', 40));
  expect(result).toMatchObject({ outcome: 'completed', outputs: { held: 'HELD 40 MB\n' } });
});

/** Runs that were held at a limit and went on, made into tests that pass as they are. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Definition } from '../../../language/model.ts';
import type { JsonObject } from '../../../language/json.ts';
import { counted, once, shell } from '../harness/definitions.ts';
import { Harness, until } from '../harness/harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker();
});
afterAll(() => harness.close());

type Way = JsonObject | 'resume' | 'stop' | 'cancel';

const pause = { onTimeout: 'pause' } as const;
const steps = { safety: { ...pause, budget: { steps: 1 } } };
const time = { timeoutMs: 1000, safety: pause };
const nap = shell('sleep 0.6');
const [a, b, c] = [shell('echo a'), shell('echo b'), shell('echo c')];

/** Each time that the run is held, it is extended by so much, or goes on otherwise. */
const held: [string, Definition, Way[]][] = [
  ['steps', once('steps', [a, b, c], steps), [{ steps: 1 }, { steps: 5 }]],
  ['resumed', once('resumed', [a, b, c], steps), [{ steps: 1 }, 'resume']],
  ['stopped', once('stopped', [a, b, c], steps), [{ steps: 1 }, 'stop']],
  ['cancelled', once('cancelled', [a, b], steps), ['cancel']],
  ['passes', counted('passes', 3, [a], { safety: { ...pause, maxIterations: 1 } }), [{ maxIterations: 5 }]],
  [
    'quick',
    once(
      'quick',
      [
        {
          type: 'parallel',
          branches: [
            [a, b],
            [{ type: 'emit', event: 'x' }, c],
          ],
        },
      ],
      { safety: { ...pause, budget: { steps: 2 } } },
    ),
    [{ steps: 5 }],
  ],
  [
    'twice',
    once('twice', [shell('sleep 3', { outputTo: 'slept' }), a], time),
    [{ timeoutMs: 500 }, { timeoutMs: 20_000 }],
  ],
  ['wall', once('wall', [nap, nap, nap, a], { safety: { ...pause, budget: { wallMs: 1000 } } }), [{ wallMs: 20_000 }]],
  [
    'nested',
    once('nested', [{ type: 'sentinel', definition: once('child', [shell('sleep 4'), b]) }, a], time),
    [{ timeoutMs: 20_000 }],
  ],
  [
    'branches',
    once(
      'branches',
      [
        {
          type: 'parallel',
          branches: [
            [nap, nap, nap],
            [shell('sleep 0.3'), shell('sleep 1'), b],
          ],
        },
      ],
      time,
    ),
    [{ timeoutMs: 20_000 }],
  ],
];

async function goOn(handle: string, ways: readonly Way[]): Promise<void> {
  for (const [index, way] of ways.entries()) {
    await until(async () => (await harness.events(handle)).filter(({ type }) => type === 'asked').length > index);
    const said = typeof way === 'string' ? [way, handle] : ['answer', handle, 'extend', '--data', JSON.stringify(way)];
    expect(await harness.command(...said)).toMatchObject({ code: 0 });
  }
}

test.each(held)('%s', async (handle, definition, ways) => {
  await harness.start(definition, { handle });
  await goOn(handle, ways);
  await harness.result(handle);
  const file = `${handle}.sentinel-test.json`;
  expect(await harness.command('test', '--record', handle, '--out', file)).toMatchObject({ code: 0, err: '' });
  const recorded = readFileSync(join(harness.project, file), 'utf8');
  expect({ recorded, ...(await harness.command('test', file)) }).toMatchObject({
    recorded: expect.not.stringContaining('"notes"') as string,
    code: 0,
  });
});

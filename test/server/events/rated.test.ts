/** Runs that triggers start a minute: what is over the rate of its trigger waits, is told why, and is not lost. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { create, once } from '../harness/definitions.ts';
import { Harness, until } from '../harness/harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
  writeFileSync(
    join(harness.project, 'sentinel.config.ts'),
    'export default { limits: { triggers: { perMinute: 3 } } };\n',
  );
  await harness.startWorker({ SENTINEL_PROJECT: harness.project });
});
afterAll(() => harness.close());

async function register(name: string): Promise<void> {
  const file = join(harness.project, `${name}.json`);
  const trigger = { type: 'event', event: 'burst' } as const;
  writeFileSync(file, JSON.stringify(once(name, [create(name, { n: '$event.data.n' })], { trigger })));
  expect(await harness.command('trigger', 'add', file)).toMatchObject({ code: 0 });
}

async function starts(name: string): Promise<{ state: string; reason: string | null }[]> {
  const trigger = (await harness.store.triggers.list()).find((each) => each.name === name);
  return harness.store.triggers.starts(trigger?.id ?? '', 100);
}

test('a burst of events starts as many runs as the rate allows, of each trigger, and the others wait', async () => {
  await register('rated');
  await register('rated-too');
  const emits = Array.from({ length: 5 }, (_, n) => ({ type: 'emit' as const, event: 'burst', data: { n } }));
  await harness.run(once('bursts', emits));
  for (const name of ['rated', 'rated-too']) {
    const states = async () => (await starts(name)).map(({ state }) => state).toSorted();
    await until(async () => (await states()).filter((state) => state === 'started').length === 3);
    await until(async () => (await starts(name)).filter(({ reason }) => reason !== null).length === 2);
    expect(await states()).toEqual(['started', 'started', 'started', 'waiting', 'waiting']);
    expect((await harness.command('trigger', 'show', name)).out).toContain('starts 3 runs a minute at most');
  }
});

test('they start when their places come', async () => {
  await until(async () => (await starts('rated')).every(({ state }) => state === 'started'), 90_000);
  await until(async () => (await harness.rows('rated')).length === 5);
}, 120_000);

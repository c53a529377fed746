/** Runs that events start have the rules that their trigger was registered with, and those of their project. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Policy } from '../../../language/policy/policy.ts';
import { once, shell } from '../harness/definitions.ts';
import { Harness, until } from '../harness/harness.ts';

const rule = (name: string, match: Policy[number]['match']): Policy => [
  { name, match, verdict: 'refuse', reason: 'not by itself' },
];

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
  const defaults = { policy: rule('no-records', { commands: ['data/create'] }) };
  writeFileSync(join(harness.project, 'sentinel.config.ts'), `export default ${JSON.stringify({ defaults })};`);
  await harness.startWorker({ SENTINEL_PROJECT: harness.project });
});
afterAll(() => harness.close());

function file(name: string, content: unknown): string {
  const path = join(harness.project, name);
  writeFileSync(path, JSON.stringify(content));
  return path;
}

async function refusalsOf(handle: string): Promise<{ [key: string]: unknown }> {
  await harness.result(handle);
  return Object.fromEntries(
    (await harness.events(handle)).flatMap((event) =>
      event.type === 'step-finished' && event.failure !== undefined ? [[event.key, event.failure.details]] : [],
    ),
  );
}

test('a trigger with rules of its own', async () => {
  const steps = [
    { ...shell('touch of-trigger.txt'), onError: 'skip' as const },
    {
      type: 'command' as const,
      command: 'data/create',
      params: { collection: 'policed', data: {} },
      onError: 'skip' as const,
    },
  ];
  const definition = file('policed.json', { ...once('policed', steps), trigger: { type: 'event', event: 'policed' } });
  const policy = rule('no-shell', { kinds: ['shell'] });
  const add = async (...options: string[]): Promise<string> => {
    const { code, err } = await harness.command('trigger', 'add', definition, ...options);
    expect({ code, err }).toMatchObject({ code: 0 });
    const [trigger] = await harness.store.triggers.list();
    return trigger?.id ?? '';
  };
  const startedBy = async (id: string, trigger: string): Promise<string> => {
    await harness.store.triggers.publish({ source: '@emit', id, name: 'policed', data: {}, project: null });
    const isStarted = async (): Promise<boolean> =>
      (await harness.store.triggers.starts(trigger, 1)).some(
        (start) => start.event.id.endsWith(id) && start.state === 'started',
      );
    await until(isStarted);
    const [start] = await harness.store.triggers.starts(trigger, 1);
    return start?.handle ?? '';
  };
  const trigger = await add('--policy', file('policy.json', policy));
  expect((await harness.store.triggers.list())[0]?.policies).toEqual([policy]);
  expect(await refusalsOf(await startedBy('one', trigger))).toMatchObject({
    'steps.0@1': { rule: 'no-shell' },
    'steps.1@1': { rule: 'no-records' },
  });
  expect(existsSync(join(harness.project, 'of-trigger.txt'))).toBe(false);
  // Registered again, it has the rules that it is registered with.
  expect(await add()).toBe(trigger);
  expect(await refusalsOf(await startedBy('two', trigger))).toEqual({
    'steps.1@1': expect.objectContaining({ rule: 'no-records' }) as unknown,
  });
  const wrong = await harness.command('trigger', 'add', definition, '--policy', file('wrong.json', [{ name: 'x' }]));
  expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining('--policy') as unknown });
});

/** The first example of docs/memory.md, on real services, and what becomes a memory by itself. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Definition } from '../../../language/model.ts';
import { once } from '../harness/definitions.ts';
import { Harness } from '../harness/harness.ts';
import { expectFirstExample } from './page-shell.ts';

const fails = once('breaks', [{ type: 'shell', command: 'exit 3', failOn: 'nonzero' }]);

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
});
afterAll(() => harness.close());

test('docs/memory.md: a question finds the definition that has served, and runs it', async () => {
  const worker = await harness.startWorker({ SENTINEL_PROJECT: harness.project });
  await expectFirstExample('docs/memory.md', harness);
  await worker.kill9();
});

const asksNobody: Pick<Definition, 'escalateOn'> = { escalateOn: [{ condition: 'error', action: 'notify' }] };
/** Of each kind of memory that is made by itself, what ends with one, and how many memories of each type come of it. */
const kinds: { [name: string]: { definition: Definition; makes: { [type: string]: number } } } = {
  failure: { definition: fails, makes: { failure: 1 } },
  limit: {
    definition: {
      name: 'passes',
      steps: [{ type: 'shell', command: 'true' }],
      loop: { type: 'until', check: 'false' },
      safety: { maxIterations: 2 },
    },
    makes: { limit: 1 },
  },
  escalation: { definition: { ...fails, ...asksNobody, name: 'tells' }, makes: { failure: 1, escalation: 1 } },
  sentinel: { definition: once('serves', [{ type: 'shell', command: 'true' }]), makes: { sentinel: 1 } },
};

interface Kept {
  type: string;
  content: { handle?: string; executions?: number };
}

test('each kind of memory is made once, though workers die while they make it', async () => {
  const persona = 'forgetful';
  const listed = async (): Promise<Kept[]> => {
    const { out } = await harness.command('memory', 'list', '--persona-id', persona, '--json');
    return (JSON.parse(out) as { result: Kept[] }).result;
  };
  const expected: { [type: string]: number } = {};
  for (const [nth, [kind, { definition, makes }]] of Object.entries(kinds).entries()) {
    const worker = await harness.startWorker({ SENTINEL_PROJECT: harness.project });
    const handle = await harness.start(definition, { handle: `${kind}-${harness.taskQueue}`, persona });
    await harness.result(handle);
    // What follows the end of a run begins some moments later.
    await sleep(nth * 150);
    await worker.kill9();
    for (const [type, count] of Object.entries(makes)) expected[type] = (expected[type] ?? 0) + count;
  }
  await harness.startWorker({ SENTINEL_PROJECT: harness.project });
  const counted = async (): Promise<{ [type: string]: number }> => {
    const counts: { [type: string]: number } = {};
    for (const { type } of await listed()) counts[type] = (counts[type] ?? 0) + 1;
    return counts;
  };
  await expect.poll(counted, { timeout: 60_000 }).toEqual(expected);
  const served = (await listed()).find(({ type }) => type === 'sentinel');
  expect(served?.content.executions).toBe(1);
});

/** The first example of docs/memory.md, on real services, and what becomes a memory by itself. */
import { afterAll, beforeAll, expect, test } from 'vitest';
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

test('a failure becomes a memory once, though workers die', async () => {
  const persona = 'forgetful';
  const listed = async (): Promise<{ content: { handle: string } }[]> => {
    const { out } = await harness.command('memory', 'list', '--persona-id', persona, '--type', 'failure', '--json');
    return (JSON.parse(out) as { result: { content: { handle: string } }[] }).result;
  };
  const handles: string[] = [];
  for (let count = 0; count < 4; count += 1) {
    const worker = await harness.startWorker({ SENTINEL_PROJECT: harness.project });
    const handle = await harness.start(fails, { handle: `breaks-${count}-${harness.taskQueue}`, persona });
    handles.push(handle);
    await harness.result(handle);
    await worker.kill9();
  }
  await harness.startWorker({ SENTINEL_PROJECT: harness.project });
  await expect.poll(async () => (await listed()).length, { timeout: 60_000 }).toBe(handles.length);
  expect((await listed()).map(({ content }) => content.handle).toSorted()).toEqual(handles.toSorted());
});

/** The first example of docs/memory.md, on real services, and what becomes a memory by itself. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { once, shell } from '../harness/definitions.ts';
import { Harness } from '../harness/harness.ts';
import { expectFirstExample } from './page-shell.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker({ SENTINEL_PROJECT: harness.project });
});
afterAll(() => harness.close());

test('docs/memory.md: a question finds the definition that has served, and runs it', () =>
  expectFirstExample('docs/memory.md', harness), 180_000);

test('a failure becomes a memory once, though workers die', async () => {
  const persona = 'forgetful';
  const fails = (name: string) => once(name, [shell('exit 3', { failOn: 'nonzero' } as object)]);
  const listed = async (): Promise<{ content: { handle: string } }[]> => {
    const { out } = await harness.command('memory', 'list', '--persona-id', persona, '--type', 'failure', '--json');
    return (JSON.parse(out) as { result: { content: { handle: string } }[] }).result;
  };
  const handles: string[] = [];
  for (let count = 0; count < 4; count += 1) {
    const worker = await harness.startWorker({ SENTINEL_PROJECT: harness.project });
    const handle = await harness.start(fails('breaks'), { handle: `breaks-${count}-${harness.taskQueue}`, persona });
    handles.push(handle);
    await harness.result(handle);
    await worker.kill9();
  }
  await expect.poll(async () => (await listed()).length, { timeout: 60_000 }).toBe(handles.length);
  expect((await listed()).map(({ content }) => content.handle).toSorted()).toEqual(handles.toSorted());
});

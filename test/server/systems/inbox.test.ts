/** The first examples of docs/inbox.md, on real services: an item is posted, seen, taken and closed. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Definition } from '../../../language/model.ts';
import { read } from '../../project/tree.ts';
import { Harness } from '../harness/harness.ts';
import { expectFirstExample } from './page-shell.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker({ SENTINEL_PROJECT: harness.project });
});
afterAll(() => harness.close());

test('docs/inbox.md: what a person posts is taken and closed by a run', async () => {
  await expectFirstExample('docs/inbox.md', harness);
  const [, example = ''] = /^```json\n([^]*?)^```/m.exec(read('docs/inbox.md')) ?? [];
  await harness.start(JSON.parse(example) as Definition, { handle: `serve-${harness.taskQueue}`, persona: 'ada' });
  const listed = async (...options: string[]): Promise<unknown> =>
    JSON.parse((await harness.command('inbox', '--persona', 'ada', '--json', ...options)).out) as unknown;
  await expect.poll(() => listed(), { timeout: 60_000 }).toEqual([]);
  expect(await listed('--all')).toMatchObject([{ state: 'done', answer: { note: 'sorted', by: 'ada' } }]);
});

/** The first examples of docs/inbox.md, on real services: an item is posted, seen, taken and closed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Definition } from '../../../language/model.ts';
import { read } from '../../project/tree.ts';
import { once } from '../harness/definitions.ts';
import { Harness } from '../harness/harness.ts';
import { shippedExample } from '../harness/models/broken-project.ts';
import { expectFirstExample } from './page-shell.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker({ SENTINEL_PROJECT: harness.project });
});
afterAll(() => harness.close());

const asked = async (...args: string[]): Promise<unknown> => {
  const said = await harness.command(...args, '--json');
  expect(said, `${args.join(' ')}: ${said.err}${said.out}`).toMatchObject({ code: 0 });
  return (JSON.parse(said.out) as { result: unknown }).result;
};

test('what somebody posts is done by the definition that has served for the like before', async () => {
  const persona = 'servant';
  const mend = {
    ...once('mend-build', [{ type: 'shell', command: 'echo mended >> mended.txt' }]),
    description: 'Mends the build when it broke.',
  };
  await harness.run(mend, { handle: `mends-${harness.taskQueue}`, persona });
  const served = (): Promise<unknown> => asked('memory', 'list', '--persona-id', persona, '--type', 'sentinel');
  await expect.poll(served, { timeout: 60_000 }).toMatchObject([{ content: { name: 'mend-build' } }]);
  await asked(
    'command',
    'inbox/post',
    `--personaId=${persona}`,
    '--message=Mend the build, please.',
    '--domain=builds',
  );
  const serve = shippedExample('serve-inbox');
  await expect(harness.run(serve, { handle: `serves-${harness.taskQueue}`, persona })).resolves.toMatchObject({
    result: { outcome: 'completed' },
  });
  expect(readFileSync(join(harness.project, 'mended.txt'), 'utf8')).toBe('mended\nmended\n');
  const { out } = await harness.command('inbox', '--persona', persona, '--all', '--json');
  expect(JSON.parse(out)).toMatchObject([{ state: 'done', answer: { note: 'done by mend-build', by: persona } }]);
});

test('docs/inbox.md: what a person posts is taken and closed by a run', async () => {
  await expectFirstExample('docs/inbox.md', harness);
  const [, example = ''] = /^```json\n([^]*?)^```/m.exec(read('docs/inbox.md')) ?? [];
  await harness.start(JSON.parse(example) as Definition, { handle: `serve-${harness.taskQueue}`, persona: 'ada' });
  const listed = async (...options: string[]): Promise<unknown> =>
    JSON.parse((await harness.command('inbox', '--persona', 'ada', '--json', ...options)).out) as unknown;
  await expect.poll(() => listed(), { timeout: 60_000 }).toEqual([]);
  expect(await listed('--all')).toMatchObject([{ state: 'done', answer: { note: 'sorted', by: 'ada' } }]);
});

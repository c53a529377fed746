/** What a program hands to the client is read as a file is: what it means there it means here, and what a file may not say is refused. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SentinelClient } from '../../../client/client.ts';
import type { Definition } from '../../../language/model.ts';
import { Harness } from '../harness/harness.ts';

let harness: Harness;
let client: SentinelClient;
beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker();
  client = new SentinelClient({ env: harness.env, startsServices: false });
});
afterAll(async () => {
  await client.close();
  await harness.close();
});

/** As a program in JavaScript hands it over. */
const start = (written: unknown, known?: (name: string) => unknown) =>
  client.start(written as Definition, {
    project: harness.project,
    ...(known === undefined ? {} : { known: known as (name: string) => Definition | undefined }),
  });
const once = (step: object): object => ({ name: 'program', steps: [step], loop: { type: 'once' } });

test('a condition on a step, another spelling and a default mean what they mean in a file', async () => {
  const { handle } = await start({
    name: 'spelled',
    description: undefined,
    steps: [
      { type: 'shell', command: 'touch acted', if: '1 == 2' },
      { type: 'shell', cmd: 'touch spelled' },
      { type: 'sleep', ms: 10 },
    ],
  });
  expect(await client.result(handle)).toMatchObject({ outcome: 'completed' });
  expect(['acted', 'spelled'].filter((name) => existsSync(join(harness.project, name)))).toEqual(['spelled']);
});

test.each([
  ['a type that there is not', once({ type: 'shel', command: 'true' }), 'steps.0'],
  ['no steps', { steps: [] }, 'steps'],
  ['a shell without a command', once({ type: 'shell' }), 'command'],
  [
    'a condition that cannot be read',
    once({ type: 'condition', check: '1 ==', then: [{ type: 'shell', command: 'true' }] }),
    'check',
  ],
  ['an unknown command', once({ type: 'command', command: 'no/such' }), 'no/such'],
  ['no object', 7, 'object'],
  ['nothing', undefined, 'undefined'],
  ['a name that leads nowhere', once({ type: 'sentinel', definition: { $ref: 'nowhere' } }), 'nowhere'],
])('%s is refused with its place, and nothing is started', async (_what, written, place) => {
  const before = (await harness.store.runs.list({})).length;
  const refused = start(written);
  await expect(refused).rejects.toMatchObject({ code: 'DEFINITION_INVALID' });
  await expect(refused).rejects.toThrow(place);
  expect((await harness.store.runs.list({})).length).toBe(before);
});

test('what a name leads to is read as well', async () => {
  const outer = once({ type: 'sentinel', definition: { $ref: 'inner' } });
  const { handle } = await start(outer, (name) =>
    name === 'inner' ? once({ type: 'shell', command: 'touch inner', if: 'false' }) : undefined,
  );
  expect(await client.result(handle)).toMatchObject({ outcome: 'completed' });
  expect(existsSync(join(harness.project, 'inner'))).toBe(false);
  await expect(start(outer, () => once({ type: 'shel' }))).rejects.toMatchObject({ code: 'DEFINITION_INVALID' });
});

test('a program performs commands, at once or as a run, and hears events', async () => {
  const { project } = harness;
  const over = new AbortController();
  const events = await client.on('chat:*:message', { signal: over.signal });
  const send = { room: 'programs', message: 'from a program' };
  const options = { project, by: 'grace', id: 'program-1' };
  const said = await client.execute('collaboration/chat/send', send, options);
  expect(said).toMatchObject({ room: 'programs', author: 'grace', event: 'chat:programs:message' });
  expect(await client.execute('collaboration/chat/send', send, options)).toEqual(said);
  await client.execute('collaboration/chat/send', { ...send, message: 'again' }, { project });
  const heard: unknown[] = [];
  for await (const { name, data } of events) {
    heard.push([name, (data as { message: string }).message]);
    if (heard.length === 2) over.abort();
  }
  expect(heard).toEqual([
    ['chat:programs:message', 'from a program'],
    ['chat:programs:message', 'again'],
  ]);
  const shell = { command: 'printf "%s" "$WORD"', env: { WORD: 'costs $5' } };
  const ran = await client.execute<{ stdout: string }>('code/shell/execute', shell, { project, id: 'program-2' });
  expect(ran.stdout).toBe('costs $5');
  expect(await client.status('program-2')).toMatchObject({ outcome: 'completed' });
});

test('what a program cannot perform is refused with its place, or fails with its code', async () => {
  const { project } = harness;
  const refused = (command: string, params = {}) => expect(client.execute(command, params, { project })).rejects;
  await refused('data/lst').toMatchObject({ code: 'USAGE', message: expect.stringContaining('data/list') as string });
  await refused('genome/train-voice').toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining('not built') as string,
  });
  await refused('data/list', { collection: 'a', filter: { a: { $gtt: 1 } } }).toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining('"filter.a"') as string,
  });
  const gone = { collection: 'a', id: 'none', data: {}, recordVersion: 1 };
  await refused('data/update', gone).toMatchObject({ code: 'COMMAND_FAILED', details: { failure: 'RECORD_CHANGED' } });
  const edit = { path: 'none.txt', old: 'a', new: 'b' };
  await refused('code/edit', edit).toMatchObject({
    code: 'COMMAND_FAILED',
    message: expect.stringContaining('sentinel trace') as string,
    details: { failure: 'FILE_NOT_FOUND' },
  });
  await expect(client.execute('code/tree', {}, { project: 'relative' })).rejects.toMatchObject({ code: 'USAGE' });
});

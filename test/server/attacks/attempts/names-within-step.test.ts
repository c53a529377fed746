/**
 * A process of a step has the command line: it stores and starts definitions, and none of it moves or deletes what a
 * person saved under a name. Beside each attempt stands what it may do, and that a person still does all of it.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Definition } from '../../../../language/model.ts';
import type { StoredDefinition } from '../../../../prisma/store/contract/contract.ts';
import { once, shell } from '../../harness/definitions.ts';
import { CLI, Harness, until } from '../../harness/harness.ts';

let harness: Harness;
let saved: StoredDefinition;
const release = once('release', [{ type: 'approval', message: 'Really?' }]);
const passes = (name: string): Definition => once(name, [{ type: 'set', values: { approved: true } }]);

beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker({ SENTINEL_PROJECT: harness.project });
  saved = await harness.store.definitions.publish(release);
  write('same.json', release);
  write('own.json', passes('release'));
  write('free.json', passes('free'));
});
afterAll(() => harness.close());

const write = (file: string, definition: Definition): void =>
  writeFileSync(join(harness.project, file), JSON.stringify(definition));

/** What the verb prints, said by a process that has taken off what it is known by. */
async function said(...words: string[]): Promise<{ code: number; out: string }> {
  const env = Object.entries({ ...harness.env, HOME: harness.project }).map(([name, value]) => `${name}='${value}'`);
  const line = `exec setsid -w env -i PATH="$PATH" ${env.join(' ')} '${process.execPath}' '${CLI}' ${words.join(' ')} --json`;
  const { result } = await harness.run(
    once('says', [shell(line, { outputTo: 'said' })], {
      outputs: { code: '{{said.exitCode}}', out: '{{said.stdout}}' },
    }),
  );
  const { code, out } = result.outputs;
  return { code: Number(code), out: typeof out === 'string' ? out : '' };
}

test.each([
  ['saving over it', ['save', 'own.json']],
  ['saving over it by another file', ['save', 'free.json', '--name', 'release']],
  ['deleting it', ['saved', 'delete', 'release']],
])('refused: %s', async (_what, words) => {
  expect(await said(...words)).toEqual({ code: 1, out: expect.stringContaining('ANSWER_REFUSED') as string });
  expect(await harness.store.definitions.find('release')).toEqual(saved);
});

test.each([
  ['running a file', ['run', 'own.json', '--detach']],
  ['scheduling it', ['schedule', 'create', 'own.json', '--cron', "'0 0 1 1 *'"]],
  ['registering it for an event', ['trigger', 'add', 'own.json', '--event', 'some:thing']],
])('allowed, and it moves no name: %s', async (_what, words) => {
  expect(await said(...words)).toMatchObject({ code: 0 });
  expect(await harness.store.definitions.find('release')).toEqual(saved);
  expect(await harness.store.definitions.versions('release')).toEqual([saved]);
});

test('what a step has kept moves no name later: when an event starts it, and when a person forks it or runs its id', async () => {
  // The trigger was registered above.
  await harness.run(once('emits-for-kept', [{ type: 'emit', event: 'some:thing' }]));
  const { hash } = await harness.store.definitions.keep(passes('release'));
  const started = async () => (await harness.store.runs.list({})).filter((run) => run.definitionHash === hash);
  // The first was started by a step above, the second by the event.
  await until(async () => (await started()).length === 2);
  const [{ handle } = { handle: '' }] = await started();
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  expect(await harness.store.definitions.versions('release')).toEqual([saved]);
  expect(await harness.command('fork', handle, '--at', 'steps.0@1')).toMatchObject({ code: 0 });
  expect(await harness.command('run', hash)).toMatchObject({ code: 0 });
  expect(await harness.store.definitions.find('release')).toEqual(saved);
  expect(await harness.store.definitions.versions('release')).toEqual([saved]);
});

test('it replaces no trigger and no schedule, registers again what is there, and adds of its own', async () => {
  const trigger = async () => (await harness.store.triggers.list()).find(({ name }) => name === 'release');
  const before = await trigger();
  const add = (file: string, event: string) => said('trigger', 'add', file, '--event', event);
  expect(await add('same.json', 'other:thing')).toEqual({
    code: 1,
    out: expect.stringContaining('ANSWER_REFUSED') as string,
  });
  expect(await add('own.json', 'some:thing')).toMatchObject({ code: 0 });
  expect(await trigger()).toEqual(before);
  // A person holds it, and it stays held.
  expect((await harness.command('trigger', 'pause', 'release')).code).toBe(0);
  expect(await add('own.json', 'some:thing')).toMatchObject({ code: 1 });
  expect((await trigger())?.isPaused).toBe(true);
  expect(await add('free.json', 'some:thing')).toMatchObject({ code: 0 });
  const create = ['schedule', 'create', 'same.json', '--cron', "'0 0 2 1 *'"];
  expect(await said(...create)).toMatchObject({ code: 2 });
  expect(await said(...create, '--replace')).toMatchObject({ code: 1 });
  expect(await said(...create, '--id', 'of-a-step')).toMatchObject({ code: 0 });
  expect((await harness.command('trigger', 'add', 'same.json', '--event', 'other:thing')).code).toBe(0);
  expect(await trigger()).toMatchObject({ event: 'other:thing', isPaused: false });
});

test('what it answers is signed as what it is', async () => {
  const handle = await harness.start(once('asks-for-signature', release.steps));
  await harness.untilEvent(handle, ({ type }) => type === 'asked');
  expect(await said('answer', handle, 'approve', '--by', 'ada')).toMatchObject({ code: 1 });
  expect(await said('answer', handle, 'reject', '--by', 'ada')).toMatchObject({ code: 0 });
  expect(await harness.result(handle)).toMatchObject({ outcome: 'failed' });
  const answered = (await harness.events(handle)).find(({ type }) => type === 'answered');
  expect(answered).toMatchObject({ answer: { by: 'a step', choice: 'reject' } });
});

test('a name that is free, and one that has the same content, are saved', async () => {
  expect(await said('save', 'free.json')).toEqual({ code: 0, out: expect.stringMatching(/"name": ?"free"/) as string });
  expect((await harness.store.definitions.find('free'))?.definition).toMatchObject(passes('free'));
  expect(await said('save', 'same.json')).toMatchObject({ code: 0 });
  expect(await harness.store.definitions.find('release')).toMatchObject({ hash: saved.hash, version: 1 });
});

test('a person saves over a name, and deletes it', async () => {
  expect(await harness.command('save', 'own.json', '--json')).toMatchObject({ code: 0 });
  expect((await harness.store.definitions.find('release'))?.definition).toMatchObject(passes('release'));
  expect((await harness.command('saved', 'delete', 'release')).code).toBe(0);
  expect(await harness.store.definitions.find('release')).toBeNull();
});

/** The examples that review what was pushed, and push what passes, on real repositories. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { commitAll, git, listModel, shippedExample } from '../harness/models/broken-project.ts';
import { addTrigger } from '../../../client/triggers/triggers.ts';
import { catalogue } from '../../catalogue.ts';
import { once } from '../harness/definitions.ts';
import { Harness, until } from '../harness/harness.ts';
import { answers, ScriptedModel } from '../harness/models/model-runs.ts';

let harness: Harness;
beforeEach(async () => {
  harness = await Harness.open();
});
afterEach(() => harness.close());

const write = (path: string, text: string): void => writeFileSync(join(harness.project, path), text);

/** A project with a test of Node's runner, and a repository that it is pushed to. */
function writeTested(expected: number): string {
  const remote = mkdtempSync(join(tmpdir(), 'sentinel-remote-'));
  onTestFinished(() => rmSync(remote, { recursive: true, force: true }));
  git(remote, 'init', '--quiet', '--bare');
  write('.gitignore', '.sentinel\n');
  write('package.json', JSON.stringify({ name: 'sample', type: 'module', scripts: { test: 'node --test' } }));
  write(
    'add.test.js',
    `import { test } from 'node:test';\nimport assert from 'node:assert';\ntest('adds', () => assert.equal(1 + 1, ${expected}));\n`,
  );
  commitAll(harness.project);
  git(harness.project, 'remote', 'add', 'origin', remote);
  return remote;
}

test('what passes its checks is pushed, and the event says so', async () => {
  const remote = writeTested(2);
  await harness.startWorker();
  const { result, events } = await harness.run(shippedExample('ship-it'));
  expect(result).toMatchObject({
    outcome: 'completed',
    outputs: {
      testResult: { success: true, testResult: { checks: [{ name: 'node:test', exitCode: 0 }] } },
      pushResult: { remote: 'origin' },
    },
  });
  expect(git(remote, 'log', '--format=%s', 'main')).toBe('as it was\n');
  expect(events).toContainEqual(
    expect.objectContaining({ type: 'step-finished', label: 'sentinel:deployed', outcome: 'ok' }),
  );
});

test('what fails is not pushed, and the event says what failed', async () => {
  const remote = writeTested(3);
  await harness.startWorker();
  const { result } = await harness.run(shippedExample('ship-it'));
  const failure = { check: 'node:test', file: 'add.test.js', line: 3, test: 'adds' };
  expect(result).toMatchObject({
    outcome: 'completed',
    outputs: { testResult: { success: false, testResult: { failures: [failure] } } },
  });
  expect(git(remote, 'for-each-ref')).toBe('');
});

test('a push is reviewed, the review is in the room, and another persona reacts to it', async () => {
  write('.gitignore', '.sentinel\n');
  write('a.txt', 'one\n');
  commitAll(harness.project);
  write('a.txt', 'two\n');
  git(harness.project, 'commit', '--quiet', '--all', '--message=two');
  const model = await new ScriptedModel(() => answers('Two is one too many.')).open();
  onTestFinished(() => model.close());
  listModel(model);
  await harness.startWorker(model.env);
  const { store, client, taskQueue, project } = harness;
  const review = { definition: shippedExample('code-review'), inputs: {}, project, persona: 'ada', event: 'git:push' };
  await addTrigger({ store, client, catalogue, taskQueue }, review);
  const notes = once('notes', [
    {
      type: 'command',
      command: 'data/create',
      params: { collection: 'to mend', data: { said: '$event.message', by: '$event.author' } },
    },
  ]);
  const reaction = { definition: notes, inputs: {}, project, persona: 'grace', event: 'chat:general:message' };
  await addTrigger({ store, client, catalogue, taskQueue }, reaction);
  await store.triggers.publish({
    source: '@emit',
    id: 'a push',
    name: 'git:push',
    data: { branch: 'main' },
    project: null,
  });
  const room = async (): Promise<unknown[]> =>
    JSON.parse((await harness.command('chat', 'general', '--json')).out) as unknown[];
  await until(async () => (await room()).length > 0, 120_000);
  expect(await room()).toMatchObject([{ room: 'general', author: 'ada', message: 'Two is one too many.' }]);
  const sent = JSON.stringify(model.double.asked.map(({ body }) => body));
  for (const line of ['-one', '+two']) expect(sent).toContain(line);
  const said = { said: 'Two is one too many.', by: 'ada' };
  await expect.poll(() => harness.rows('to mend'), { timeout: 60_000 }).toMatchObject([said]);
  const reacted = await store.runs.list({ persona: 'grace' });
  expect(reacted).toMatchObject([{ name: 'notes', persona: 'grace' }]);
  // A person answers, and sees all of it.
  expect(await harness.command('chat', 'general', '--send', 'Thanks.')).toMatchObject({ code: 0 });
  expect(await room()).toMatchObject([{ author: 'ada' }, { author: 'ada', handle: null, message: 'Thanks.' }]);
  expect((await harness.command('chat')).out).toMatch(/^general {2}2 messages\n/);
});

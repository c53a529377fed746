/**
 * Somebody with the key of this home starts the workflow itself, by an older program or a client of Temporal: what no
 * reader has read is refused at once. And a run whose workflow task fails each time is shown as what it is.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { WorkflowFailedError } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { contentHash } from '../../../../prisma/store/values/content-hash.ts';
import { workflowIdOf, WORKFLOW_TYPE } from '../../../../workflows/messages/messages.ts';
import { once, shell } from '../../harness/definitions.ts';
import { Harness, until } from '../../harness/harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker();
});
afterAll(() => harness.close());

const touch = (name: string) => ({ type: 'shell', command: `touch ${name}` });
const whole = (steps: unknown[]) => ({ name: 'raw', loop: { type: 'once' }, steps });

const cases: [string, (name: string) => unknown][] = [
  ['a condition that only the reader understands', (name) => whole([{ ...touch(name), if: '1 == 2' }])],
  ['a type of step that there is not', (name) => whole([touch(name), { type: 'shel', command: 'true' }])],
  ['another spelling', (name) => whole([touch(name), { type: 'shell', cmd: 'echo hi' }])],
  ['a time that a file may say', (name) => whole([touch(name), { type: 'sleep', ms: 1 }])],
  ['a branch that is no list', (name) => whole([touch(name), { type: 'condition', check: '1', then: 'x' }])],
  ['no loop', (name) => ({ name: 'raw', steps: [touch(name)] })],
  ['no name', () => ({ steps: [] })],
  ['nothing', () => ({})],
  ['a list', () => []],
  ['a text', () => 'x'],
  ['null', () => null],
];

test.each(cases)('%s is refused before its first step', async (what, definition) => {
  const handle = `unread-${cases.findIndex(([name]) => name === what)}`;
  const start = { definition: definition(handle), project: harness.project, persona: 'tester' };
  const workflowId = workflowIdOf(handle);
  const run = await harness.client.workflow.start(WORKFLOW_TYPE, {
    workflowId,
    taskQueue: harness.taskQueue,
    args: [start],
  });
  const cause = await run
    .result()
    .catch((error: unknown) => (error instanceof WorkflowFailedError ? error.cause : error));
  expect(cause).toMatchObject({ type: 'DEFINITION_INVALID' });
  expect(existsSync(join(harness.project, handle))).toBe(false);
  expect(JSON.stringify(await run.fetchHistory())).not.toContain('orkflowTaskFailed');
  await until(async () => (await harness.store.runs.find(handle))?.outcome === 'failed');
});

test.each([
  ['a start that is none', []],
  ['no project', { definition: once('x', [shell('true')]), persona: 'tester' }],
  ['a library that holds what nobody has read', { library: { y: { steps: 1 } } }],
  ['inputs that are a list', { inputs: [] }],
])('%s is refused, too', async (what, rest) => {
  const handle = `unread-${what.replaceAll(' ', '-')}`;
  const good = { definition: once('x', [shell('true')]), project: harness.project, persona: 'tester' };
  const start = Array.isArray(rest) || 'definition' in rest ? rest : { ...good, ...rest };
  const run = await harness.client.workflow.start(WORKFLOW_TYPE, {
    workflowId: workflowIdOf(handle),
    taskQueue: harness.taskQueue,
    args: [start],
  });
  const cause = await run
    .result()
    .catch((error: unknown) => (error instanceof WorkflowFailedError ? error.cause : error));
  expect(cause).toMatchObject({ type: 'DEFINITION_INVALID' });
});

test('a run whose workflow task fails each time says so in status, list and doctor, and what to do', async () => {
  const handle = 'unread-standing';
  const definition = once('standing', [shell('true')]);
  await harness.store.definitions.keep(definition);
  await harness.store.runs.create({
    handle,
    name: 'standing',
    definitionHash: contentHash(definition),
    project: harness.project,
    persona: 'tester',
    parent: null,
    inputs: {},
    startedAt: Date.now(),
    startedBy: 'person',
  });
  // A position that no version has: a bug fails the task (I9).
  const run = await harness.client.workflow.start(WORKFLOW_TYPE, {
    workflowId: workflowIdOf(handle),
    taskQueue: harness.taskQueue,
    args: [{ definition, project: harness.project, persona: 'tester' }, { version: 'none' }],
  });
  await until(async () => ((await run.describe()).raw.pendingWorkflowTask?.attempt ?? 0) > 3);
  const { out } = await harness.command('status', handle);
  expect(out).toMatch(/stands still: its workflow task has failed \d+ times \(.*position/);
  expect(out).toContain(`sentinel cancel ${handle} --force`);
  const status = JSON.parse((await harness.command('status', handle, '--json')).out) as { failing: { times: number } };
  expect(status.failing.times).toBeGreaterThanOrEqual(3);
  expect((await harness.command('list', '--name', 'standing')).out).toContain('running, stands still');
  const [listed] = JSON.parse((await harness.command('list', '--name', 'standing', '--json')).out) as {
    failing: object;
  }[];
  expect(listed?.failing).toMatchObject({ finding: expect.stringContaining('position') as string });
  const doctor = JSON.parse((await harness.command('doctor', '--json')).out) as {
    ok: boolean;
    entries: { name: string; ok: boolean; found: string; remedy?: string }[];
  };
  expect(doctor.entries).toContainEqual(
    expect.objectContaining({ name: 'runs', ok: false, found: expect.stringContaining(handle) as string }),
  );
  expect(await harness.command('cancel', handle, '--force')).toMatchObject({ code: 0 });
});

/**
 * Projects with commands of their own in one home: each has a worker of its own, in which all its runs stay, however
 * they are started, and whatever happens to another.
 */
import { chmodSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OpenClient } from '../../client/open-client.ts';
import { forkRun } from '../../client/history/fork-run.ts';
import { ownBundle } from '../../runs/bundle.ts';
import { addTrigger } from '../../client/triggers/triggers.ts';
import { createSchedule, steerSchedule } from '../../runs/schedules.ts';
import type { Definition, Step } from '../../language/model.ts';
import { isQueueOfProject, queueOfProject } from '../../services/config/project-queue.ts';
import { readServicesState, type ProjectWorkerState } from '../../services/config/services-state.ts';
import { ensureServices } from '../../services/ensure-services.ts';
import { inspectServices } from '../../services/inspect-services.ts';
import { stopServices } from '../../services/stop-services.ts';
import { isAlive } from '../../services/processes/process-identity.ts';
import { workflowIdOf } from '../../workflows/messages/messages.ts';
import { pidOf } from '../pids.ts';
import { freshServices, type FreshServices } from './harness/fresh-services.ts';

let home: string;
let env: FreshServices['options']['env'];
let client: OpenClient;
const folders: string[] = [];

function projectOf(name: string, config: string | null): string {
  const folder = mkdtempSync(join(tmpdir(), `sentinel-${name}-`));
  chmodSync(folder, 0o755);
  folders.push(folder);
  if (config !== null) writeFileSync(join(folder, 'sentinel.config.mjs'), config);
  return folder;
}

const saying = (text: string): string => `
import { defineCommand, z } from 'sentinel-engine/commands';
export default { commands: [defineCommand({
  name: 'own/say', permission: 'read', speed: 'quick', params: z.strictObject({}), result: z.string(),
  run: () => '${text}',
})] };
`;

beforeAll(async () => {
  ({
    home,
    options: { env },
  } = await freshServices());
  client = new OpenClient({ env });
});
afterAll(async () => {
  await client.close();
  await stopServices({ env });
  for (const folder of [home, ...folders]) rmSync(folder, { recursive: true, force: true });
});

const say: Step = { type: 'command', command: 'own/say', params: {}, outputTo: 'said' };
const waitFor = (event: string): Step => ({ type: 'watch', event, timeoutMs: 600_000 });
const once = (name: string, steps: Step[]): Definition => ({ name, loop: { type: 'once' }, steps });

const saidBy = async (handle: string): Promise<unknown> => (await client.result(handle)).outputs?.['said'];
async function queueOf(handle: string): Promise<string> {
  const { client: temporal } = await client.parts();
  return (await temporal.workflow.getHandle(workflowIdOf(handle)).describe()).taskQueue;
}
function workerOf(project: string): ProjectWorkerState {
  const found = readServicesState(home)?.workers.find((worker) => worker.project === project);
  if (found === undefined) throw new Error(`no worker of ${project}`);
  return found;
}
const isServed = (project: string): boolean =>
  readServicesState(home)?.workers.find((worker) => worker.project === project)?.process?.status === 'up';

let one: string;
let two: string;
let bare: string;
beforeAll(() => {
  one = projectOf('one', saying('one'));
  two = projectOf('two', saying('two'));
  bare = projectOf('bare', null);
});

test('each has its own, at the same time, and one without a configuration has that of all', async () => {
  const [first, second, third] = await Promise.all([
    client.start(once('says', [say]), { project: one }),
    client.start(once('says', [say]), { project: two }),
    client.start(once('hello', [{ type: 'shell', command: 'echo hello', outputTo: 'said' }]), { project: bare }),
  ]);
  expect(await Promise.all([saidBy(first.handle), saidBy(second.handle)])).toEqual(['one', 'two']);
  expect(await saidBy(third.handle)).toMatchObject({ stdout: 'hello\n' });
  expect(await queueOf(first.handle)).toBe(queueOfProject('sentinel', one));
  expect(await queueOf(third.handle)).toBe('sentinel');
  await expect(client.start(once('says', [say]), { project: bare })).rejects.toMatchObject({
    code: 'DEFINITION_INVALID',
  });
  const { entries } = await inspectServices(env);
  expect(entries.filter(({ name }) => name === 'project worker').map(({ project, ok }) => [project, ok])).toEqual(
    expect.arrayContaining([
      [one, true],
      [two, true],
    ]),
  );
});

test('nested, forked, triggered and scheduled runs stay in the worker of their project', async () => {
  const parts = await client.parts(undefined, two);
  const started = {
    name: 'started',
    loop: { type: 'once' },
    steps: [{ type: 'command', command: 'own/say', outputTo: 'said' }],
  };
  const around = once('around', [
    { type: 'sentinel', definition: once('inner', [say]) },
    { type: 'command', command: 'sentinel/run', params: { definition: started } },
    say,
  ]);
  const { handle } = await client.start(around, { project: two });
  expect(await saidBy(handle)).toBe('two');
  const fork = await forkRun(parts, await ownBundle(), { handle, at: 'steps.2@1' }, await client.events(handle));
  expect(await saidBy(fork.handle)).toBe('two');
  const definition: Definition = { ...once('ordered', [say]), trigger: { type: 'event', event: 'order:*' } };
  for (const project of [one, two])
    await addTrigger(await client.parts(undefined, project), { definition, inputs: {}, project, persona: 'tester' });
  await client.emit('order:placed', {});
  await createSchedule(parts, {
    id: 'nightly',
    cron: '0 3 1 1 *',
    definition: once('scheduled', [say]),
    inputs: {},
    project: two,
    persona: 'tester',
  });
  await steerSchedule(parts, 'nightly', 'trigger');
  const ended = async (): Promise<string[]> =>
    (await client.list({ limit: 50 })).flatMap(({ handle: each, name, status, project }) =>
      ['ordered', 'scheduled', 'inner', 'started'].includes(name) && status === 'completed'
        ? [`${name} in ${project === one ? 'one' : 'two'}: ${each}`]
        : [],
    );
  await expect
    .poll(async () => (await ended()).map((each) => each.split(':')[0] ?? '').toSorted((a, b) => a.localeCompare(b)), {
      timeout: 60_000,
    })
    .toEqual(['inner in two', 'ordered in one', 'ordered in two', 'scheduled in two', 'started in two']);
  for (const each of await ended()) {
    const [words = '', run = ''] = each.split(': ');
    const project = words.endsWith('one') ? one : two;
    expect([run, await queueOf(run), await saidBy(run)]).toEqual([
      run,
      queueOfProject('sentinel', project),
      project === one ? 'one' : 'two',
    ]);
  }
});

test('one that is killed is replaced alone, and its run goes on', async () => {
  const { handle } = await client.start(once('held', [waitFor('go:killed'), say]), { project: two });
  const [old, other] = [workerOf(two).process, workerOf(one).process];
  process.kill(pidOf(old), 'SIGKILL');
  await expect.poll(() => workerOf(two).process, { timeout: 60_000 }).toMatchObject({ restarts: 1, status: 'up' });
  expect(workerOf(one).process).toEqual(other);
  await client.emit('go:killed', {});
  expect(await saidBy(handle)).toBe('two');
});

test('one whose configuration has changed begins anew, with the runs that are under way', async () => {
  const { handle } = await client.start(once('edited', [waitFor('go:edited'), say]), { project: two });
  const [old, other] = [workerOf(two).process, workerOf(one).process];
  writeFileSync(join(two, 'sentinel.config.mjs'), saying('two anew'));
  const said: string[] = [];
  await ensureServices({ env, project: two, onProgress: (text) => said.push(text) });
  expect(said.join('\n')).toContain(`worker of ${two}`);
  expect(workerOf(two).process?.pid).not.toBe(old?.pid);
  expect(workerOf(one).process).toEqual(other);
  await client.emit('go:edited', {});
  expect(await saidBy(handle)).toBe('two anew');
  expect(await queueOf(handle)).toBe(queueOfProject('sentinel', two));
});

test('a project whose code does not load says so to whoever starts there, and keeps nobody else from it', async () => {
  const broken = projectOf(
    'broken',
    `if (process.argv[1].endsWith('main.js')) throw new Error('not on this machine');\n${saying('broken')}`,
  );
  await expect(client.start(once('says', [say]), { project: broken })).rejects.toMatchObject({
    code: 'SERVICES',
    message: expect.stringContaining('not on this machine') as string,
  });
  const { handle } = await client.start(once('says', [say]), { project: one });
  expect(await saidBy(handle)).toBe('one');
  const { entries } = await inspectServices(env);
  expect(entries.find(({ project }) => project === broken)).toMatchObject({
    ok: false,
    found: expect.stringContaining('not on this machine') as string,
    remedy: expect.stringContaining(broken) as string,
  });
});

test('a run that waits goes on after the services have stopped and come again, and waits for a folder that is gone', async () => {
  const { handle } = await client.start(once('waits', [waitFor('go:again'), say]), { project: two });
  const away = `${two}-away`;
  const workers = [workerOf(one).process, workerOf(two).process];
  await client.close();
  await stopServices({ env });
  for (const worker of workers) expect(worker !== null && isAlive(worker)).toBe(false);
  renameSync(two, away);
  // From nowhere near the project.
  await ensureServices({ env });
  client = new OpenClient({ env });
  const found = async () => (await inspectServices(env)).entries.find(({ project }) => project === two);
  await expect
    .poll(found, { timeout: 60_000 })
    .toMatchObject({ ok: false, found: expect.stringContaining('is gone, so its runs wait') as string });
  const { handle: others } = await client.start(once('says', [say]), { project: one });
  expect(await saidBy(others)).toBe('one');
  renameSync(away, two);
  await expect.poll(() => isServed(two), { timeout: 120_000 }).toBe(true);
  await client.emit('go:again', {});
  expect(await saidBy(handle)).toBe('two anew');
});

test('a queue of a project is known by its name', () => {
  expect(isQueueOfProject(queueOfProject('sentinel', one))).toBe(true);
  expect(isQueueOfProject(queueOfProject('own-queue-1', '/nowhere/ü b'))).toBe(true);
  for (const queue of ['sentinel', 'sentinel@gpu-1', 'sentinel:one']) expect(isQueueOfProject(queue)).toBe(false);
});

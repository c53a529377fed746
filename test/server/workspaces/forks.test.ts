/** Forks and retries of runs that work in workspaces: which folder and which branch they go on with. */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../language/json.ts';
import type { Step } from '../../../language/model.ts';
import { command, once, shell } from '../harness/definitions.ts';
import { type Harness, until } from '../harness/harness.ts';
import { rootIn, useWorkspaceProject } from '../harness/workspace-project.ts';

const { cache, harness: opened, inProject } = useWorkspaceProject('one\n');
let harness: Harness;
beforeAll(() => {
  harness = opened();
});

const create = (branch: string): Step => command('workspace/create', { branch }, 'workspace');

/** A run that works in a workspace, and fails while `flag` is not there. */
const failing = (branch: string, flag: string, more: { [name: string]: Json } = {}): Step[] => [
  command('workspace/create', { branch, ...more }, 'workspace'),
  shell('echo before > before.txt'),
  shell(`pwd >> at.txt; test -e ${join(cache, flag)} || exit 3`, { outputTo: 'tried' }),
  { type: 'condition', check: '$tried.exitCode != 0', then: [{ type: 'fail', message: 'not yet' }] },
];
const forkOf = async (handle: string, ...more: string[]): Promise<JsonObject> => {
  const said = await harness.command('fork', handle, '--at', 'steps.2@1', ...more, '--json');
  const lines = said.out.trim().split('\n');
  return JSON.parse(lines.at(-1) ?? '{}') as JsonObject;
};
const allow = (flag: string): void => writeFileSync(join(cache, flag), '');

test('a fork goes on in the workspace that its run has left, and commits on its branch', async () => {
  const { handle, result } = await harness.run(once('forked', failing('forked', 'forked-flag')));
  expect(result).toMatchObject({ outcome: 'failed', outputs: { branch: 'forked' } });
  allow('forked-flag');
  const fork = await forkOf(handle);
  expect(fork).toMatchObject({
    outcome: 'completed',
    outputs: { branch: 'forked', workspace: { workspace: 'forked' } },
  });
  const at = rootIn(result.outputs);
  expect(inProject('show', 'forked:at.txt')).toBe(`${at}\n${at}`);
  expect(inProject('log', '-1', '--format=%(trailers:key=Sentinel-Run,valueonly)', 'forked')).toContain(fork['handle']);
  const { out } = await harness.command('workspaces', 'list', '--json');
  expect((JSON.parse(out) as { result: JsonObject[] }).result).toContainEqual(
    expect.objectContaining({ branch: 'forked', run: fork['handle'] }),
  );
});

test('a fork of a run that goes on works in a workspace forked from that one', async () => {
  const steps = [...failing('busy', 'busy-flag').slice(0, 3), { type: 'approval', message: 'go on?' } as Step];
  const handle = await harness.start(once('busy', steps));
  await until(async () => (await harness.events(handle)).some(({ type }) => type === 'asked'));
  const edited = join(cache, 'busy.json');
  writeFileSync(edited, JSON.stringify(once('busy', steps.slice(0, 3))));
  const fork = await forkOf(handle, '--edit', edited);
  expect(fork).toMatchObject({ outcome: 'completed', outputs: { branch: 'busy.fork' } });
  expect(inProject('show', 'busy.fork:before.txt')).toBe('before');
  await harness.say(handle, 'stop');
  expect(await harness.result(handle)).toMatchObject({ outputs: { branch: 'busy' } });
  expect(inProject('branch', '--list', 'busy*').split('\n')).toHaveLength(2);
});

test('a fork whose workspace was removed by hand works in a new folder of the branch, and says where there is no branch', async () => {
  const { handle, result } = await harness.run(once('gone', failing('gone', 'gone-flag')));
  rmSync(rootIn(result.outputs), { recursive: true });
  allow('gone-flag');
  expect(await forkOf(handle)).toMatchObject({ outcome: 'completed', outputs: { branch: 'gone' } });
  expect(inProject('ls-tree', '--name-only', 'gone').split('\n')).toEqual(expect.arrayContaining(['before.txt']));
  expect((await harness.command('workspaces', 'remove', 'gone', '--force')).code).toBe(0);
  expect(await forkOf(handle)).toMatchObject({
    outcome: 'failed',
    failure: { code: 'WORKSPACE_GONE', message: expect.stringContaining(`fork ${handle} at the step that makes`) },
  });
  expect(inProject('branch', '--list', 'gone')).toBe('');
  expect(existsSync(join(harness.project, 'before.txt'))).toBe(false);
});

test('a retry goes on in a copy that its run has left', async () => {
  const steps = failing('copied', 'copied-flag', { isolationType: 'copy' });
  const { handle, result } = await harness.run(once('copied', steps));
  expect(result.outcome).toBe('failed');
  const edited = join(cache, 'copied.json');
  const mended: Step = {
    type: 'condition',
    check: '$tried.exitCode != 0',
    then: [shell('cat before.txt', { outputTo: 'kept' })],
  };
  writeFileSync(edited, JSON.stringify(once('copied', [...steps.slice(0, 3), mended])));
  const said = await harness.command('retry', handle, '--edit', edited, '--json');
  expect(JSON.parse(said.out.trim().split('\n').at(-1) ?? '')).toMatchObject({
    outcome: 'completed',
    outputs: { branch: 'copied', kept: { stdout: 'before\n' } },
  });
});

test('a nested run that worked in the workspace around it is forked into that workspace, not into the project', async () => {
  const inner: Step = {
    type: 'sentinel',
    definition: once('inner', [shell('echo x'), shell('echo y'), shell('pwd > inner.txt')]),
  };
  const { handle, result } = await harness.run(once('outer', [create('around'), inner]));
  expect(result.outcome).toBe('completed');
  const fork = await forkOf(`${handle}/steps.1@1`);
  expect(fork).toMatchObject({ outcome: 'completed', outputs: { branch: 'around' } });
  expect(inProject('show', 'around:inner.txt')).toBe(rootIn(result.outputs));
  expect(existsSync(join(harness.project, 'inner.txt'))).toBe(false);
});

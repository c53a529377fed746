/** Workspaces over what a run lives through: histories that continue, forks, cancellations, failures, lost workers, undo. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { Step } from '../../../language/model.ts';
import { command, counted, once, shell } from '../harness/definitions.ts';
import { type Harness, until } from '../harness/harness.ts';
import { rootIn, useWorkspaceProject } from '../harness/workspace-project.ts';

const { harness: opened, inProject } = useWorkspaceProject('one\n');
let harness: Harness;
beforeAll(() => {
  harness = opened();
});

const create = (branch: string): Step => command('workspace/create', { branch }, 'workspace');

test('a run that continues as new goes on in its workspace, and each pass makes one where the definition says so', async () => {
  const long = once('long', [create('long'), ...[1, 2, 3, 4].map((number) => shell(`pwd >> ${number}.txt`))]);
  const { result } = await harness.run(long, { continueEvery: 1 });
  expect(result.outcome).toBe('completed');
  for (const number of [1, 2, 3, 4]) expect(inProject('show', `long:${number}.txt`)).toBe(rootIn(result.outputs));
  const passes = counted('passes', 3, [create('pass-$iteration'), shell('echo $iteration > pass.txt')]);
  expect((await harness.run(passes)).result.outcome).toBe('completed');
  for (const pass of [1, 2, 3]) expect(inProject('show', `pass-${pass}:pass.txt`)).toBe(String(pass));
});

test('a branch that makes a workspace goes there alone, and the steps behind it stay where they were', async () => {
  const steps: Step[] = [
    {
      type: 'parallel',
      branches: [[create('alone'), shell('pwd', { outputTo: 'inside' })], [shell('pwd', { outputTo: 'beside' })]],
    },
    shell('pwd', { outputTo: 'behind' }),
  ];
  const { result } = await harness.run(once('branches', steps));
  const outputs = result.outputs as { [name: string]: { stdout: string } };
  const place = (name: string): string | undefined => outputs[name]?.stdout.trim();
  expect(place('inside')).toBe(rootIn(result.outputs));
  expect([place('beside'), place('behind')]).toEqual([harness.project, harness.project]);
});

const ENDS: [name: string, steps: Step[], outcome: string][] = [
  ['fails', [shell('echo half > half.txt'), { type: 'fail', message: 'no further' }], 'failed'],
  ['is-stopped', [shell('echo half > half.txt'), { type: 'approval', message: 'go on?' }], 'stopped'],
];
test.each(ENDS)('what a run did that %s is committed', async (name, steps, outcome) => {
  const handle = await harness.start(once(name, [create(name), ...steps]));
  if (outcome === 'stopped') {
    await until(async () => (await harness.events(handle)).some(({ type }) => type === 'asked'));
    await harness.say(handle, 'stop');
  }
  expect(await harness.result(handle)).toMatchObject({ outcome, outputs: { branch: name } });
  expect(inProject('show', `${name}:half.txt`)).toBe('half');
});

test('changes and undo show and take back what was done in a workspace and in those forked from it', async () => {
  const child: Step = {
    type: 'sentinel',
    definition: once('child', [shell('echo child > a.txt; echo c > c.txt')]),
    outputTo: 'child',
  };
  const steps: Step[] = [
    create('undone'),
    shell('echo changed > a.txt'),
    { type: 'parallel', branches: [[child]] },
    shell('echo more > b.txt'),
  ];
  const { handle, result } = await harness.run(once('undone', steps));
  expect(result.outcome).toBe('completed');
  const { out } = await harness.command('changes', handle);
  expect(out).toMatch(/-one\n\+changed\n[^]*-changed\n\+child\n[^]*\+more/);
  expect((await harness.command('undo', handle)).code).toBe(0);
  const root = rootIn(result.outputs);
  expect([readFileSync(join(root, 'a.txt'), 'utf8'), existsSync(join(root, 'b.txt'))]).toEqual(['one\n', false]);
  expect([readFileSync(join(`${root}.child`, 'a.txt'), 'utf8'), existsSync(join(`${root}.child`, 'c.txt'))]).toEqual([
    'changed\n',
    false,
  ]);
});

test('a step in a workspace that was removed by hand says so, and the run fails', async () => {
  const steps = [create('by-hand'), shell('rm -rf "$PWD"'), shell('pwd')];
  const { result } = await harness.run(once('by-hand', steps));
  expect(result).toMatchObject({ outcome: 'failed', failure: { code: 'WORKSPACE_GONE' } });
});

test('a person lists, merges and removes what a run has left', async () => {
  expect((await harness.run(once('left', [create('left'), shell('echo l > l.txt')]))).result.outcome).toBe('completed');
  const { out, code } = await harness.command('workspaces', 'list');
  expect([code, out]).toEqual([0, expect.stringContaining('left')]);
  const refused = await harness.command('workspaces', 'remove', 'left');
  expect(refused.code).not.toBe(0);
  expect(refused.out + refused.err).toContain('are on no other branch');
  expect(await harness.command('workspaces', 'merge', 'left', '--into', 'main')).toMatchObject({ code: 0 });
  expect(readFileSync(join(harness.project, 'l.txt'), 'utf8')).toBe('l\n');
  expect(await harness.command('workspaces', 'remove', 'left')).toMatchObject({ code: 0 });
  expect(inProject('branch', '--list', 'left')).toBe('');
});

/** Shell steps in the project, in a workspace, and in the project again. */
const inBoth = (branch: string): Step[] => [
  shell('echo project > p.txt'),
  create(branch),
  shell('echo workspace > w.txt'),
  command('workspace/create', { isolationType: 'project' }),
  shell('echo again > q.txt'),
  command('code/tree', {}, 'seen'),
];

test('an undo takes back what a run did in the project and in its workspaces, or nothing where one has a conflict', async () => {
  const there = (at: string): boolean[] =>
    [join(harness.project, 'p.txt'), join(at, 'w.txt'), join(harness.project, 'q.txt')].map((file) => existsSync(file));
  const own = await harness.run(once('several', [...inBoth('several'), command('code/undo', {}, 'undone')]));
  expect(own.result.failure).toBeUndefined();
  expect(JSON.stringify(own.result.outputs['seen'])).toContain('q.txt');
  expect(there(rootIn(own.result.outputs))).toEqual([false, false, false]);

  const { handle, result } = await harness.run(once('conflicted', inBoth('conflicted')));
  const at = rootIn(result.outputs);
  expect(there(at)).toEqual([true, true, true]);
  writeFileSync(join(at, 'w.txt'), 'by hand\n');
  expect((await harness.command('undo', handle)).code).not.toBe(0);
  expect(there(at)).toEqual([true, true, true]);
  expect(readFileSync(join(at, 'w.txt'), 'utf8')).toBe('by hand\n');
});

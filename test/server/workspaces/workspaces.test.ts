/** Runs in workspaces, on real services: what they do there, what becomes of it, and that the project sees nothing of it. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '../../../language/json.ts';
import type { Step } from '../../../language/model.ts';
import { parseDefinitionText } from '../../../language/read/definition.ts';
import { catalogue } from '../../catalogue.ts';
import { root } from '../../project/tree.ts';
import { command, once, shell } from '../harness/definitions.ts';
import type { Harness } from '../harness/harness.ts';
import { rootOf, useWorkspaceProject } from '../harness/workspace-project.ts';

const { cache, harness: opened, inProject } = useWorkspaceProject('one\ntwo\nthree\n');
let harness: Harness;
beforeAll(() => {
  harness = opened();
});

const child = (name: string, line: string): Step => ({
  type: 'sentinel',
  definition: once(name, [shell(`sed -i s/2/${line}/ a.txt; echo ${name} > ${name}.txt`)]),
  outputTo: name,
});
const outputsOf = ({ outputs }: { outputs: JsonObject }): { [name: string]: JsonObject } =>
  outputs as { [name: string]: JsonObject };

test('a run works in its work tree, commits there when it ends, and merges only where it is told', async () => {
  const steps = [
    command('workspace/create', { isolationType: 'worktree', branch: 'feature/$task' }, 'workspace'),
    shell('pwd; sed -i s/two/2/ a.txt; echo new > b.txt', { outputTo: 'at' }),
    command('code/read', { path: 'b.txt' }, 'read'),
    command('code/git', { operation: 'status' }, 'status'),
  ];
  const { result } = await harness.run(once('worker', steps), { inputs: { task: 'numbers' } });
  expect(result).toMatchObject({ outcome: 'completed' });
  const { workspace, at, read, status } = outputsOf(result);
  const folder = rootOf(workspace);
  expect(folder.startsWith(join(cache, 'workspaces'))).toBe(true);
  expect(workspace).toMatchObject({
    branch: 'feature/numbers',
    isolationType: 'worktree',
    base: inProject('rev-parse', 'HEAD'),
  });
  expect(at).toMatchObject({ stdout: `${folder}\n` });
  expect(read).toMatchObject({ content: 'new\n' });
  expect(status).toMatchObject({ branch: 'feature/numbers' });
  expect(result.outputs).toMatchObject({
    branch: 'feature/numbers',
    commit: inProject('rev-parse', 'feature/numbers'),
  });
  expect(inProject('show', 'feature/numbers:a.txt')).toBe('one\n2\nthree');
  expect(inProject('status', '--porcelain')).toBe('');
  expect(existsSync(join(harness.project, 'b.txt'))).toBe(false);

  const merging = [command('workspace/merge', { branches: 'feature/numbers', into: 'main' }, 'merged')];
  const merged = await harness.run(once('merger', merging));
  expect(merged.result).toMatchObject({ outcome: 'completed', outputs: { merged: { into: 'main', conflicts: [] } } });
  expect(readFileSync(join(harness.project, 'a.txt'), 'utf8')).toBe('one\n2\nthree\n');

  const removing = [
    command('workspace/remove', { workspace: 'feature/numbers' }, 'removed'),
    command('workspace/list', {}, 'left'),
  ];
  const removed = await harness.run(once('remover', removing));
  expect(removed.result).toMatchObject({
    outcome: 'completed',
    outputs: { removed: { isBranchDeleted: true }, left: [] },
  });
  expect(existsSync(folder)).toBe(false);
  expect(inProject('branch', '--list', 'feature/*')).toBe('');
});

test('each branch of a parallel step that is a sentinel has a workspace of its own, and conflicts come as data', async () => {
  const steps: Step[] = [
    command('workspace/create', { isolationType: 'worktree', branch: 'feature/both' }, 'workspace'),
    shell('echo shared > shared.txt'),
    { type: 'parallel', branches: [[child('frontend', 'front')], [child('backend', 'back')]] },
    command('workspace/merge', { branches: ['$frontend.branch', '$backend.branch'] }, 'merged'),
    shell('ls; cat a.txt; git status --porcelain', { outputTo: 'after' }),
    shell('sed -i s/front/both/ a.txt'),
  ];
  const { result } = await harness.run(once('both', steps));
  expect(result).toMatchObject({ outcome: 'completed' });
  const { frontend, backend, merged, after } = outputsOf(result);
  expect(frontend).toMatchObject({ branch: 'feature/both.frontend', workspace: 'feature-both.frontend' });
  expect(backend).toMatchObject({
    branch: 'feature/both.backend',
    commit: inProject('rev-parse', 'feature/both.backend'),
  });
  expect(inProject('ls-tree', '--name-only', 'feature/both.backend').split('\n')).toEqual(
    expect.arrayContaining(['shared.txt', 'backend.txt']),
  );
  expect(merged).toMatchObject({
    into: 'feature/both',
    merged: [{ branch: 'feature/both.frontend' }],
    conflicts: [
      {
        branch: 'feature/both.backend',
        path: 'a.txt',
        kind: 'both-changed',
        hunks: [{ line: 2, ours: 'front\n', base: '2\n', theirs: 'back\n' }],
      },
    ],
  });
  expect(after).toMatchObject({ stdout: 'a.txt\nb.txt\nfrontend.txt\nshared.txt\none\nfront\nthree\n' });
  // The passage that was in conflict is gone: what the run resolved is merged with all else of the branch.
  expect(result.outputs).not.toHaveProperty('unmerged');
  expect(inProject('show', 'feature/both:a.txt')).toBe('one\nboth\nthree');
  expect(inProject('show', 'feature/both:backend.txt')).toBe('backend');
  expect(inProject('status', '--porcelain')).toBe('');
  expect(inProject('branch', '--show-current')).toBe('main');
});

test('a sandboxed run reads the repository behind its workspace, writes nothing to it, and its work is committed', async () => {
  const steps = [
    command('workspace/create', { branch: 'held-in' }, 'workspace'),
    shell(
      'git log --format=%s; cat .git; touch "$(git rev-parse --git-dir)/x" 2>&1; echo y > .git 2>&1; echo in > c.txt',
      {
        outputTo: 'shell',
      },
    ),
    command('code/git', { operation: 'status' }, 'status'),
    command('code/git', { operation: 'add', paths: ['c.txt'] }),
  ];
  const { result } = await harness.run(once('held-in', steps, { mode: 'sandboxed' }));
  const { shell: printed, status } = outputsOf(result);
  expect(printed?.['output']).toMatch(/as it was\ngitdir: [\s\S]*Read-only file system[\s\S]*Read-only file system/);
  expect(status).toMatchObject({ branch: 'held-in', files: [{ path: 'c.txt' }] });
  expect(result).toMatchObject({ outcome: 'failed', failure: { code: 'GIT_FAILED' } });
  expect(result.failure?.message).toContain('what it did is committed when it ends');
  expect(inProject('show', 'held-in:c.txt')).toBe('in');
});

test('the example of the page does what the page says', async () => {
  const [, text = ''] = /```json\n([\s\S]*?)```/.exec(readFileSync(join(root, 'docs', 'workspaces.md'), 'utf8')) ?? [];
  const read = parseDefinitionText(text, { catalogue });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  const { result } = await harness.run(read.definition, { inputs: { taskName: 'shop' } });
  expect(result).toMatchObject({ outcome: 'completed', outputs: { branch: 'feature/shop' } });
  const { merge, again } = outputsOf(result);
  expect(merge).toMatchObject({
    conflicts: [{ path: 'settings.yaml', kind: 'both-added', branch: 'feature/shop.backend-work' }],
  });
  expect(again).toMatchObject({ conflicts: [], merged: [{ branch: 'feature/shop.backend-work' }] });
  expect(inProject('ls-tree', '--name-only', 'feature/shop').split('\n')).toEqual(
    expect.arrayContaining(['page.html', 'server.js', 'settings.yaml']),
  );
  expect(inProject('show', 'feature/shop:settings.yaml')).toBe('title: Store\nport: 8080');
  expect(inProject('status', '--porcelain')).toBe('');
});

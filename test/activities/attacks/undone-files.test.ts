/** A step that leaves tens of thousands of files is taken back; where no state can be taken it is said why; and no diff shows secrets. */
import { execFileSync } from 'node:child_process';
import { existsSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { changesOf } from '../../../operations/checkpoints/changes.ts';
import { StepCheckpoints } from '../../../operations/checkpoints/step-checkpoints.ts';
import { undoRun } from '../../../operations/checkpoints/undo-run.ts';
import { changesOfRun } from '../../../client/undo-run.ts';
import { sealEnvironment } from '../../../runs/seal-environment.ts';
import { useStore } from '../../store/harness/opened.ts';
import { writtenProject, type WrittenProject } from '../harness/written-project.ts';

const opened = useStore();

async function step(handle: string, project: WrittenProject, act: () => void): Promise<void> {
  const checkpoints = new StepCheckpoints(opened.store.checkpoints, project.home);
  const of = { handle, key: 'steps.0@1', project: project.project };
  expect(await checkpoints.begin({ ...of, what: 'shell', attempt: 1, isBackground: false })).toBe(true);
  act();
  await checkpoints.end(of);
}

test('a step that leaves 50,001 files is taken back, with what else it did', async () => {
  const project = await writtenProject({ 'a.txt': 'one\n' });
  await step('many-files', project, () => {
    project.write({ 'a.txt': 'two\n' });
    execFileSync('sh', ['-c', 'mkdir many && cd many && seq 1 50001 | xargs touch'], { cwd: project.project });
  });
  const [changes] = await changesOf(opened.store.checkpoints, { handle: 'many-files', patches: true });
  expect(changes).toMatchObject({ state: 'changed', isCut: true });
  expect(changes?.files).toHaveLength(50_002);
  expect(await undoRun(opened.store.checkpoints, { handle: 'many-files' })).toMatchObject({
    done: true,
    conflicts: [],
  });
  expect(existsSync(join(project.project, 'many', '50001'))).toBe(false);
  expect(project.everything()).toEqual(['a.txt one\n']);
}, 240_000);

test('where there is no state after a step, an undo says why, and not that nobody saw its end', async () => {
  const project = await writtenProject({ 'a.txt': 'one\n' });
  await step('too-much', project, () => {
    project.write({ 'a.txt': 'two\n' });
    // More new bytes than a look takes, in files that have no content.
    for (let index = 0; index < 300; index += 1) {
      const file = join(project.project, `large-${index}`);
      writeFileSync(file, '');
      truncateSync(file, 2 * 1024 * 1024);
    }
  });
  const [changes] = await changesOf(opened.store.checkpoints, { handle: 'too-much', patches: false });
  expect(changes).toMatchObject({ state: 'unknown', why: expect.stringContaining('512 MiB') as string });
  for (let index = 0; index < 300; index += 1) truncateSync(join(project.project, `large-${index}`), 0);
  const undone = await undoRun(opened.store.checkpoints, { handle: 'too-much', dryRun: true });
  const about = undone.conflicts.find(({ path }) => path === 'a.txt');
  expect(about?.why).toContain('512 MiB');
  expect(about?.why).not.toContain('nobody saw');
});

test('a diff shows neither what files with secrets hold nor secrets in other files, and all else as it is', async () => {
  const project = await writtenProject({ 'plain.txt': 'one\n', 'conf/.env': 'OLD=before-the-step\n' });
  const listed = 'l1sted/secret"value-7f3a';
  const here = 'set-here-9c41d2e8';
  vi.stubEnv('SHELL_TOKEN', here);
  onTestFinished(() => void vi.unstubAllEnvs());
  await sealEnvironment(opened.store, 'diffed', { SHOP_TOKEN: listed });
  const files = {
    'plain.txt': 'one\ntwo 100% %41 QUJDRA== diff --git a/x b/x\n',
    'uses.json': JSON.stringify({ token: listed, other: Buffer.from(listed).toString('base64'), also: here }),
    'conf/.env': 'NEW=after-the-step\n@@ -1 +1 @@\n',
    'keys/id_rsa': 'line-of-a-key\n',
    'a "b".pem': 'line-of-a-key\n',
    '.env.example': 'NEW=an-example\n',
  };
  await step('diffed', project, () => project.write(files));
  const [changes] = await changesOfRun(opened.store, 'diffed', { patches: true });
  const text = JSON.stringify(changes);
  for (const secret of [
    'before-the-step',
    'after-the-step',
    'line-of-a-key',
    'l1sted',
    here,
    Buffer.from(listed).toString('base64'),
  ])
    expect(text).not.toContain(secret);
  const patch = changes?.patch ?? '';
  expect(patch).toContain(' one\n+two 100% %41 QUJDRA== diff --git a/x b/x\n');
  expect(patch).toContain('+NEW=an-example\n');
  expect(patch).toContain('[env SHOP_TOKEN]');
  expect(patch).toContain('by its name it holds secrets');
  expect(changes?.files.map(({ path }) => path).toSorted()).toEqual(Object.keys(files).toSorted());
});

test('a pipe in the place of a file does not hide that the file is gone, and the file is put back once the pipe is', async () => {
  const project = await writtenProject({ 'a.txt': 'one\n' });
  await step('piped', project, () =>
    execFileSync('sh', ['-c', 'rm a.txt && mkfifo a.txt other.txt'], { cwd: project.project }),
  );
  const [changes] = await changesOf(opened.store.checkpoints, { handle: 'piped', patches: true });
  expect(changes?.files).toMatchObject([{ path: 'a.txt', status: 'deleted' }]);
  const held = await undoRun(opened.store.checkpoints, { handle: 'piped' });
  expect(held).toMatchObject({ files: [], left: [{ path: 'a.txt', why: 'is no file' }] });
  execFileSync('rm', ['a.txt', 'other.txt'], { cwd: project.project });
  expect(await undoRun(opened.store.checkpoints, { handle: 'piped' })).toMatchObject({ done: true });
  expect(project.read('a.txt')).toBe('one\n');
});

/** What steps move in the repository of the project is shown step by step, and git never opens it for that. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CHECKPOINT_BOUNDS } from '../../../world/git/trees/bounds.ts';
import { openRepositoryRun } from '../harness/repository-run.ts';
import { temporaryFolder } from '../harness/step-context.ts';

test('a branch, a commit, a merge, a tag, a stash and what is staged, each at its step', async () => {
  const run = await openRepositoryRun({ 'a.txt': 'one\n', 'b.txt': 'one\n' });
  const first = run.commit('HEAD');
  await run.step('steps.0@1', () => run.git('checkout', '-q', '-b', 'fix/one'));
  await run.step('steps.1@1', () => {
    run.write({ 'a.txt': 'two\n' });
    run.git('commit', '-qam', 'second');
  });
  const second = run.commit('HEAD');
  await run.step('steps.2@1', () => {
    run.git('checkout', '-q', 'main');
    run.git('merge', '-q', '--no-ff', '-m', 'merged', 'fix/one');
    run.git('tag', 'v1');
    run.git('branch', '-qd', 'fix/one');
  });
  const merged = run.commit('HEAD');
  await run.step('steps.3@1', () => run.git('status'));
  await run.step('steps.4@1', () => {
    run.write({ 'b.txt': 'two\n', 'c.txt': 'new\n' });
    run.git('add', '.');
  });
  await run.step('steps.5@1', () => run.git('stash', '-q'));
  expect(await run.moved()).toEqual([
    'steps.0@1 HEAD main → fix/one',
    `steps.0@1 refs/heads/fix/one created ${first.slice(0, 7)}`,
    'steps.1@1 index +1 -1',
    `steps.1@1 refs/heads/fix/one ${first.slice(0, 7)} → ${second.slice(0, 7)}`,
    'steps.2@1 HEAD fix/one → main',
    `steps.2@1 refs/heads/fix/one deleted ${second.slice(0, 7)}`,
    `steps.2@1 refs/heads/main ${first.slice(0, 7)} → ${merged.slice(0, 7)}`,
    `steps.2@1 refs/tags/v1 created ${merged.slice(0, 7)}`,
    'steps.4@1 index +2 -1',
    'steps.5@1 index +1 -2',
    `steps.5@1 refs/stash created ${run.commit('stash').slice(0, 7)}  +1 -0`,
  ]);
  const [step] = await run.changes();
  expect(step?.refs[0]).toEqual({
    name: 'HEAD',
    before: 'refs/heads/main',
    after: 'refs/heads/fix/one',
    added: null,
    removed: null,
    others: [],
  });
  const all = JSON.stringify(await run.changes());
  expect(all).not.toContain('.sentinel/repository');
  expect(all).not.toContain('Subproject');
});

test('packed refs, a detached HEAD, a work tree beside, and what follows a ref', async () => {
  const run = await openRepositoryRun({ 'a.txt': 'one\n' });
  run.git('branch', 'packed');
  run.git('tag', '-a', '-m', 'annotated', 'v1');
  await run.step('steps.0@1', () => run.git('pack-refs', '--all'));
  expect(await run.moved()).toEqual([]);
  const beside = join(await temporaryFolder(), 'beside');
  await run.step('steps.1@1', () => {
    run.git('branch', '-qD', 'packed');
    run.git('checkout', '-q', '--detach');
    run.git('worktree', 'add', '-q', '-b', 'other', beside);
    run.git('symbolic-ref', 'refs/heads/alias', 'refs/heads/main');
  });
  const first = run.commit('HEAD').slice(0, 7);
  expect(await run.moved()).toEqual([
    `steps.1@1 HEAD main → ${first}`,
    'steps.1@1 refs/heads/alias created main',
    `steps.1@1 refs/heads/other created ${first}`,
    `steps.1@1 refs/heads/packed deleted ${first}`,
    `steps.1@1 worktrees/beside created ${beside}`,
  ]);
});

test('of a work tree beside, of a submodule and of a folder in a repository what the repository says', async () => {
  const around = await openRepositoryRun({ 'a.txt': 'one\n', 'part/b.txt': 'one\n' });
  const beside = join(await temporaryFolder(), 'beside');
  around.git('worktree', 'add', '-q', '-b', 'other', beside);
  const linked = await openRepositoryRun({}, beside);
  await linked.step('steps.0@1', () => linked.git('checkout', '-q', '-b', 'third'));
  expect((await linked.moved()).map((line) => line.replace(/[0-9a-f]{7}$/, 'SHA'))).toEqual([
    'steps.0@1 HEAD other → third',
    'steps.0@1 refs/heads/third created SHA',
  ]);
  const part = await openRepositoryRun({}, join(around.project, 'part'));
  await part.step('steps.0@1', () => part.git('tag', 'v1'));
  expect(await part.moved()).toEqual([`steps.0@1 refs/tags/v1 created ${around.commit('HEAD').slice(0, 7)}`]);
  const upper = await openRepositoryRun({ 'a.txt': 'one\n' });
  upper.git('-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', around.project, 'sub');
  const sub = await openRepositoryRun({}, join(upper.project, 'sub'));
  await sub.step('steps.0@1', () => sub.git('tag', 'v2'));
  expect(await sub.moved()).toEqual([`steps.0@1 refs/tags/v2 created ${around.commit('HEAD').slice(0, 7)}`]);
});

test('what leads elsewhere, belongs elsewhere or cannot be read is not recorded, and no ref seems gone by it', async () => {
  const other = await openRepositoryRun({ 'a.txt': 'one\n' });
  const run = await openRepositoryRun({ 'a.txt': 'one\n' });
  const place = join(run.project, '.git');
  const aside = join(await temporaryFolder(), 'aside');
  await run.step('steps.0@1', () => {
    renameSync(place, aside);
    symlinkSync(join(other.project, '.git'), place);
  });
  await run.step('steps.1@1', () => {
    rmSync(place);
    writeFileSync(place, `gitdir: ${join(other.project, '.git')}\n`);
  });
  await run.step('steps.2@1', () => {
    rmSync(place);
    renameSync(aside, place);
    writeFileSync(join(place, 'commondir'), join(other.project, '.git'));
  });
  await run.step('steps.3@1', () => rmSync(join(place, 'commondir')));
  const first = run.commit('HEAD');
  const many = Array.from({ length: CHECKPOINT_BOUNDS.refsMax + 1 }, (_, at) => `${first} refs/many/${at}\n`);
  await run.step('steps.4@1', () => writeFileSync(join(place, 'packed-refs'), many.join('')));
  expect(await run.moved()).toEqual([]);
});

test('a repository that a step made, and one that it removed', async () => {
  const run = await openRepositoryRun({ 'a.txt': 'one\n' });
  const first = run.commit('HEAD').slice(0, 7);
  await run.step('steps.0@1', () => rmSync(join(run.project, '.git'), { recursive: true }));
  await run.step('steps.1@1', () => execFileSync('git', ['init', '-q', '-b', 'new', run.project]));
  expect(await run.moved()).toEqual([
    'steps.0@1 HEAD deleted main',
    `steps.0@1 refs/heads/main deleted ${first}`,
    'steps.1@1 HEAD created new',
  ]);
});

test('nothing of the repository starts, and hostile names and files hold up no state', async () => {
  const run = await openRepositoryRun({ 'a.txt': 'one\n' });
  const before = run.everything(join(run.project, '.git'));
  const started = join(await temporaryFolder(), 'started');
  await run.step('steps.0@1', () => run.write({ 'a.txt': 'two\n' }));
  expect(run.everything(join(run.project, '.git'))).toEqual(before);
  for (const [name, value] of [
    ['core.fsmonitor', `touch ${started}`],
    ['core.hooksPath', join(run.project, '.git/hooks')],
    ['filter.evil.clean', `touch ${started}`],
  ] as const)
    run.git('config', name, value);
  const sha = run.commit('HEAD');
  await run.step('steps.1@1', () => {
    const refs = join(run.project, '.git/refs/heads');
    for (const name of ['with space', 'a..b', '.git', 'x.lock', 'tab\there', 'ünï-ö', 'x‮y', '-f'])
      writeFileSync(join(refs, name), `${sha}\n`);
    mkdirSync(join(refs, '.git'.repeat(2)));
    writeFileSync(join(refs, 'broken'), 'no commit\n');
    writeFileSync(join(refs, 'zero'), `${'0'.repeat(40)}\n`);
    writeFileSync(join(refs, 'upwards'), 'ref: ../../../etc/passwd\n');
    execFileSync('mkfifo', [join(refs, 'pipe')]);
    symlinkSync('/etc/passwd', join(refs, 'link'));
    writeFileSync(Buffer.from(`${refs}/no\xff-utf8`, 'latin1'), `${sha}\n`);
    writeFileSync(join(run.project, '.git/index'), 'no index');
  });
  expect(await run.moved()).toEqual(
    ['refs/heads/-f', 'refs/heads/x‮y', 'refs/heads/ünï-ö'].map(
      (name) => `steps.1@1 ${name} created ${sha.slice(0, 7)}`,
    ),
  );
  expect(() => execFileSync('ls', [started], { stdio: 'ignore' })).toThrow('ls');
});

test('an index that leads to others is left out, and refs are recorded all the same', async () => {
  const run = await openRepositoryRun({ 'a.txt': 'one\n' });
  run.git('update-index', '--split-index');
  await run.step('steps.0@1', () => {
    run.write({ 'a.txt': 'two\n' });
    run.git('commit', '-qam', 'second');
  });
  expect((await run.moved()).map((line) => line.split(' ')[1])).toEqual(['refs/heads/main']);
});

test('a ref that moved while another run was at work may be of either', async () => {
  const run = await openRepositoryRun({ 'a.txt': 'one\n' });
  const other = run.beside();
  await run.begin('steps.0@1');
  await other.step('steps.0@1', () => run.git('tag', 'v1'));
  await run.end('steps.0@1');
  expect((await run.changes()).flatMap(({ refs }) => refs.map(({ others }) => others))).toEqual([
    [`steps.0@1 of ${other.handle}`],
  ]);
});

/** A changeset in repositories of all kinds: it is committed alone and as it was given, or nothing is, and all else stays. */
import { chmodSync, existsSync, lstatSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { JsonObject } from '../../../language/json.ts';
import { started, useStore } from '../../store/harness/opened.ts';
import { writtenProject, type WrittenProject } from '../harness/written-project.ts';
import { cyclingIn, digestOf, HANDLE, repositoryWith, toApply } from './cycling.ts';

const opened = useStore();
let project: WrittenProject;
const { step, approve, awaitingApproval } = cyclingIn(opened, () => project);
beforeAll(() => opened.store.events.append(HANDLE, [started(1)]));

const FILES = { 'a.txt': 'one\n', 'b.txt': 'b\n', 'mine.txt': 'committed\n' };
const operations = [
  { operation: 'MODIFY', path: 'a.txt', content: 'two\n' },
  { operation: 'DELETE', path: 'b.txt' },
  { operation: 'CREATE', path: 'c/d.txt', content: 'd\n' },
];

/** Its digest. */
async function written(changeset: JsonObject = { operations }): Promise<string> {
  await awaitingApproval();
  const approved = await approve(changeset);
  await step('changeset/apply', toApply(approved));
  return digestOf(approved);
}

const commit = (digest: string): Promise<JsonObject> => step('changeset/commit', { digest, message: 'Change a' });
const revert = (digest: string): Promise<JsonObject> => step('changeset/revert', { digest });
const last = (...format: string[]): string => project.git('log', '-1', ...format).trim();
const filesOf = (what: string): string[] => project.git('ls-tree', '-r', '--name-only', what).trim().split('\n');

/** Content and index of what a person is at. */
function atWork(): void {
  project.write({ 'mine.txt': 'not committed\n', 'staged.txt': 'staged\n', 'new.txt': 'new\n' });
  project.git('add', 'staged.txt');
}
const ofPerson = (): string => project.git('status', '--porcelain', '--', 'mine.txt', 'staged.txt', 'new.txt');
const AT_WORK = ' M mine.txt\nA  staged.txt\n?? new.txt\n';

describe('is committed alone', () => {
  test('beside what a person has changed and staged', async () => {
    project = await repositoryWith(FILES);
    atWork();
    expect(await commit(await written())).toMatchObject({ committed: true, why: null });
    expect(filesOf('HEAD')).toEqual(['a.txt', 'c/d.txt', 'mine.txt']);
    expect(project.git('show', '--format=', '--name-only', 'HEAD').trim().split('\n')).toEqual([
      'a.txt',
      'b.txt',
      'c/d.txt',
    ]);
    expect(project.git('show', 'HEAD:mine.txt')).toBe('committed\n');
    expect(ofPerson()).toBe(AT_WORK);
  });

  test('under names with spaces, quotes and letters of all kinds', async () => {
    const names = ['a b.txt', 'a"b.txt', 'größe.txt', '-x.txt', '*.txt'];
    project = await repositoryWith(Object.fromEntries(names.map((name) => [name, 'one\n'])));
    await commit(await written({ operations: names.map((path) => ({ operation: 'DELETE', path })) }));
    expect(project.git('ls-tree', '-r', '--name-only', 'HEAD')).toBe('');
  });

  test('where there is no commit yet', async () => {
    project = await writtenProject(FILES);
    project.git('init', '-q', '-b', 'main');
    project.git('config', 'user.name', 'Tester');
    project.git('config', 'user.email', 'tester@example.org');
    expect(await commit(await written())).toMatchObject({ committed: true });
    expect(filesOf('HEAD')).toEqual(['a.txt', 'c/d.txt']);
  });

  test('on a detached head, which stays one', async () => {
    project = await repositoryWith(FILES);
    project.git('checkout', '-q', '--detach');
    const main = project.git('rev-parse', 'main');
    const { commit: made } = await commit(await written());
    expect(project.git('rev-parse', 'HEAD').trim()).toBe(made);
    expect(project.git('rev-parse', 'main')).toBe(main);
    expect(() => project.git('symbolic-ref', '-q', 'HEAD')).toThrow();
  });

  test('with a new file that is left out of the repository, since a person approved it', async () => {
    project = await repositoryWith(FILES);
    project.write({ '.git/info/exclude': 'c/\n' });
    const news = ['c/d.txt', 'e.txt'].map((path) => ({ operation: 'CREATE', path, content: 'new\n' }));
    expect(await commit(await written({ operations: news }))).toMatchObject({ committed: true, why: null });
    expect(filesOf('HEAD')).toEqual(['a.txt', 'b.txt', 'c/d.txt', 'e.txt', 'mine.txt']);
    expect(project.git('status', '--porcelain')).toBe('');
  });

  test('as it was approved, in place of what was staged of the same file', async () => {
    project = await repositoryWith(FILES);
    project.write({ 'a.txt': 'staged\n' });
    project.git('add', 'a.txt');
    await commit(await written());
    expect(project.git('show', 'HEAD:a.txt')).toBe('two\n');
    expect(project.git('status', '--porcelain')).toBe('');
  });

  test('once, however often it is asked for', async () => {
    project = await repositoryWith(FILES);
    const digest = await written();
    const first = await commit(digest);
    expect(await commit(digest)).toEqual(first);
    expect(project.git('rev-list', '--count', 'HEAD').trim()).toBe('2');
  });

  test('with CRLF, modes and links as they were given', async () => {
    project = await repositoryWith({ ...FILES, 'run.sh': 'echo\n' });
    symlinkSync('a.txt', join(project.project, 'link'));
    project.git('add', 'link');
    project.git('commit', '-q', '-m', 'link');
    project.git('config', 'core.autocrlf', 'false');
    const digest = await written({
      operations: [
        { operation: 'MODIFY', path: 'a.txt', content: 'one\r\ntwo\r\n' },
        { operation: 'MODIFY', path: 'run.sh', mode: '100755' },
        { operation: 'MODIFY', path: 'link', content: 'b.txt' },
      ],
    });
    await commit(digest);
    expect(project.git('show', 'HEAD:a.txt')).toBe('one\r\ntwo\r\n');
    expect(project.git('ls-tree', 'HEAD', 'run.sh', 'link').replaceAll(/ blob \w+/g, '')).toBe(
      '120000\tlink\n100755\trun.sh\n',
    );
    expect(project.git('show', 'HEAD:link')).toBe('b.txt');
  });
});

test('in no repository it is written and taken back, and a commit says that there is none', async () => {
  project = await writtenProject(FILES);
  const digest = await written();
  expect(await commit(digest)).toEqual({ committed: false, commit: null, why: 'the project is in no git repository' });
  expect(project.everything()).toEqual(['a.txt two\n', 'c/d.txt d\n', 'mine.txt committed\n']);
});

/** Which `does` something before it lets the commit be. */
function hook(name: string, does: string): void {
  const file = join(project.project, '.git', 'hooks', name);
  mkdirSync(join(project.project, '.git', 'hooks'), { recursive: true });
  writeFileSync(file, `#!/bin/sh\n${does}\n`);
  chmodSync(file, 0o755);
}

describe('is not committed, and taken back with nothing lost,', () => {
  test.each(['pre-commit', 'commit-msg'])('where the hook %s fails', async (name) => {
    project = await repositoryWith(FILES);
    hook(name, 'echo "not today" >&2\nexit 1');
    atWork();
    const head = last('--format=%H');
    const digest = await written();
    await expect(commit(digest)).rejects.toMatchObject({
      code: 'CHANGESET_NOT_COMMITTED',
      message: expect.stringContaining('not today') as string,
    });
    expect(last('--format=%H')).toBe(head);
    expect(await revert(digest)).toEqual({ reverted: true, left: [] });
    expect(project.git('status', '--porcelain')).toBe(AT_WORK);
    expect(project.read('a.txt')).toBe('one\n');
  });

  test('where the step is cancelled while a hook is at work', async () => {
    project = await repositoryWith(FILES);
    hook('pre-commit', 'touch begun\nexec sleep 60');
    atWork();
    const digest = await written();
    const cancelled = new AbortController();
    const committing = step('changeset/commit', { digest, message: 'Change a' }, { signal: cancelled.signal });
    await vi.waitUntil(() => existsSync(join(project.project, 'begun')), { timeout: 20_000 });
    cancelled.abort();
    await expect(committing).rejects.toThrow();
    rmSync(join(project.project, 'begun'));
    expect(await revert(digest)).toEqual({ reverted: true, left: [] });
    expect(project.git('status', '--porcelain')).toBe(AT_WORK);
  });

  test('where a merge began after it was written', async () => {
    project = await repositoryWith(FILES);
    const digest = await written();
    conflict();
    await expect(commit(digest)).rejects.toMatchObject({
      code: 'CHANGESET_NOT_COMMITTED',
      message: expect.stringContaining('merge') as string,
    });
    expect(await revert(digest)).toEqual({ reverted: true, left: [] });
    expect(project.git('status', '--porcelain')).toBe('AA merged.txt\n');
  });
});

/** A merge that a person has to end. */
function conflict(): void {
  const made = (name: string): void => {
    project.write({ 'merged.txt': `of ${name}\n` });
    project.git('add', 'merged.txt');
    project.git('commit', '-qm', name);
  };
  project.git('checkout', '-q', '-b', 'other');
  made('other');
  project.git('checkout', '-q', 'main');
  made('main');
  expect(() => project.git('merge', 'other')).toThrow();
}

test('where a merge began after the approval nothing is written', async () => {
  project = await repositoryWith(FILES);
  await awaitingApproval();
  const approved = await approve({ operations });
  conflict();
  const before = project.everything();
  await expect(step('changeset/apply', toApply(approved))).rejects.toMatchObject({
    code: 'CHANGESET_STALE',
    message: expect.stringContaining('a merge is under way') as string,
  });
  expect(project.everything()).toEqual(before);
});

test('a submodule is left alone, and no file of it is changed', async () => {
  const inner = await repositoryWith({ 'in.txt': 'in\n' });
  project = await repositoryWith(FILES);
  project.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.project, 'module');
  project.git('commit', '-q', '-m', 'module');
  const inside = { operations: [{ operation: 'MODIFY', path: 'module/in.txt', content: 'out\n' }] };
  await expect(step('changeset/check', inside)).rejects.toMatchObject({
    code: 'CHANGESET_REFUSED',
    details: { problems: [{ path: 'module/in.txt', why: expect.stringContaining('another repository') as string }] },
  });
  expect(await commit(await written())).toMatchObject({ committed: true });
  expect(project.git('submodule', 'status')).toMatch(/^ \w+ module/);
  expect(lstatSync(join(project.project, 'module')).isDirectory()).toBe(true);
  expect(existsSync(join(project.project, 'module', 'in.txt'))).toBe(true);
});

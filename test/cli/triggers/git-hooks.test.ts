/** Hooks in real repositories: git runs them, and a program in place of ours writes down what it was called with. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { installHooks, removeHooks, type HookCommand } from '../../../client/triggers/git-hooks.ts';

let folder: string;
let project: string;
let command: HookCommand;

const git = (...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', ...args], {
    cwd: project,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
const hook = (name: string): string => join(project, '.git', 'hooks', name);

function commit(message: string): string {
  git('commit', '--allow-empty', '-qm', message);
  return git('rev-parse', 'HEAD').trim();
}

/** Hooks run in the background. */
async function calls(count: number): Promise<string[]> {
  const file = join(folder, 'calls');
  for (let turn = 0; turn < 100; turn += 1) {
    const lines = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
    if (lines.length >= count) return lines;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`no ${count} calls`);
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sentinel-hooks-'));
  project = join(folder, "Ada's project");
  mkdirSync(project);
  const program = join(folder, 'the program');
  writeFileSync(program, `#!/bin/sh\n{ printf '%s|' "$SENTINEL_HOME" "$@"; echo; } >> '${folder}/calls'\n`);
  chmodSync(program, 0o755);
  command = { program, nodeFolder: '/nowhere', home: null };
  git('init', '-q', '-b', 'main');
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a commit is published, with what it says, once by its id', async () => {
  const reports = await installHooks(project, { ...command, home: join(folder, 'home') });
  expect(reports.map(({ result }) => result)).toEqual(['installed', 'installed']);
  const sha = commit('fix "it" for $HOME');
  expect(await calls(1)).toEqual([
    [
      join(folder, 'home'),
      'emit',
      'git:commit',
      '--if-up',
      '--project',
      project,
      '--id',
      sha,
      '--text',
      `commit=${sha}`,
      '--text',
      'branch=main',
      '--text',
      'subject=fix "it" for $HOME',
      '',
    ].join('|'),
  ]);
});

test('a push is published, and a hook that was there still reads what git tells it', async () => {
  const before = `#!/bin/sh -e\ncat > '${folder}/refs'\nexit 0\n`;
  writeFileSync(hook('pre-push'), before);
  await installHooks(project, command);
  await installHooks(project, command);
  const remote = join(folder, 'remote');
  execFileSync('git', ['init', '-q', '--bare', remote]);
  const sha = commit('first');
  git('remote', 'add', 'origin', remote);
  git('push', '-q', 'origin', 'main');
  const pushed = (await calls(2)).find((line) => line.includes('git:push')) ?? '';
  expect(pushed).toBe(
    [
      '',
      'emit',
      'git:push',
      '--if-up',
      '--project',
      project,
      '--text',
      `commit=${sha}`,
      '--text',
      'branch=main',
      '--text',
      'remote=origin',
      '',
    ].join('|'),
  );
  expect(readFileSync(join(folder, 'refs'), 'utf8')).toContain(`refs/heads/main ${sha}`);
  expect(readFileSync(hook('pre-push'), 'utf8').match(/>>> sentinel/g)).toHaveLength(1);
  await removeHooks(project);
  expect(readFileSync(hook('pre-push'), 'utf8')).toBe(before);
  expect(existsSync(hook('post-commit'))).toBe(false);
  expect((await removeHooks(project)).map(({ result }) => result)).toEqual(['absent', 'absent']);
});

test('a hook may run a program that fails or is gone: git does not mind', async () => {
  await installHooks(project, { ...command, program: '/nowhere/sentinel' });
  commit('all the same');
  expect(statSync(hook('post-commit')).mode & 0o111).not.toBe(0);
});

test('a hook without a first line keeps its text', async () => {
  writeFileSync(hook('post-commit'), 'echo hello\n');
  await installHooks(project, command);
  expect(readFileSync(hook('post-commit'), 'utf8')).toMatch(/<<< sentinel\necho hello\n$/);
  await removeHooks(project);
  expect(readFileSync(hook('post-commit'), 'utf8')).toBe('echo hello\n');
});

test('a hook that is no shell script is left alone, and the remedy is told', async () => {
  const script = '#!/usr/bin/env python3\nprint(1)\n';
  writeFileSync(hook('post-commit'), script);
  const [report] = await installHooks(project, command);
  expect(report).toMatchObject({
    result: 'refused',
    reason: expect.stringContaining('emit git:commit --project') as string,
  });
  expect(readFileSync(hook('post-commit'), 'utf8')).toBe(script);
});

test('a folder in no repository, and hooks that other repositories share, are refused', async () => {
  await expect(installHooks(folder, command)).rejects.toThrow(/is not in a git repository/);
  mkdirSync(join(folder, 'shared'));
  git('config', 'core.hooksPath', join(folder, 'shared'));
  await expect(installHooks(project, command)).rejects.toThrow(/which other repositories share/);
  git('config', 'core.hooksPath', '.husky');
  expect((await installHooks(project, command))[0]?.file).toBe(join(project, '.husky', 'post-commit'));
});

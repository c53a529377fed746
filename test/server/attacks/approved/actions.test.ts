/**
 * A filter, "commit" and "undo" are names for other actions: the question shows what they come to, and only that is done.
 * In each case somebody changes what they mean between the question and the answer; beside it stands the same approval
 * of what was left alone.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Json } from '../../../../language/json.ts';
import type { Step } from '../../../../language/model.ts';
import { create, once, shell } from '../../harness/definitions.ts';
import { Harness } from '../../harness/harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
  await git('init', '--quiet', '--initial-branch=main');
  await git('config', 'user.name', 'ada');
  await git('config', 'user.email', 'ada@example.com');
  writeFileSync(join(harness.project, 'first.txt'), 'first');
  await git('add', 'first.txt');
  await git('commit', '--quiet', '--message=first');
  await harness.startWorker({ SENTINEL_PROJECT: harness.project });
});
afterAll(() => harness.close());

const git = async (...args: string[]): Promise<string> =>
  (await execa('git', args, { cwd: harness.project })).stdout.trim();
const put = (file: string, text: string): void => writeFileSync(join(harness.project, file), text);
const command = (name: string, params: { [name: string]: Json }): Step => ({ type: 'command', command: name, params });

interface Case {
  /** Makes what the action is about, under a name of its own. */
  prepare: (name: string) => Promise<void> | void;
  steps: (name: string) => Step[];
  /** What the question has to show. */
  shows: (name: string) => string;
  change: (name: string) => Promise<unknown> | void;
  isDone: (name: string) => Promise<boolean> | boolean;
}

const added = async (name: string, n: number): Promise<void> => {
  await harness.run(once(`adds-${name}-${n}`, [create(name, { n, kind: 'old' })]));
};
const committed = async (name: string): Promise<boolean> => (await git('log', '--format=%s')).includes(name);

const CASES: Readonly<Record<string, Case>> = {
  'records that a filter deletes': {
    prepare: (name) => added(name, 1),
    steps: (name) => [command('data/delete', { collection: name, filter: { kind: 'old' } })],
    shows: () => 'records: 1',
    change: (name) => added(name, 2),
    isDone: async (name) => (await harness.rows(name)).length === 0,
  },
  'records that a filter updates': {
    prepare: (name) => added(name, 1),
    steps: (name) => [command('data/update', { collection: name, filter: { kind: 'old' }, data: { kind: 'new' } })],
    shows: () => 'records: 1',
    change: (name) => added(name, 2),
    isDone: async (name) => (await harness.rows(name)).every((row) => row['kind'] === 'new'),
  },
  'what is committed': {
    prepare: async (name) => {
      put(`${name}.txt`, 'shown');
      await git('add', `${name}.txt`);
    },
    steps: (name) => [command('code/git', { operation: 'commit', message: name })],
    shows: (name) => `${name}.txt`,
    change: async (name) => {
      put(`${name}.txt`, 'another');
      await git('add', `${name}.txt`);
    },
    isDone: committed,
  },
  'where it is pushed': {
    prepare: async (name) => {
      for (const where of [name, `${name}-other`]) await git('init', '--quiet', '--bare', `.git/${where}`);
      await git('remote', 'add', name, `.git/${name}`);
    },
    steps: (name) => [command('code/git', { operation: 'push', remote: name, branch: 'main' })],
    shows: (name) => `.git/${name}`,
    change: (name) => git('remote', 'set-url', name, `.git/${name}-other`),
    isDone: async (name) =>
      existsSync(join(harness.project, '.git', name, 'refs', 'heads', 'main')) ||
      existsSync(join(harness.project, '.git', `${name}-other`, 'refs', 'heads', 'main')),
  },
  'the branch that is deleted': {
    prepare: async (name) => void (await git('branch', name)),
    steps: (name) => [command('code/git', { operation: 'delete-branch', name })],
    shows: (name) => name,
    change: async (name) => {
      const tree = await git('rev-parse', 'main^{tree}');
      const other = await git('commit-tree', tree, '-p', 'main', '-m', 'work of others');
      await git('branch', '--force', name, other);
    },
    isDone: async (name) => !(await git('branch', '--format=%(refname:short)')).split('\n').includes(name),
  },
  'what is undone': {
    prepare: (name) => {
      mkdirSync(join(harness.project, name));
    },
    steps: (name) => [shell(`echo made > ${name}/made.txt; echo more > ${name}/more.txt`), command('code/undo', {})],
    shows: (name) => `removed: ${name}/made.txt`,
    change: (name) => put(`${name}/made.txt`, 'work of a person'),
    isDone: (name) => !existsSync(join(harness.project, name, 'more.txt')),
  },
};

async function asked(name: string, { prepare, steps, shows }: Case): Promise<void> {
  await prepare(name);
  const safety = { requireApproval: ['write', 'delete', 'network'] as const };
  await harness.start(once(name, steps(name), { safety: { requireApproval: [...safety.requireApproval] } }), {
    handle: name,
  });
  await harness.untilEvent(name, ({ type }) => type === 'asked');
  expect((await harness.command('inbox', 'show', name)).out).toContain(shows(name));
}

async function approve(name: string): Promise<void> {
  const { digest } = JSON.parse((await harness.command('inbox', 'show', name, '--json')).out) as { digest: string };
  expect(await harness.command('answer', name, 'approve', '--digest', digest)).toMatchObject({ code: 0 });
}

const nameOf = (prefix: string, what: string): string => `${prefix}-${what.replaceAll(' ', '-')}`;

test.each(Object.entries(CASES))('%s is shown, and what is left alone is done', async (what, one) => {
  const name = nameOf('kept', what);
  await asked(name, one);
  await approve(name);
  expect(await harness.result(name)).toMatchObject({ outcome: 'completed' });
  expect(await one.isDone(name)).toBe(true);
});

test.each(Object.entries(CASES))('%s changes between question and answer: nothing is done', async (what, one) => {
  const name = nameOf('moved', what);
  await asked(name, one);
  await one.change(name);
  await approve(name);
  expect(await harness.result(name)).toMatchObject({ outcome: 'failed', failure: { code: 'ACTION_CHANGED' } });
  expect(await one.isDone(name)).toBe(false);
  if (what === 'what is undone')
    expect(readFileSync(join(harness.project, name, 'made.txt'), 'utf8')).toBe('work of a person');
});

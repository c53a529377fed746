/** The commit of a changeset: its files alone, whatever else is changed or staged beside them. */
import { existsSync, lstatSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { defined } from '../../../language/defined.ts';
import type { Context } from '../../../operations/command.ts';
import { Failure } from '../../../world/failures/failures.ts';
import type { ChangesetRecord } from './record.ts';
import { isRepository } from './repository.ts';

export interface Committing {
  root: string;
  record: ChangesetRecord | null;
  digest: string;
  message: string;
}

export type Committed = {
  committed: boolean;
  commit: string | null;
  /** Where nothing was committed, or the index of git does not show it. */
  why: string | null;
};

/** By which a repeated attempt knows its commit. */
const trailer = (digest: string): string => `Sentinel-Changeset: ${digest}`;

interface Told {
  stdin?: string;
  /** In place of the repository's own. */
  index?: string;
}

type Git = (args: string[], told?: Told) => Promise<{ exitCode: number | null; stdout: string; output: string }>;

export async function commitFiles({ root, record, digest, message }: Committing, context: Context): Promise<Committed> {
  if (!isRepository(root)) return { committed: false, commit: null, why: 'the project is in no git repository' };
  const git: Git = (args, { stdin, index } = {}) =>
    context.spawn('git', {
      args: ['--literal-pathspecs', ...args],
      ...defined({ stdin, env: index === undefined ? undefined : { GIT_INDEX_FILE: index } }),
    });
  const last = await git(['log', '-1', '--format=%H%n%B']);
  const isDone = last.exitCode === 0 && last.stdout.includes(trailer(digest));
  if (!isDone && record?.digest !== digest)
    throw new Failure(
      'CHANGESET_NOT_APPROVED',
      'no changeset of that digest is applied, so there is nothing to commit',
    );
  const paths = record?.digest === digest ? record.files.map((file) => file.path) : [];
  if (!isDone) {
    const why = await committedApart(
      git,
      { root, paths, message: `${message.trim()}\n\n${trailer(digest)}\n` },
      context,
    );
    if (why !== null) return { committed: false, commit: null, why };
  }
  const commit = (await said(git, ['rev-parse', 'HEAD'])).trim();
  const { exitCode, output } =
    paths.length === 0 ? { exitCode: 0, output: '' } : await git(['reset', '-q', '--', ...paths]);
  const why = `the index of git does not show the commit; "git reset -- FILES" has it do so (${output.trim().slice(-500)})`;
  return { committed: true, commit, why: exitCode === 0 ? null : why };
}

interface Apart {
  root: string;
  paths: readonly string[];
  message: string;
}

/**
 * Commits by a copy of the index, so that whatever ends it leaves the repository's own as it is. Why nothing was
 * committed; null: it was.
 */
async function committedApart(git: Git, { root, paths, message }: Apart, context: Context): Promise<string | null> {
  const own = (await said(git, ['rev-parse', '--git-path', 'index'])).trimEnd();
  const index = `${resolve(root, own)}.sentinel`;
  const remove = (): void => {
    for (const file of [index, `${index}.lock`]) rmSync(file, { force: true });
  };
  remove();
  try {
    if (existsSync(resolve(root, own))) await copied(resolve(root, own), index, context);
    const { here, news } = await commitable(git, paths, { root, index });
    if (here.length === 0) return 'git knows none of the files';
    // Also what is left out of the repository: a person has approved exactly these.
    if (news.length > 0) await said(git, ['add', '--force', '--intent-to-add', '--', ...news], { index });
    const changed = await said(git, ['status', '--porcelain', '--', ...here], { index });
    if (changed === '') return 'the files are as they were committed';
    await said(git, ['commit', '--quiet', '--file=-', '--only', '--', ...here], { index, stdin: message });
    return null;
  } finally {
    remove();
  }
}

/** Within what holds the step in, since a link may stand there. */
async function copied(from: string, to: string, context: Context): Promise<void> {
  const { exitCode, output } = await context.spawn('cp', { args: ['--', from, to] });
  if (exitCode !== 0)
    throw new Failure('CHANGESET_NOT_COMMITTED', `the index of git cannot be copied: ${output.trim()}`);
}

/** Those that git knows or that are there, and of these the ones that it does not know yet. */
async function commitable(git: Git, paths: readonly string[], { root, index }: { root: string; index: string }) {
  // The output of a process of a step is text, in which no NUL ends a name.
  const listed = await said(git, ['-c', 'core.quotePath=false', 'ls-files', '--', ...paths], { index });
  const known = new Set(listed.split('\n').filter(Boolean).map(unquoted));
  const news = paths.filter(
    (path) => !known.has(path) && lstatSync(join(root, path), { throwIfNoEntry: false }) !== undefined,
  );
  return { here: paths.filter((path) => known.has(path) || news.includes(path)), news };
}

/** Git quotes a name with a quote in it; others that it would quote are in no changeset. */
const unquoted = (line: string): string => (line.startsWith('"') ? (JSON.parse(line) as string) : line);

async function said(git: Git, args: string[], told: Told = {}): Promise<string> {
  const { exitCode, stdout, output } = await git(args, told);
  if (exitCode === 0) return stdout;
  throw new Failure('CHANGESET_NOT_COMMITTED', `git did not commit the changeset: ${output.trim().slice(-2_000)}`);
}

/**
 * Git on a repository that may be hostile, in runs that are `readonly` or `sandboxed`.
 *
 * - G1 Of its configuration git sees a list of settings that start nothing and lead nowhere, and after them
 *      our own: no hooks, no monitor, no filters, no drivers, no signing programs, no submodules, no network.
 * - G2 A repository is found by us: `.git` of the project, or for `readonly` of a folder around it. What a
 *      run could have put there (links, borrowed objects, a `.git` file that leads elsewhere) is refused.
 * - G3 `readonly`: git reads through a folder of our own in which the repository's data are linked, with that
 *      configuration. `sandboxed`: git runs in the sandbox, and that configuration lies over the repository's.
 */
import { existsSync, lstatSync, readdirSync, realpathSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { Failure } from '../../failures/failures.ts';
import {
  findHelper,
  helperPath,
  isBelow,
  realOf,
  runHelper,
  gitVariables,
} from '../../own-programs/helper-programs.ts';
import { plainText } from '../../files/plain-file.ts';
import { refuseStrange } from './whole-repository.ts';

export interface Repository {
  /** What lies beside the work tree: HEAD, index. */
  gitFolder: string;
  /** What all its work trees share: objects, refs, configuration. */
  commonFolder: string;
  workTree: string;
}

const FOLDERS = ['refs', 'objects', 'logs', 'reftable'];
const DATA = [...FOLDERS, 'packed-refs', 'shallow'];
const READ = { folders: [...FOLDERS, 'info'], single: ['packed-refs', 'shallow', 'HEAD', 'index', 'config'] };

/** Settings that only say how data are read and shown. */
const HARMLESS =
  /^(?:core\.(?:filemode|ignorecase|symlinks|autocrlf|eol|safecrlf|quotepath|precomposeunicode|abbrev|sparsecheckout|sparsecheckoutcone|trustctime|checkstat|commentchar)|(?:user|author|committer)\.(?:name|email)|i18n\.(?:commitencoding|logoutputencoding)|diff\.(?:algorithm|renames|renamelimit|context|noprefix|mnemonicprefix)|log\.date|branch\..+\.(?:remote|merge)|remote\..+\.fetch)$/i;

const OURS: readonly (readonly [string, string])[] = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['core.attributesFile', '/dev/null'],
  ['core.excludesFile', '/dev/null'],
  ['gpg.program', 'false'],
  ['gpg.ssh.program', 'false'],
  ['gpg.x509.program', 'false'],
  ['commit.gpgSign', 'false'],
  ['log.showSignature', 'false'],
  ['diff.ignoreSubmodules', 'all'],
  ['submodule.recurse', 'false'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['protocol.allow', 'never'],
];

export function gitProgram(project: string): string {
  const found = findHelper('git', helperPath(realpathSync(project)));
  if (found === null) throw gitFailure('git is not on the PATH of the worker; install it');
  return found;
}

const gitFailure = (finding: string): Failure => new Failure('GIT_FAILED', finding);

/** The repository that a run may use: in `sandboxed` only one that lies in the project. */
export async function findRepository(project: string, mode: 'readonly' | 'sandboxed'): Promise<Repository> {
  const root = realpathSync(project);
  for (let at = root; ; at = dirname(at)) {
    const found = lstatSync(join(at, '.git'), { throwIfNoEntry: false });
    if (found !== undefined) return checked(repositoryAt(at, found.isDirectory()), root, mode);
    if (mode === 'sandboxed' || at === dirname(at)) break;
  }
  const where = mode === 'sandboxed' ? 'and a sandboxed run sees nothing outside it' : 'nor around it';
  throw gitFailure(`there is no git repository in the project ${project}, ${where}; make one with "git init"`);
}

function repositoryAt(workTree: string, isFolder: boolean): Repository {
  const place = join(workTree, '.git');
  if (isFolder) return { gitFolder: place, commonFolder: commonOf(place), workTree };
  const named = /^gitdir: (.+)/.exec(plainText(place) ?? '')?.[1]?.trim();
  const gitFolder = named === undefined ? null : resolve(workTree, named);
  if (gitFolder === null || !existsSync(gitFolder)) throw gitFailure(`${place} leads to no repository; repair it`);
  // A work tree that a repository knows is named there; what a run wrote into its `.git` is not.
  const back = join(gitFolder, 'gitdir');
  const isKnown = existsSync(back) && realOf((plainText(back) ?? '').trim()) === realOf(place);
  if (!isKnown && !isBelow(realpathSync(gitFolder), workTree))
    throw gitFailure(`${place} leads to ${gitFolder}, which does not know this work tree; use "mode": "full" for it`);
  return { gitFolder, commonFolder: commonOf(gitFolder), workTree };
}

function commonOf(gitFolder: string): string {
  const common = join(gitFolder, 'commondir');
  return existsSync(common) ? resolve(gitFolder, (plainText(common) ?? '').trim()) : gitFolder;
}

/** In the project a run may have made it: then it keeps all that it has within itself. */
async function checked(repository: Repository, root: string, mode: 'readonly' | 'sandboxed'): Promise<Repository> {
  const { gitFolder, commonFolder } = repository;
  const isOurs = isBelow(realpathSync(gitFolder), root);
  if (!isOurs && mode === 'sandboxed')
    throw gitFailure(`the repository ${gitFolder} lies outside the project, where a sandboxed run sees nothing`);
  if (!isOurs) return repository;
  if (realOf(commonFolder) !== gitFolder)
    throw gitFailure(
      `${gitFolder} leads to ${commonFolder}; a "${mode}" run uses a repository that is whole by itself`,
    );
  const single = [...READ.single, ...readdirSync(gitFolder).filter(isPlainData)];
  await refuseStrange(gitFolder, { ...READ, single }, root);
  return repository;
}

/** What git is told in place of the repository's own configuration: a file, and variables. */
export interface SafeConfiguration {
  file: string;
  variables: Record<string, string>;
}

/** `isWriting`: content that a filter would change is then refused, because the filter does not run. */
export async function safeConfiguration(
  { commonFolder, workTree }: Repository,
  { isWriting }: { isWriting: boolean },
): Promise<SafeConfiguration> {
  const program = gitProgram(workTree);
  const home = { HOME: process.env['HOME'] ?? '/nonexistent' };
  const list = async (from: string[], stdin = ''): Promise<[string, string][]> => {
    const args = ['config', ...from, '--list', '-z'];
    const { exitCode, stdout } = await runHelper(program, args, { cwd: '/', env: home, stdin });
    if (exitCode === undefined) throw gitFailure('git did not list the settings in time; try again');
    return stdout.split('\0').filter(Boolean).map(readSetting);
  };
  const own = await list(['--file', '-', '--no-includes'], configurationIn(commonFolder));
  const settings = [...(await list(['--global', '--includes'])), ...own];
  const filters = settings.flatMap(([name]) => /^filter\.(.+)\.(?:clean|process|required)$/.exec(name)?.[1] ?? []);
  const told = [
    ...settings.filter(([name]) => HARMLESS.test(name)),
    ...OURS,
    ...(isWriting ? filters.map((name): [string, string] => [`filter.${name}.required`, 'true']) : []),
  ];
  return {
    file: formatOf(own),
    variables: {
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_ATTR_NOSYSTEM: '1',
      GIT_NO_LAZY_FETCH: '1',
      ...gitVariables(told),
    },
  };
}

/** As it is written; git would wait for a pipe. */
function configurationIn(commonFolder: string): string {
  const file = join(commonFolder, 'config');
  const text = existsSync(file) ? plainText(file) : '';
  if (text === null) throw gitFailure(`${file} is no file that can be read; repair it`);
  return text;
}

/** A setting without a value is true. */
function readSetting(text: string): [string, string] {
  const end = text.indexOf('\n');
  return end === -1 ? [text, 'true'] : [text.slice(0, end), text.slice(end + 1)];
}

/** How the repository is stored is read from its file alone. */
function formatOf(settings: readonly [string, string][]): string {
  const valueOf = (name: string): string | undefined => settings.findLast(([known]) => known === name)?.[1];
  const objects = valueOf('extensions.objectformat') === 'sha256' ? ['\tobjectFormat = sha256'] : [];
  const refs = valueOf('extensions.refstorage') === 'reftable' ? ['\trefStorage = reftable'] : [];
  const extensions = [...objects, ...refs];
  const version = extensions.length > 0 ? 1 : 0;
  return ['[core]', `\trepositoryformatversion = ${version}`, '\tbare = false', '[extensions]', ...extensions, ''].join(
    '\n',
  );
}

/** Calls `run` with the variables by which git reads the repository through a folder of ours. */
export async function withReadOnlyView<Result>(
  repository: Repository,
  run: (variables: Record<string, string>) => Promise<Result>,
): Promise<Result> {
  const { gitFolder, commonFolder, workTree } = repository;
  const { file, variables } = await safeConfiguration(repository, { isWriting: false });
  const view = await mkdtemp(join(tmpdir(), 'sentinel-git-'));
  try {
    await writeFile(join(view, 'config'), file);
    await writeFile(join(view, 'HEAD'), plainText(join(gitFolder, 'HEAD')) ?? '');
    const places = [
      ...DATA.map((name) => join(commonFolder, name)),
      ...readdirSync(gitFolder)
        .filter(isPlainData)
        .map((name) => join(gitFolder, name)),
    ];
    for (const place of places.filter((path) => existsSync(path))) await symlink(place, join(view, basename(place)));
    await mkdir(join(view, 'info'));
    for (const name of ['exclude', 'sparse-checkout'].filter((known) => existsSync(join(commonFolder, 'info', known))))
      await symlink(join(commonFolder, 'info', name), join(view, 'info', name));
    return await run({
      ...variables,
      GIT_DIR: view,
      GIT_WORK_TREE: workTree,
      GIT_INDEX_FILE: join(gitFolder, 'index'),
    });
  } finally {
    await rm(view, { recursive: true, force: true });
  }
}

/** Heads that git leaves beside HEAD, and parts of a split index. */
const isPlainData = (name: string): boolean => /^(?:[A-Z_]+_HEAD|sharedindex\.[0-9a-f]+)$/.test(name);

/** Calls `run` with what a sandbox needs for git to write the repository. */
export async function withSafeConfiguration<Result>(
  repository: Repository,
  run: (variables: Record<string, string>, sandbox: { folder: string; config: string }) => Promise<Result>,
): Promise<Result> {
  const { gitFolder, workTree } = repository;
  const { file, variables } = await safeConfiguration(repository, { isWriting: true });
  const folder = await mkdtemp(join(tmpdir(), 'sentinel-git-'));
  const config = join(folder, 'config');
  try {
    await writeFile(config, file);
    const places = { GIT_DIR: gitFolder, GIT_WORK_TREE: workTree };
    return await run({ ...variables, ...places }, { folder: gitFolder, config });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

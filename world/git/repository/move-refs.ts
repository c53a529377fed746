/**
 * Moves refs, HEAD, stashes and the index back, by git in the repository itself.
 *
 * - N1 No hook, monitor, filter or remote of the repository starts: our settings stand above its own.
 * - N2 Each is moved from where the undo saw it. Refs go in one transaction, which fails as a whole.
 * - N3 Of the index only entries that differ are written: the others keep what git knows of their files.
 */
import { gitProgram, safeConfiguration } from '../../confinement/repositories/git-repository.ts';
import { helperEnvironment, helperPath, runHelper } from '../../own-programs/helper-programs.ts';
import { CHECKPOINT_BOUNDS } from '../trees/bounds.ts';
import { COMMIT, HEAD, INDEX, STASH } from '../trees/entries.ts';
import { SYMLINK } from '../trees/files-in-place.ts';
import type { ShadowGit } from '../trees/shadow-git.ts';
import { type FileState, readBlobs } from '../trees/tree-diffs.ts';
import { type OwnRepository, ownRepository } from './find-own.ts';
import { type Stash, stashesIn, textsOf, valueOf } from './moved.ts';
import type { Move } from './plan-moves.ts';
import { RefReader } from './read-refs.ts';
import { stagedNow } from './record.ts';

type Git = (args: readonly string[], stdin?: string | Uint8Array) => Promise<string>;

const isFollowing = ({ target, current }: Move): boolean =>
  target?.mode === SYMLINK || (target === null && current?.mode === SYMLINK);

const isApart = ({ name }: Move): boolean => name === STASH || name === INDEX;

/** By name, why it was not moved; what is not named was. */
export async function moveRefs(
  shadow: ShadowGit,
  moves: readonly Move[],
  { handle }: { handle: string },
): Promise<Map<string, string>> {
  const left = new Map<string, string>();
  const found = ownRepository(shadow.project);
  if (found === null) return new Map(moves.map(({ name }) => [name, 'the project has no repository any more']));
  const git = await gitOf(found);
  const texts = await textsOf(
    shadow,
    moves.filter(({ name }) => name !== INDEX).flatMap(({ target, current }) => [target, current]),
  );
  const wanted = await withObjects(git, moves, texts, left);
  const message = `undo of ${handle}`;
  const of = (chosen: (move: Move) => boolean): Move[] => wanted.filter(chosen);
  const stages: [Move[], (some: readonly Move[]) => Promise<void>][] = [
    [of((move) => !isApart(move) && !isFollowing(move)), (some) => inTransaction(git, some, message)],
    [of((move) => !isApart(move) && isFollowing(move)), (some) => follow(git, found, some, { texts, message })],
    [of(({ name }) => name === STASH), (some) => putStashes(git, found, some, texts)],
    [of(({ name }) => name === INDEX), (some) => stage(git, shadow, found, some)],
  ];
  let trouble: string | null = null;
  for (const [some, act] of stages.filter(([{ length }]) => length > 0)) {
    try {
      if (trouble === null) await act(some);
    } catch (error) {
      trouble = error instanceof Error ? error.message : String(error);
    }
    if (trouble !== null) for (const { name } of some) left.set(name, trouble);
  }
  return left;
}

const movingMs = 60_000;

async function gitOf(found: OwnRepository): Promise<Git> {
  const { variables } = await safeConfiguration(found, { isWriting: false });
  const program = gitProgram(found.workTree);
  const env = {
    ...helperEnvironment(helperPath(found.workTree)),
    ...variables,
    GIT_DIR: found.gitFolder,
    GIT_WORK_TREE: found.workTree,
    GIT_TERMINAL_PROMPT: '0',
  };
  return async (args, stdin = '') => {
    const said = await runHelper(program, args, { cwd: found.workTree, env, stdin, timeoutMs: movingMs });
    if (said.exitCode === 0) return said.stdout;
    const why = said.stderr.trim().split('\n').at(-1) ?? '';
    throw new Error(said.exitCode === undefined ? `git ${args[0] ?? ''} took too long` : why);
  };
}

/** Git forgets commits that nothing leads to. */
async function withObjects(
  git: Git,
  moves: readonly Move[],
  texts: ReadonlyMap<string, string>,
  left: Map<string, string>,
): Promise<Move[]> {
  const objectsOf = ({ name, target }: Move): string[] => {
    if (target?.mode === COMMIT) return [target.blob];
    return name === STASH ? stashesOf(target, texts).map(({ object }) => object) : [];
  };
  const asked = [...new Set(moves.flatMap(objectsOf))];
  const said = asked.length === 0 ? '' : await git(['cat-file', '--batch-check'], `${asked.join('\n')}\n`);
  const gone = new Set(said.split('\n').flatMap((line) => (line.endsWith(' missing') ? [line.split(' ')[0]] : [])));
  return moves.filter((move) => {
    const missing = objectsOf(move).find((object) => gone.has(object));
    if (missing !== undefined) left.set(move.name, `git has no longer the commit ${missing}`);
    return missing === undefined;
  });
}

const objectOf = (state: FileState): string => (state?.mode === COMMIT ? state.blob : '');

const lineOf = ({ name, target, current }: Move): string => {
  if (target === null) return `option no-deref\0delete ${name}\0${objectOf(current)}\0`;
  if (current === null) return `option no-deref\0create ${name}\0${target.blob}\0`;
  return `option no-deref\0update ${name}\0${target.blob}\0${objectOf(current)}\0`;
};

async function inTransaction(git: Git, moves: readonly Move[], message: string): Promise<void> {
  const gone = moves.filter(({ target }) => target === null);
  const others = moves.filter(({ target }) => target !== null);
  // Git takes a ref for in the way of another below its name also where the same transaction deletes it.
  const isInTheWay = gone.some(({ name }) =>
    others.some((other) => other.name.startsWith(`${name}/`) || name.startsWith(`${other.name}/`)),
  );
  for (const some of isInTheWay ? [gone, others] : [moves])
    await git(['update-ref', '-m', message, '--stdin', '-z'], some.map(lineOf).join(''));
}

interface Said {
  texts: ReadonlyMap<string, string>;
  message: string;
}

/** HEAD on a branch, and other refs that only follow one. */
async function follow(git: Git, found: OwnRepository, moves: readonly Move[], { texts, message }: Said): Promise<void> {
  const { head, refs } = new RefReader().read(found);
  for (const { name, target, current } of moves) {
    const value = name === HEAD ? head : refs.get(name);
    const is = value === undefined ? null : 'object' in value ? value.object : value.follows;
    if (is !== valueOf(name, current, texts)) throw new Error(`${name} was moved during the undo`);
    const wanted = valueOf(name, target, texts);
    await git(wanted === null ? ['symbolic-ref', '-d', name] : ['symbolic-ref', '-m', message, name, wanted]);
  }
}

const stashesOf = (state: FileState, texts: ReadonlyMap<string, string>): Stash[] =>
  state === null ? [] : stashesIn(texts.get(state.blob) ?? '');

/** Those that both lists begin with stay. */
async function putStashes(
  git: Git,
  found: OwnRepository,
  moves: readonly Move[],
  texts: ReadonlyMap<string, string>,
): Promise<void> {
  for (const { target, current } of moves) {
    const [wanted, held] = [stashesOf(target, texts), stashesOf(current, texts)];
    const now = stashesIn(new RefReader().read(found).stashes ?? '');
    if (JSON.stringify(now) !== JSON.stringify(held)) throw new Error(`${STASH} was moved during the undo`);
    const differing = held.findIndex(({ object }, at) => wanted[at]?.object !== object);
    const kept = differing === -1 ? held.length : differing;
    if (kept === 0 && held.length > 0) await git(['update-ref', '-d', STASH, held.at(-1)?.object ?? '']);
    else
      for (let at = held.length; at > kept; at -= 1)
        await git(['reflog', 'delete', '--rewrite', '--updateref', `${STASH}@{0}`]);
    for (const { object, message } of wanted.slice(kept))
      await git(['update-ref', '--create-reflog', '-m', message, STASH, object]);
  }
}

async function stage(git: Git, shadow: ShadowGit, found: OwnRepository, moves: readonly Move[]): Promise<void> {
  for (const { target, current } of moves) {
    if (target === null || current === null) continue;
    const contents = await readBlobs(shadow, [target.blob, current.blob], CHECKPOINT_BOUNDS.stagedBytesMax);
    const [wanted, held] = [target, current].map(({ blob }) => entriesByPath(contents.get(blob)));
    if (wanted === undefined || held === undefined) continue;
    if ((await stagedNow(shadow, found)) !== current.blob) throw new Error('the index was changed during the undo');
    const lines = [...new Set([...held.keys(), ...wanted.keys()])]
      .filter((path) => held.get(path)?.join('\0') !== wanted.get(path)?.join('\0'))
      .flatMap((path) => [`0 ${'0'.repeat(40)}\t${path}`, ...(wanted.get(path) ?? [])]);
    await git(['update-index', '-z', '--index-info'], Buffer.from(`${lines.join('\0')}\0`, 'latin1'));
  }
}

/** Byte for byte. A path in conflict has several entries. */
function entriesByPath(content: Buffer | undefined): Map<string, string[]> {
  if (content === undefined) throw new Error('what was staged before is no longer kept');
  const found = new Map<string, string[]>();
  for (const line of content.toString('latin1').split('\0').filter(Boolean)) {
    const path = line.slice(line.indexOf('\t') + 1);
    found.set(path, [...(found.get(path) ?? []), line]);
  }
  return found;
}

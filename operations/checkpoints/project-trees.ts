/**
 * The state of a project as a git tree, one look after the other: what changed since the last look is added to
 * the index, and nothing else is read.
 *
 * Git finds by name what changed, and a name may lead out of the project while a process puts a link in the place
 * of a folder. So git never reads by name what it stores: it is given descriptors, each opened through no link.
 *
 * Left out: what `.gitignore` names, `.git` wherever it is, homes of Sentinel, `node_modules`, large files (they
 * are named), and names that are not UTF-8. Beside the files stands what moves in the repository of the project
 * (repository/record.ts). A repository inside the project is part of it, without its `.git`.
 */
import { closeSync, rmSync, statSync } from 'node:fs';
import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ProjectState } from '../../prisma/store/contract/checkpoint-contract.ts';
import { isBelow } from '../../world/own-programs/helper-programs.ts';
import { HOME_ID, isKnownHome } from '../../services/home/home-records.ts';
import { ownFolders } from '../../world/confinement/protected-places.ts';
import { ofRepositories, REPOSITORIES } from '../../world/confinement/repositories/repositories.ts';
import { CHECKPOINT_BOUNDS } from '../../world/git/trees/bounds.ts';
import { isNoFileAt, type Opened, openAt, seenAt, SYMLINK } from '../../world/git/trees/files-in-place.ts';
import { RECORD } from '../../world/git/trees/entries.ts';
import { RepositoryRecord } from '../../world/git/repository/record.ts';
import { KnownProject } from './known-project.ts';
import { isRefusedByGit } from './refused.ts';
import { GitTrouble, type ShadowGit, TooLarge } from '../../world/git/trees/shadow-git.ts';

/** Of any case: a project's own `.gitignore` cannot bring these back, because what is said here stands before it. */
const ALWAYS_LEFT_OUT = ['.[sS][eE][nN][tT][iI][nN][eE][lL]', '.sentinel.foreign-*', 'node_modules/', ...REPOSITORIES];

const dayMs = 86_400_000;

interface Listed {
  /** In the index, and not as it says. */
  changed: string[];
  gone: string[];
  others: string[];
}

interface Weighed {
  add: string[];
  remove: string[];
  large: Record<string, string>;
}

export class ProjectTrees {
  readonly git: ShadowGit;
  /** How often git looked, and how often what was known was enough. */
  readonly looks = { byGit: 0, fromKnown: 0, told: 0 };
  /** What had changed without a word of the system, which nobody relies on since. */
  hidden: readonly string[] = [];
  readonly #repository: RepositoryRecord;
  #tree: string | null = null;
  #looking: Promise<unknown> = Promise.resolve();
  /** Null: git has to look first. */
  #known: KnownProject | null = null;
  #isBehind = false;
  #unsureUntil = 0;
  #takenAt = 0;
  /** What was found without git, for its index. */
  #behind = new Map<string, string>();

  constructor(git: ShadowGit) {
    this.git = git;
    this.#repository = new RepositoryRecord(git);
  }

  /** Of all looks of this process at the project one at a time. Throws `GitTrouble`. */
  take(): Promise<ProjectState> {
    const look = this.#looking.then(() => this.#patiently());
    this.#looking = look.catch(() => undefined);
    return look;
  }

  /** While `work` runs nobody of this process looks. */
  alone<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#looking.then(work);
    this.#looking = done.catch(() => undefined);
    return done;
  }

  /** Whoever changes files while we look makes git stumble. */
  async #patiently(): Promise<ProjectState> {
    for (let tried = 1; ; tried += 1) {
      try {
        return await this.#look();
      } catch (error) {
        // What the index says may be half of it.
        this.#tree = null;
        this.#forget();
        this.#repository.forget();
        rmSync(`${this.git.index}.lock`, { force: true });
        if (!(error instanceof GitTrouble) || error instanceof TooLarge || tried >= CHECKPOINT_BOUNDS.tries)
          throw error;
        // An index that cannot be read is made anew from every file.
        if (tried === CHECKPOINT_BOUNDS.tries - 1) {
          this.#behind.clear();
          this.#isBehind = false;
          await this.git.forgetIndex();
        }
      }
    }
  }

  async #look(): Promise<ProjectState> {
    const takenAt = Date.now();
    const isOld = takenAt - this.#takenAt > CHECKPOINT_BOUNDS.knownMs;
    const state = (isOld ? null : await this.#lookFromKnown()) ?? (await this.#lookByGit());
    this.#takenAt = takenAt;
    await keepTree(this.git.place, state.tree);
    return state;
  }

  /** Null where it takes git to say what is there. */
  async #lookFromKnown(): Promise<ProjectState | null> {
    const isFirst = this.#known === null;
    const known = (this.#known ??= await this.#knownFromIndex());
    if (known === null) return null;
    const [isSure, news] = await Promise.all([known.look(), this.#repository.news()]);
    if (known.hidden.length > 0) this.hidden = known.hidden;
    if (!isSure) {
      if (isFirst) this.#unsureUntil = Date.now() + CHECKPOINT_BOUNDS.unsureMs;
      await known.flush();
      this.#forget();
      return null;
    }
    this.looks.fromKnown += 1;
    this.looks.told = known.told;
    this.#tree = await known.write(news.lines);
    this.#markBehind(known.lines.size > 0);
    this.#repository.settle(news);
    return { tree: this.#tree, large: known.large };
  }

  /** What is held in memory is what git would hold, or it is of no use. */
  async #knownFromIndex(): Promise<KnownProject | null> {
    if (this.#tree === null || process.platform !== 'linux' || Date.now() < this.#unsureUntil) return null;
    const homes = new Set(this.#homes().map((home) => home.slice(1)));
    const known = await KnownProject.of(this.git, { homes, mayWatch: this.hidden.length === 0 });
    if (known?.name === this.#tree) return known;
    known?.close();
    this.#unsureUntil = Date.now() + CHECKPOINT_BOUNDS.unsureMs;
    return null;
  }

  #forget(): void {
    for (const [path, line] of this.#known?.lines ?? []) this.#behind.set(path, line);
    this.#known?.close();
    this.#known = null;
  }

  /** Nobody looks at the project by this any more. */
  close(): void {
    this.#forget();
  }

  /** Of a name that was a file and is a folder now the file goes first. */
  async #catchUp(): Promise<void> {
    this.#forget();
    const lines = [...this.#behind.values()].toSorted(
      (a, b) => Number(b.startsWith('0 ')) - Number(a.startsWith('0 ')),
    );
    if (lines.length > 0) await this.#update(['-z', '--index-info'], lines);
    this.#behind.clear();
    this.#markBehind(false);
  }

  #markBehind(isBehind: boolean): void {
    if (this.#isBehind !== isBehind) this.git.isBehind = isBehind;
    this.#isBehind = isBehind;
  }

  async #lookByGit(): Promise<ProjectState> {
    this.looks.byGit += 1;
    await this.#catchUp();
    const [listed, news] = await Promise.all([this.#list(), this.#repository.news()]);
    if (listed.others.length > CHECKPOINT_BOUNDS.filesMax)
      throw new TooLarge(`the project has more than ${CHECKPOINT_BOUNDS.filesMax} files that no .gitignore names`);
    const { add, remove, large } = await weigh(this.git.project, listed);
    if (remove.length > 0) await this.#update(['--force-remove', '-z', '--stdin'], remove);
    if (add.length > 0) await this.#add(add);
    if (news.lines.length > 0) await this.#update(['-z', '--index-info'], news.lines);
    this.#repository.settle(news);
    this.#tree ??= (await this.git.text(['write-tree'])).trim();
    return { tree: this.#tree, large };
  }

  async #add(paths: readonly string[]): Promise<void> {
    const entries: string[] = [];
    const { filesOpen } = CHECKPOINT_BOUNDS;
    for (let from = 0; from < paths.length; from += filesOpen)
      entries.push(...(await this.#store(paths.slice(from, from + filesOpen))));
    await this.#update(['-z', '--index-info'], entries);
    // Such an entry does not say yet what its file looks like, and the file would be read in each look. Git finds
    // it by name and compares: where the content is another, the entry stays as it is.
    await this.git.run(['update-index', '-q', '--refresh']);
  }

  /** What is there by now, as entries of the index. */
  async #store(paths: readonly string[]): Promise<string[]> {
    const opened: (Opened & { path: string })[] = [];
    try {
      for (const path of paths) {
        const one = openAt(this.git.project, path, { drafts: this.git.place });
        if (one !== null) opened.push({ ...one, path });
      }
      if (opened.length === 0) return [];
      const blobs = await this.git.store(opened.map(({ descriptor }) => descriptor));
      return opened.map(({ mode, path }, at) => `${mode} ${blobs[at] ?? ''}\t${path}`);
    } finally {
      for (const { descriptor } of opened) closeSync(descriptor);
    }
  }

  async #update(how: readonly string[], lines: readonly string[]): Promise<void> {
    this.#tree = null;
    const { filesAtOnce } = CHECKPOINT_BOUNDS;
    for (let from = 0; from < lines.length; from += filesAtOnce) {
      const some = lines.slice(from, from + filesAtOnce);
      await this.git.run(['update-index', ...how], { stdin: `${some.join('\0')}\0` });
    }
  }

  async #list(): Promise<Listed> {
    const [known, others] = await Promise.all([
      this.git.hasIndex
        ? this.git.run(['diff-files', '-z', '--name-status'], { bytesMax: CHECKPOINT_BOUNDS.listBytesMax })
        : Buffer.alloc(0),
      this.#others(this.git.project, this.#homes(), this.git.index),
    ]);
    const fields = fieldsOf(known);
    const pairs = Array.from({ length: fields.length >> 1 }, (_, at) => [fields[2 * at], fields[2 * at + 1]] as const);
    const named = (wanted: boolean): string[] =>
      pairs.flatMap(([status, path]) =>
        (status === 'D') === wanted && path !== undefined && !path.startsWith(RECORD) ? [path] : [],
      );
    return { gone: named(true), changed: named(false), others };
  }

  /** A home that lies in the project under a name of its own. */
  #homes(): string[] {
    const homes = [dirname(dirname(this.git.place)), ...ownFolders()];
    return homes
      .filter((home) => home !== this.git.project && isBelow(home, this.git.project))
      .map((home) => `/${relative(this.git.project, home).split(sep).join('/')}`);
  }

  /** What the index does not know. Git stops at a repository inside the project, so that one is asked by itself. */
  async #others(folder: string, homes: readonly string[], index: string): Promise<string[]> {
    const out = [...ALWAYS_LEFT_OUT, ...homes.map((home) => home.replaceAll(/[*?[\]\\ ]/g, String.raw`\$&`))];
    const listed = await this.git.run(
      ['ls-files', '-z', '--others', '--exclude-per-directory=.gitignore', ...out.map((one) => `--exclude=${one}`)],
      { workTree: folder, index, bytesMax: CHECKPOINT_BOUNDS.listBytesMax },
    );
    const found = fieldsOf(listed);
    const marked = found
      .filter((path) => path.endsWith(`/${HOME_ID}`) && isKnownHome(join(folder, dirname(path))))
      .map((path) => `${dirname(path)}/`);
    const isOfGit = ofRepositories(folder, found);
    const kept = found.filter((path) => !marked.some((home) => path.startsWith(home)) && !isOfGit(path));
    const inner = kept.filter((path) => path.endsWith('/'));
    const plain = kept.filter((path) => !path.endsWith('/'));
    for (const nested of inner) {
      const below = await this.#others(join(folder, nested), [], join(this.git.place, 'indexes', 'none'));
      for (const path of below) plain.push(`${nested}${path}`);
    }
    return plain;
  }
}

/** A name that is not UTF-8 has no place in a row or an answer. */
const fieldsOf = (output: Buffer): string[] =>
  output
    .toString('utf8')
    .split('\0')
    .filter((field) => field !== '' && !field.includes('\uFFFD'));

/** What goes in, what comes out, and what is too large. */
async function weigh(project: string, { changed, gone, others }: Listed): Promise<Weighed> {
  const weighed: Weighed = { add: [], remove: [...gone], large: {} };
  let [bytes, large, seen] = [0, 0, 0];
  const known = new Set(changed);
  for (const path of [...changed, ...others]) {
    seen += 1;
    // The worker has other things to do as well.
    if (seen % CHECKPOINT_BOUNDS.filesOpen === 0) await nextTurn();
    const found = seenAt(project, path);
    // Git takes what stands there for a file that has changed.
    if (found === null && known.has(path) && isNoFileAt(project, path)) weighed.remove.push(path);
    if (found === null || isRefusedByGit(path, found.mode)) continue;
    if (found.mode !== SYMLINK && found.size > CHECKPOINT_BOUNDS.fileBytesMax) {
      large += 1;
      if (large <= CHECKPOINT_BOUNDS.largeMax) weighed.large[path] = `${found.size} ${Math.round(found.mtimeMs)}`;
      if (known.has(path)) weighed.remove.push(path);
    } else {
      bytes += found.size;
      weighed.add.push(path);
    }
  }
  if (bytes > CHECKPOINT_BOUNDS.newBytesMax)
    throw new TooLarge(
      `the project has more than ${CHECKPOINT_BOUNDS.newBytesMax / 1024 / 1024} MiB that no .gitignore names`,
    );
  return weighed;
}

/** A reference by which the tree outlives git's clean-up; its time says when the tree was last taken. */
export async function keepTree(place: string, tree: string): Promise<void> {
  const file = join(place, 'refs', 'checkpoints', tree.slice(0, 2), tree.slice(2));
  const at = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
  if (at !== undefined && Date.now() - at < dayMs) return;
  if (at === undefined) {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, `${tree}\n`);
  } else {
    const now = new Date();
    await utimes(file, now, now);
  }
}

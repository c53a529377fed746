/**
 * A git folder of our own beside a project: its trees are states of the project.
 *
 * - S1 Git never opens the project's own repository: not its configuration, refs or objects. What moves in it is read
 *      by us (repository/), but for a list of what is staged, which git reads from a descriptor.
 * - S2 Git is told everything by us: no settings of a person or the system, no hooks, no monitor. Files go in
 *      and come out byte for byte, because our attributes stand before those of the project: no filter, no
 *      change of line ends.
 * - S3 Each process has an index of its own, so two workers on one project do not wait for each other.
 */
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { gitProgram } from '../../confinement/repositories/git-repository.ts';
import { helperEnvironment, helperPath } from '../../own-programs/helper-programs.ts';
import { CHECKPOINT_BOUNDS } from './bounds.ts';
import { wakePipes } from '../../files/wake-pipes.ts';

/** Why no state can be taken, as the second half of a sentence; or what git said. */
export class GitTrouble extends Error {
  override readonly name: string = 'GitTrouble';
}

/** Another try would find the same. */
export class TooLarge extends GitTrouble {
  override readonly name = 'TooLarge';
}

export interface GitCall {
  stdin?: Buffer | string;
  /** What git has open as well, from 3 on. */
  descriptors?: readonly number[];
  /** The work tree; the project unless stated. */
  workTree?: string;
  index?: string;
  /** Paths are patterns, and not names. */
  isPatterned?: boolean;
  bytesMax?: number;
  /** Exits that are no trouble; 0 unless stated. */
  codes?: readonly number[];
  /** After so many bytes the rest is not waited for. */
  cutAt?: number;
}

const SETTINGS = `[core]
	repositoryformatversion = 0
	filemode = true
	bare = false
	symlinks = true
	ignorecase = ${String(process.platform === 'darwin')}
	precomposeunicode = ${String(process.platform === 'darwin')}
	autocrlf = false
	safecrlf = false
	hooksPath = /dev/null
	fsmonitor = false
	attributesFile = /dev/null
	excludesFile = /dev/null
	quotePath = false
	protectNTFS = false
	protectHFS = false
	looseCompression = 1
[gc]
	auto = 0
	packRefs = false
	reflogExpire = never
[maintenance]
	auto = false
`;

/** Before every attribute of the project: content stays as it is. */
const ATTRIBUTES = '* -text !eol !ident !filter !diff !merge !working-tree-encoding !export-subst\n';

/** That the index of that name is behind. */
export const behindMark = (place: string, index: string): string => join(place, 'behind', index);

/** The folder of a project in a home of Sentinel. */
export const placeOf = (home: string, project: string): string => {
  const digest = createHash('sha256').update(project).digest('hex').slice(0, 16);
  const name = basename(project)
    .replaceAll(/[^A-Za-z0-9._-]/g, '_')
    .slice(0, 40);
  return join(home, 'checkpoints', `${digest}-${name}`);
};

/** Where a process finds what it has open. */
export const DESCRIPTORS = process.platform === 'linux' ? '/proc/self/fd' : '/dev/fd';

const outputBytesMax = 64 * 1024 * 1024;

export class ShadowGit {
  readonly place: string;
  readonly project: string;
  /** The index of this process. */
  readonly index: string;
  readonly #program: string;
  readonly #environment: Record<string, string>;

  private constructor(place: string, project: string) {
    this.place = place;
    this.project = project;
    this.index = join(place, 'indexes', `${process.pid}-${randomBytes(4).toString('hex')}`);
    this.#program = gitProgram(project);
    this.#environment = helperEnvironment(helperPath(project));
  }

  /** `project`: its real path. Makes the folder where it is missing. */
  static async open(place: string, project: string): Promise<ShadowGit> {
    const git = new ShadowGit(place, project);
    for (const folder of ['objects', 'refs', 'info', 'indexes', 'behind'])
      await mkdir(join(place, folder), { recursive: true, mode: 0o700 });
    await chmod(place, 0o700);
    // Written each time: what is here decides what git does.
    await writeFile(join(place, 'config'), SETTINGS);
    await writeFile(join(place, 'info', 'attributes'), ATTRIBUTES);
    await writeFile(join(place, 'info', 'exclude'), '');
    await writeFile(join(place, 'HEAD'), 'ref: refs/heads/none\n');
    git.#startFromNewestIndex();
    return git;
  }

  /** Only reads trees that are there. */
  static reading(place: string, project: string): ShadowGit {
    return new ShadowGit(place, project);
  }

  /** An index knows what was seen of each file, so that a file that did not change is not read. */
  #startFromNewestIndex(): void {
    const folder = join(this.place, 'indexes');
    const [newest] = readdirSync(folder)
      .filter((name) => !name.endsWith('.lock'))
      .map((name) => ({ path: join(folder, name), at: timeOf(join(folder, name)) }))
      .toSorted((a, b) => b.at - a.at);
    if (newest === undefined) return;
    try {
      copyFileSync(newest.path, this.index);
      // Git reads a file again that changed in the second in which the index was written: a copy is no younger.
      const writtenAt = Math.floor(newest.at / 1000);
      utimesSync(this.index, writtenAt, writtenAt);
    } catch {
      // Taken away since it was listed: the first look reads every file.
    }
  }

  async forgetIndex(): Promise<void> {
    await rm(this.index, { force: true });
    this.isBehind = false;
  }

  /** Whether the index no longer says what the newest state holds. */
  set isBehind(isBehind: boolean) {
    const mark = behindMark(this.place, basename(this.index));
    if (isBehind) writeFileSync(mark, '');
    else rmSync(mark, { force: true });
  }

  get hasIndex(): boolean {
    return existsSync(this.index);
  }

  async text(args: readonly string[], call: GitCall = {}): Promise<string> {
    return (await this.run(args, call)).toString('utf8');
  }

  /** The names of their contents, in this order. */
  async store(descriptors: readonly number[]): Promise<string[]> {
    const names = descriptors.map((_, at) => `${DESCRIPTORS}/${at + 3}\n`).join('');
    const said = await this.text(['hash-object', '-w', '--no-filters', '--stdin-paths'], { stdin: names, descriptors });
    const blobs = said.split('\n').filter(Boolean);
    if (blobs.length !== descriptors.length)
      throw new GitTrouble(`git stored ${blobs.length} of ${descriptors.length} files`);
    return blobs;
  }

  #environmentOf(workTree: string, index: string, isPatterned: boolean): Record<string, string> {
    return {
      ...this.#environment,
      GIT_DIR: this.place,
      GIT_WORK_TREE: workTree,
      GIT_INDEX_FILE: index,
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_ATTR_NOSYSTEM: '1',
      GIT_TERMINAL_PROMPT: '0',
      GIT_PAGER: 'cat',
      GIT_LITERAL_PATHSPECS: isPatterned ? '0' : '1',
    };
  }

  run(args: readonly string[], call: GitCall = {}): Promise<Buffer> {
    const { workTree = this.project, index = this.index, bytesMax = outputBytesMax, cutAt = bytesMax } = call;
    const { descriptors = [], isPatterned = false, codes = [0] } = call;
    const env = this.#environmentOf(workTree, index, isPatterned);
    return new Promise((resolve, reject) => {
      const child = spawn(this.#program, args, { cwd: workTree, env, stdio: ['pipe', 'pipe', 'pipe', ...descriptors] });
      const out: Buffer[] = [];
      const { stdin, stdout, stderr } = child;
      if (stdin === null || stdout === null || stderr === null) throw new Error('bug: git has no pipes');
      let bytes = 0;
      let said = '';
      let trouble: string | null = null;
      let isBound = false;
      let isCut = false;
      const end = (why: string): void => {
        trouble ??= why;
        child.kill('SIGKILL');
      };
      const stop = (why: string): void => {
        isBound = true;
        end(why);
      };
      const timer = setTimeout(
        () => stop(`git ${args[0] ?? ''} took longer than ${CHECKPOINT_BOUNDS.gitMs / 1000} s`),
        CHECKPOINT_BOUNDS.gitMs,
      );
      const pipes = wakePipes(workTree);
      stdout.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > bytesMax) stop(`git ${args[0] ?? ''} printed more than ${bytesMax} bytes`);
        else out.push(chunk);
        if (bytes > cutAt && !isCut) {
          isCut = true;
          child.kill('SIGKILL');
        }
      });
      stderr.on('data', (chunk: Buffer) => {
        said = `${said}${chunk.toString('utf8')}`.slice(-2000);
      });
      child.once('error', (error) => end(error.message));
      // Git may end before it has read everything; its exit says why.
      stdin.on('error', () => undefined);
      stdin.end(call.stdin ?? '');
      child.once('close', (code) => {
        clearTimeout(timer);
        pipes.end();
        if (trouble === null && !codes.includes(code ?? -1) && !isCut)
          trouble = `git ${args[0] ?? ''} ended with ${String(code)}: ${said.trim() || 'no message'}`;
        if (trouble === null) resolve(Buffer.concat(out));
        else reject(isBound ? new TooLarge(trouble) : new GitTrouble(trouble));
      });
    });
  }
}

const timeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

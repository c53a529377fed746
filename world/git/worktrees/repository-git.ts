/**
 * Git on a person's repository, for what Sentinel itself does in it: work trees, commits and merges.
 *
 * - G1 No hook, monitor, signing program or editor runs, and nothing is asked of anybody. Filters and merge drivers do
 *      run: a checkout has the content that the person's git would give it.
 * - G2 Git is told which repository and which work tree it is at. What a step wrote into `.git` of a work tree does not
 *      decide that.
 * - G3 A submodule is a commit, and git does not look into it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { defined } from '../../../language/defined.ts';
import { gitProgram } from '../../confinement/repositories/git-repository.ts';
import { gitVariables, helperPath, runHelper } from '../../own-programs/helper-programs.ts';
import { Failure } from '../../failures/failures.ts';
import type { OwnRepository } from '../repository/find-own.ts';

const SETTINGS: readonly (readonly [string, string])[] = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['core.quotePath', 'false'],
  ['commit.gpgSign', 'false'],
  ['gpg.program', 'false'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['diff.ignoreSubmodules', 'all'],
  ['submodule.recurse', 'false'],
  ['merge.renames', 'true'],
  ['protocol.allow', 'never'],
  ['protocol.file.allow', 'always'],
  ['safe.directory', '*'],
];

export interface GitAsked {
  stdin?: string;
  env?: Record<string, string>;
  /** In place of the root of the work tree. */
  cwd?: string;
  /** Exits that are no failure; 0 unless stated. */
  codes?: readonly number[];
}

export interface GitSaid {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** A large work tree takes its time to be checked out. */
const gitMs = 600_000;
const lockedTries = 40;
const lockedMs = 250;

export class RepositoryGit {
  readonly at: OwnRepository;
  readonly #program: string;
  readonly #environment: Record<string, string>;

  constructor(at: OwnRepository) {
    this.at = at;
    this.#program = gitProgram(at.workTree);
    const { HOME: home, XDG_CONFIG_HOME: settings } = process.env;
    this.#environment = {
      PATH: helperPath(at.workTree),
      LC_ALL: 'C',
      GIT_TERMINAL_PROMPT: '0',
      GIT_EDITOR: 'true',
      GIT_NO_LAZY_FETCH: '1',
      GIT_DIR: at.gitFolder,
      GIT_WORK_TREE: at.workTree,
      ...defined({ HOME: home, XDG_CONFIG_HOME: settings }),
      ...gitVariables(SETTINGS),
    };
  }

  /** Waits while another process of git holds a lock. Fails with `GIT_FAILED` for an exit that `codes` does not name. */
  async run(args: readonly string[], asked: GitAsked = {}): Promise<GitSaid> {
    for (let tried = 1; ; tried += 1) {
      const said = await this.#once(args, asked);
      if ((asked.codes ?? [0]).includes(said.exitCode)) return said;
      if (!isLocked(said) || tried === lockedTries) throw gitFailed(args, said);
      await sleep(lockedMs);
    }
  }

  async text(args: readonly string[], asked?: GitAsked): Promise<string> {
    return (await this.run(args, asked)).stdout.trim();
  }

  async #once(args: readonly string[], { stdin, env, cwd = this.at.workTree }: GitAsked): Promise<GitSaid> {
    const { exitCode, stdout, stderr } = await runHelper(this.#program, args, {
      cwd,
      env: { ...this.#environment, ...env },
      timeoutMs: gitMs,
      ...defined({ stdin }),
    });
    if (exitCode === undefined)
      throw new Failure('GIT_FAILED', `git ${args[0] ?? ''} did not end within ${gitMs / 1000} s; try again`);
    return { exitCode, stdout, stderr };
  }

  /** The commit that a name stands for; null where it stands for none. */
  async commitOf(name: string): Promise<string | null> {
    const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`];
    const { exitCode, stdout } = await this.run(args, { codes: [0, 1, 128] });
    return exitCode === 0 ? stdout.trim() : null;
  }

  /** The commit at the tip of a branch; null where there is no such branch. */
  tipOf(branch: string): Promise<string | null> {
    return this.commitOf(refOf(branch));
  }

  /** The branch of the work tree; null where HEAD names a commit itself. */
  async branch(): Promise<string | null> {
    const { exitCode, stdout } = await this.run(['symbolic-ref', '--quiet', '--short', 'HEAD'], { codes: [0, 1] });
    return exitCode === 0 ? stdout.trim() : null;
  }

  async isAncestor(one: string, other: string): Promise<boolean> {
    return (await this.run(['merge-base', '--is-ancestor', one, other], { codes: [0, 1] })).exitCode === 0;
  }

  /** Who commits: the person whose settings say a name, else Sentinel. */
  async committer(): Promise<Record<string, string>> {
    const [name, email] = await Promise.all(
      ['user.name', 'user.email'].map((key) => this.run(['config', '--get', key], { codes: [0, 1] })),
    );
    if (name?.exitCode === 0 && email?.exitCode === 0) return {};
    const [who, where] = ['Sentinel', 'sentinel@localhost'];
    return { GIT_AUTHOR_NAME: who, GIT_AUTHOR_EMAIL: where, GIT_COMMITTER_NAME: who, GIT_COMMITTER_EMAIL: where };
  }
}

export const refOf = (branch: string): string => `refs/heads/${branch}`;

const isLocked = ({ stderr }: GitSaid): boolean =>
  /\.lock'?: File exists|cannot lock ref .*\.lock|index\.lock/.test(stderr);

const saidMax = 2000;

export const gitFailed = (args: readonly string[], { exitCode, stdout, stderr }: GitSaid): Failure =>
  new Failure(
    'GIT_FAILED',
    `git ${args[0] ?? ''} ended with ${exitCode}: ${(stderr.trim() || stdout.trim()).slice(0, saidMax) || 'no message'}; repair the state of the repository`,
  );

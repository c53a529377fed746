/**
 * ripgrep over the run's project, from its npm package, or as it is installed. What git ignores, hidden files and
 * what is protected are left out; no configuration of the user's or of the project's reaches it but ignore files.
 */
import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import { createInterface } from 'node:readline';
import { execa } from 'execa';
import { accessOf, resolveInside, rootOf } from '../../world/confinement/confine.ts';
import { findHelper, helperEnvironment, helperPath } from '../../world/own-programs/helper-programs.ts';
import { Failure } from '../../world/failures/failures.ts';
import { wakePipes } from '../../world/files/wake-pipes.ts';
import type { CommandContext } from '../../operations/command.ts';
import { readWhole } from '../../operations/files/whole-file.ts';

const BASE = ['--no-config', '--no-require-git', '--no-ignore-global', '--color=never', '--sort=path'];

export interface Search {
  /** Behind the options that every search has. */
  args: readonly string[];
  /** Of the project. */
  path: string;
  globs?: readonly string[];
}

/** The lines that it prints, until the caller has seen enough; ripgrep ends with the caller. */
export async function* ripgrep({ args, path, globs = [] }: Search, context: CommandContext): AsyncGenerator<string> {
  const project = rootOf(context);
  if ([...args, ...globs].some((text) => text.includes('\0')))
    throw new Failure(
      'COMMAND_PARAMS_INVALID',
      'a pattern or glob holds a NUL character, which no text file does; leave it out',
    );
  const { root, below } = placeOf(context, path);
  const child = execa(
    await programFor(project),
    [...BASE, ...globs.map((glob) => `--glob=${glob}`), ...args, ...(below === '' ? ['./'] : [`./${below}`])],
    {
      cwd: root,
      reject: false,
      buffer: false,
      stdin: 'ignore',
      extendEnv: false,
      env: helperEnvironment(helperPath(project)),
      timeout: context.timeoutMs,
      cancelSignal: context.signal,
    },
  );
  const pipes = wakePipes(root);
  const said: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (text: string) => said.length < 20 && said.push(text));
  try {
    yield* createInterface({ input: child.stdout });
    const { exitCode, timedOut, isCanceled } = await child;
    if (isCanceled) throw context.signal.reason;
    if (timedOut)
      throw new Failure('STEP_TIMEOUT', `the search took longer than ${context.timeoutMs} ms; name a path or a glob`);
    // 1: nothing found; 2 with lines of its own: some files could not be read.
    if (exitCode === 2) refuse(said.join(''));
  } finally {
    pipes.end();
    child.kill();
  }
}

/** Where a path leads, from the root of the project; empty for the root. */
export function placeOf(context: CommandContext, path: string): { root: string; below: string } {
  const project = rootOf(context);
  const [root, place] = [resolveInside(project, '.'), resolveInside(project, path, accessOf(context))];
  if (!existsSync(place))
    throw new Failure('FILE_NOT_FOUND', `"${path}" does not exist in the project; name a folder or a file that does`);
  return { root, below: relative(root, place) };
}

function refuse(said: string): void {
  const faults = /(regex parse error|error parsing glob|error: |unrecognized)[^]*/.exec(said);
  if (faults !== null)
    throw new Failure(
      'COMMAND_PARAMS_INVALID',
      `the search was refused: ${faults[0].trim().slice(0, 1_000)}; correct "pattern" or "glob" (a list of patterns is taken word for word)`,
    );
}

/** Which of the files found a run may read: asked once a file. */
export function readable(context: CommandContext): (path: string) => boolean {
  const known = new Map<string, boolean>();
  return (path) => {
    const before = known.get(path);
    if (before !== undefined) return before;
    const may = mayRead(context, path);
    known.set(path, may);
    return may;
  };
}

/**
 * Whether a file of the project holds a text that ripgrep found there: it goes by names, so a link that a process put
 * in the place of a folder meanwhile leads it outside. Remembers one file, since what is found comes file by file.
 */
export function holds(context: CommandContext): (path: string, text: string) => Promise<boolean> {
  let last: { path: string; content: Promise<string>; from: number } | undefined;
  return async (path, text) => {
    if (last?.path !== path)
      last = {
        path,
        from: 0,
        content: readWhole(path, context).then(textOf, (error: unknown) => {
          if (error instanceof Failure) return '';
          throw error;
        }),
      };
    const here = last;
    // Line after line is found, so none is looked for in what lies before the last.
    const at = (await here.content).indexOf(text, here.from);
    if (at !== -1) here.from = at + text.length;
    return at !== -1;
  };
}

/** As ripgrep reads it: a mark at the beginning tells the encoding. */
function textOf(bytes: Buffer): string {
  const mark = bytes.subarray(0, 2).toString('hex');
  const encoding = mark === 'fffe' ? 'utf-16le' : mark === 'feff' ? 'utf-16be' : 'utf-8';
  return new TextDecoder(encoding).decode(bytes);
}

function mayRead(context: CommandContext, path: string): boolean {
  try {
    resolveInside(rootOf(context), path, accessOf(context));
    return true;
  } catch (error) {
    if (error instanceof Failure) return false;
    throw error;
  }
}

async function programFor(project: string): Promise<string> {
  try {
    const { rgPath } = await import('@vscode/ripgrep');
    return rgPath;
  } catch (error) {
    const installed = findHelper('rg', helperPath(project));
    if (installed !== null) return installed;
    throw new Failure(
      'SHELL_NOT_STARTED',
      'ripgrep is not there for this platform; install ripgrep ("rg") on the worker\'s host',
      { cause: error },
    );
  }
}

/**
 * Hooks of a git repository that publish `git:commit` and `git:push`. A hook that is there already
 * stays as it is: a marked block is put into it, after its first line, because what stands at its end
 * may never be reached. The block runs in the background with nothing to read, so it neither holds
 * git up, nor fails it, nor takes the input that the rest of the hook reads.
 */
import { chmodSync, existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { execa } from 'execa';
import { ClientError } from '../../runs/client-error.ts';

const BEGIN = '# >>> sentinel: publishes this as an event; "sentinel hooks remove" takes it out';
const END = '# <<< sentinel';
const SHELL = /^#!.*\b(?:sh|bash|dash|ash|ksh|zsh)\b/;
const EMPTY_HOOK = '#!/bin/sh\n';

const EVENTS = {
  'post-commit': {
    event: 'git:commit',
    once: '--id "$commit" ',
    texts: '--text subject="$(git log -1 --format=%s)" ',
  },
  'pre-push': { event: 'git:push', once: '', texts: '--text remote="$1" ' },
} as const;

export type HookName = keyof typeof EVENTS;
export const HOOK_NAMES = Object.keys(EVENTS) as HookName[];

export interface HookReport {
  hook: HookName;
  event: string;
  file: string;
  result: 'installed' | 'removed' | 'absent' | 'refused';
  reason?: string;
}

export interface HookCommand {
  /** The program that is this command line. */
  program: string;
  /** Where it finds node, which git's own programs may not have on their PATH. */
  nodeFolder: string;
  /** Set where the hook is to find the services in another place than usual. */
  home: string | null;
}

export async function installHooks(project: string, command: HookCommand): Promise<HookReport[]> {
  const folder = await hooksFolder(project);
  mkdirSync(folder, { recursive: true });
  return HOOK_NAMES.map((hook) => {
    const file = join(folder, hook);
    const { event } = EVENTS[hook];
    const before = withoutBlock(existsSync(file) ? readFileSync(file, 'utf8') : EMPTY_HOOK);
    if (before.startsWith('#!') && !SHELL.test(before)) {
      const line = shellLine([command.program, 'emit', event, '--project', project]);
      return { hook, event, file, result: 'refused', reason: `it is not a shell script; let it run: ${line}` };
    }
    writeFileSync(file, withBlock(before, blockOf(hook, project, command)));
    chmodSync(file, 0o755);
    return { hook, event, file, result: 'installed' };
  });
}

export async function removeHooks(project: string): Promise<HookReport[]> {
  const folder = await hooksFolder(project);
  return HOOK_NAMES.map((hook) => {
    const file = join(folder, hook);
    const { event } = EVENTS[hook];
    const before = existsSync(file) ? readFileSync(file, 'utf8') : '';
    const after = withoutBlock(before);
    if (after === before) return { hook, event, file, result: 'absent' };
    if (after.trim() === EMPTY_HOOK.trim()) rmSync(file);
    else writeFileSync(file, after);
    return { hook, event, file, result: 'removed' };
  });
}

/** Git's own answer knows of worktrees and `core.hooksPath`. */
async function hooksFolder(project: string): Promise<string> {
  const asked = await execa('git', ['rev-parse', '--show-toplevel', '--git-common-dir', '--git-path', 'hooks'], {
    cwd: project,
    reject: false,
  });
  if (asked.exitCode !== 0) {
    throw new ClientError(
      'USAGE',
      `${project} is not in a git repository (${asked.stderr.split('\n')[0] ?? ''}); give one with --project.`,
    );
  }
  const [top = '', common = '', hooks = ''] = asked.stdout.split('\n').map((path) => resolve(project, path));
  const isInside = [top, common].some((folder) => isWithin(folder, hooks));
  if (isInside) return hooks;
  throw new ClientError(
    'USAGE',
    `The hooks of ${project} are in ${hooks}, which other repositories share: set core.hooksPath in the repository itself, and install again.`,
  );
}

function isWithin(folder: string, path: string): boolean {
  const real = existsSync(path) ? realpathSync(path) : path;
  const way = relative(realpathSync(folder), real);
  return way === '' || (!way.startsWith('..') && !isAbsolute(way));
}

function blockOf(hook: HookName, project: string, { program, nodeFolder, home }: HookCommand): string {
  const { event, once, texts } = EVENTS[hook];
  const place = home === null ? '' : `SENTINEL_HOME=${quoted(home)} `;
  return [
    BEGIN,
    '(',
    '  commit=$(git rev-parse HEAD) branch=$(git rev-parse --abbrev-ref HEAD)',
    `  PATH="$PATH":${quoted(nodeFolder)} ${place}${shellLine([program, 'emit', event])} --if-up --project ${quoted(project)} \\`,
    `    ${once}--text commit="$commit" --text branch="$branch" ${texts.trimEnd()}`,
    ') </dev/null >/dev/null 2>&1 &',
    END,
    '',
  ].join('\n');
}

function withBlock(script: string, block: string): string {
  const at = script.startsWith('#!') ? script.indexOf('\n') + 1 : 0;
  if (script.startsWith('#!') && at === 0) return `${script}\n${block}`;
  return `${script.slice(0, at)}${block}${script.slice(at)}`;
}

function withoutBlock(script: string): string {
  const from = script.indexOf(BEGIN);
  const to = script.indexOf(END, from);
  if (from === -1 || to === -1) return script;
  return script.slice(0, from) + script.slice(to + END.length).replace(/^\n/, '');
}

const shellLine = (words: readonly string[]): string => words.map(quoted).join(' ');

function quoted(word: string): string {
  return /^[A-Za-z0-9_./:=@-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

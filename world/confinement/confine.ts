/**
 * Paths that a definition names are confined to the run's project root. Symbolic links are
 * resolved before the check, so a link inside the project cannot lead out of it.
 *
 * The calls block: on a local disk they take microseconds, a tenth of a trip to the thread pool,
 * and every quick step that reads a file makes them.
 */
import { lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { Reach } from '../../language/rights/reach.ts';
import type { Confinement, Mode } from '../../language/permissions.ts';
import { workspacesFolder } from '../../services/home/home-records.ts';
import { Failure } from '../failures/failures.ts';
import { type Protection, protectionOf } from './protected-places.ts';

const PATH_LENGTH_MAX = 4096;
const ROOTS_MAX = 1000;
const roots = new Map<string, string>();

/** The real path of the project root. A step may have removed it since it was looked for: then nothing is made in its place. */
function realRootOf(project: string, { again = false } = {}): string {
  const known = roots.get(project);
  if (known !== undefined && (!again || lstatSync(known, { throwIfNoEntry: false }) !== undefined)) return known;
  const root = realpathIfThere(project);
  if (root === null) throw notThere(project);
  if (roots.size >= ROOTS_MAX) roots.clear();
  roots.set(project, root);
  return root;
}

function notThere(root: string): Failure {
  if (isInside(workspacesFolder(), root))
    return new Failure(
      'WORKSPACE_GONE',
      `the workspace ${root} is not there any more; what was committed in it is on its branch, which "sentinel workspaces list" names`,
    );
  return new Failure(
    'PROJECT_MISSING',
    `project "${root}" is not on this host; create it or run the worker where it is`,
  );
}

/** What a path is wanted for, in which mode, and by whom. */
export interface Access {
  writes?: boolean;
  mode?: Mode | undefined;
  byModel?: boolean | undefined;
  /** Protected files, and folders of them, that the definition names. */
  files?: readonly string[] | undefined;
}

/** Whose step it is, and what its definition names. */
interface Asking {
  confinement?: Confinement;
  reach?: Reach;
}

/** Of a command's context. */
export function accessOf({ confinement, reach }: Asking, { writes = false } = {}): Access {
  return { writes, mode: confinement?.mode, byModel: confinement?.byModel === true, files: reach?.files };
}

/** Whose step it is, and where it works. */
interface Working {
  run: { project: string };
  confinement?: Confinement;
}

/** The folder that a step works in: the workspace of its run, or the run's project. */
export const rootOf = ({ run, confinement }: Working): string => confinement?.root ?? run.project;

/** The absolute, real path of `path`, which need not exist; refuses what lies outside the project, and what is protected in it. */
export function resolveInside(project: string, path: string, access: Access = {}): string {
  if (path.includes('\0')) throw outside(path, 'holds a NUL byte');
  if (path.length > PATH_LENGTH_MAX)
    throw outside(`${path.slice(0, 80)}…`, `is longer than ${PATH_LENGTH_MAX} characters`);
  const { root, wanted, real } = placeOf(project, path);
  if (!isInside(root, real)) throw outside(path, 'leads out of the project through a symbolic link');
  // A link is protected by what it is called, and by what it leads to.
  const places = real === wanted ? [real] : [real, wanted];
  const refused = places
    .map((place) => protectionOf(root, place))
    .find((protection) => isHeldBack(protection, { root, real }, access));
  if (refused) throw new Failure('PATH_PROTECTED', refusals[refused](path));
  return real;
}

/** What is there is below a root that is there. */
function placeOf(project: string, path: string): { root: string; wanted: string; real: string } {
  const known = realRootOf(project);
  const there = wantedIn(known, project, path);
  const found = realpathIfThere(there);
  if (found !== null) return { root: known, wanted: there, real: found };
  const root = realRootOf(project, { again: true });
  const wanted = wantedIn(root, project, path);
  return { root, wanted, real: realpathOfDeepest(wanted, path) };
}

/** A path may be written from the project's own spelling of its root, or from the real one. */
function wantedIn(root: string, project: string, path: string): string {
  const spelledRoot = resolve(project);
  const spelled = resolve(spelledRoot, path);
  const wanted =
    spelledRoot !== root && isInside(spelledRoot, spelled) ? join(root, relative(spelledRoot, spelled)) : spelled;
  if (!isInside(root, wanted)) throw outside(path, 'leads out of the project');
  return wanted;
}

/** `real`: in the real root. */
export const isProtectedFrom = (root: string, real: string, access: Access): boolean =>
  isHeldBack(protectionOf(root, real), { root, real }, access);

const isHeldBack = (
  protection: Protection | null,
  { root, real }: { root: string; real: string },
  access: Access,
): protection is Protection =>
  protection !== null && isRefused(protection, access) && !isAllowed(root, real, protection, access);

function isRefused(protection: Protection, { writes = false, mode, byModel = false }: Access): boolean {
  switch (protection) {
    case 'home':
    case 'secrets':
      return true;
    case 'repository':
      return writes || byModel;
    case 'run-later':
      return writes && (byModel || mode === 'sandboxed');
    default:
      return protection satisfies never;
  }
}

/** What the definition names, or what lies in a folder that it names. Nobody reaches a home, nor writes a repository. */
function isAllowed(root: string, real: string, protection: Protection, access: Access): boolean {
  const { files = [], writes = false, mode } = access;
  if (protection === 'home' || (protection === 'repository' && writes)) return false;
  if (protection === 'run-later' && mode === 'sandboxed') return false;
  return files.some((file) => isInside(join(root, file), real) || isInside(resolve(root, file), real));
}

const refusals: Record<Protection, (path: string) => string> = {
  home: (path) => `path "${path}" leads into a home of Sentinel, which no command reads or writes; name another`,
  repository: (path) =>
    `path "${path}" leads into a git repository, which only git writes, and no model reads; use code/git, or name another`,
  secrets: (path) =>
    `path "${path}" is a file that holds secrets by its name, and the definition does not name it; name another, or name it in "safety.allowFiles"`,
  'run-later': (path) =>
    `path "${path}" is what the command line runs later, which no model and no "sandboxed" run writes; name another`,
};

function isInside(root: string, path: string): boolean {
  if (path.startsWith(root) && path[root.length] === sep) return true;
  const way = relative(root, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/** Resolves the deepest ancestor that exists and appends the rest, which holds no links. */
function realpathOfDeepest(wanted: string, path: string): string {
  const missing: string[] = [];
  for (let at = wanted; ; at = dirname(at)) {
    const real = realpathIfThere(at);
    if (real !== null) return join(real, ...missing);
    // What exists and yet cannot be resolved is a link that leads nowhere: writing through it
    // would create its target, wherever that is.
    if (isLink(at)) throw outside(path, 'goes through a symbolic link that leads nowhere');
    missing.unshift(basename(at));
  }
}

function realpathIfThere(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw new Failure(
      'PATH_NOT_USABLE',
      `path "${path}" cannot be resolved (${String(code)}); check its permissions and links`,
      { cause: error },
    );
  }
}

/** Below a file there is nothing, and so no link. */
function isLink(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOTDIR') return false;
    throw error;
  }
}

function outside(path: string, finding: string): Failure {
  return new Failure(
    'PATH_OUTSIDE_PROJECT',
    `path "${path.replaceAll('\0', '\\0')}" ${finding}; name a path inside the run's project`,
  );
}

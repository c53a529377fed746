/**
 * Folders of data sets and exported genomes: in the project, in the system's folder for temporary files, or in a folder
 * that the project's configuration names. Outside of the project nothing is written or listed for a model, or for a run in
 * a stricter mode than `full`; there a folder has to be the worker's own, and those that are made are for its user alone.
 */
import { closeSync, fstatSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import * as z from 'zod';
import { openFolder, placeOf } from '../../world/confinement/beneath.ts';
import { accessOf, resolveInside } from '../../world/confinement/confine.ts';
import { Failure } from '../../world/failures/failures.ts';
import { fileFailure } from './whole-file.ts';
import type { Context } from '../command.ts';

/** Setting of a system: the folders that a configuration names. `what`: may be in them. */
export const foldersSetting = (what: string) =>
  z
    .array(z.string().regex(/^[/~]/, 'must be an absolute path'))
    .max(20)
    .default([])
    .describe(`folders outside of the project in which ${what} may be`);

const ownerOnly = 0o700;

interface Place {
  root: string;
  /** From there. */
  below: string;
  isOutside: boolean;
}

export interface OpenedFolder {
  /** For what is in it. */
  place: string;
  /** As it is called. */
  path: string;
  close(): void;
}

export interface Opening {
  /** It is made where it is not there. */
  create: boolean;
  /** Those outside of the project that a configuration names. */
  folders: readonly string[];
}

/** Null where it is not there and is not to be made. */
export function openIn(path: string, context: Context, { create, folders }: Opening): OpenedFolder | null {
  const { root, below, isOutside } = placeIn(path, context, { create, folders });
  try {
    const folder = openFolder(root, below, { create, ...(isOutside ? { mode: ownerOnly } : {}) });
    if (folder === null) return null;
    if (isOutside) refuseForeign(folder, path);
    return { place: placeOf(folder, join(root, below)), path: join(root, below), close: () => closeSync(folder) };
  } catch (error) {
    throw fileFailure(error, path);
  }
}

function placeIn(path: string, context: Context, { create: writes, folders }: Opening): Place {
  const { project } = context.run;
  const outside = isAbsolute(path) ? outsideRoot(path, context, folders) : null;
  if (outside !== null) return outside;
  const root = resolveInside(project, '.');
  const below = relative(root, resolveInside(project, path, accessOf(context, { writes })));
  return { root, below: below.split(sep).join('/'), isOutside: false };
}

/** Null where it is for the rules of the project. */
function outsideRoot(path: string, { confinement, run }: Context, folders: readonly string[]): Place | null {
  if (confinement?.byModel === true || confinement?.mode !== undefined || path.includes('\0')) return null;
  const wanted = resolve(path);
  if (isBelow(resolveInside(run.project, '.'), wanted) || isBelow(resolve(run.project), wanted)) return null;
  for (const folder of [tmpdir(), '/tmp', ...folders]) {
    const root = realOf(folder);
    if (root === null) continue;
    // As it is written in the configuration, and as it is.
    for (const spelled of [root, resolve(folder)])
      if (isBelow(spelled, wanted))
        return { root, below: relative(spelled, wanted).split(sep).join('/'), isOutside: true };
  }
  return null;
}

const isBelow = (folder: string, path: string): boolean => path === folder || path.startsWith(`${folder}${sep}`);

function realOf(folder: string): string | null {
  try {
    return realpathSync(folder);
  } catch {
    return null;
  }
}

/** Whoever made it first could put other files in place of ours. */
function refuseForeign(folder: number, path: string): void {
  const { uid } = fstatSync(folder);
  if (process.getuid === undefined || uid === process.getuid()) return;
  closeSync(folder);
  throw new Failure(
    'PATH_NOT_USABLE',
    `the folder "${path}" belongs to another user; name one that the worker's user has made`,
  );
}

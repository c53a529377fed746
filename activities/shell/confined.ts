/** From what a step wants started to what is started: inside the sandbox, under the bound on memory. */
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import type { Confinement } from '../../language/permissions.ts';
import { Failure } from '../failures/failures.ts';
import { limitedMemory } from './process/memory.ts';
import { sandboxed, type Launch } from '../confinement/sandbox.ts';

export async function confined(
  launch: Launch,
  project: string,
  how: Confinement = {},
  readable: readonly string[] = [],
): Promise<Launch> {
  const isBare = how.sandboxed !== true && how.memoryMb === undefined;
  if (isBare) return launch;
  // What starts a program for another cannot say that there is none.
  if (!(await isThere(launch))) {
    throw new Failure(
      'SHELL_NOT_STARTED',
      `there is no program "${launch.file}" to start; check its name, PATH and permissions`,
    );
  }
  const inside = how.sandboxed === true ? await sandboxed(launch, project, readable) : launch;
  return how.memoryMb === undefined ? inside : limitedMemory(inside, how.memoryMb);
}

async function isThere({ file, cwd, env }: Launch): Promise<boolean> {
  const places = file.includes('/')
    ? [resolve(cwd, file)]
    : (env['PATH'] ?? '')
        .split(delimiter)
        .filter(isAbsolute)
        .map((folder) => join(folder, file));
  for (const place of places) {
    if (
      await access(place, constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return true;
  }
  return false;
}

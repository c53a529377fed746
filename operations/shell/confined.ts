/** From what a step wants started to what is started: in the sandbox or below an init, under the bound on memory, with the step's mark. */
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import type { Confinement } from '../../language/permissions.ts';
import { defined } from '../../language/defined.ts';
import { Failure } from '../../world/failures/failures.ts';
import { repositoryBehind } from '../../world/git/worktrees/places.ts';
import { realOf } from '../../world/own-programs/helper-programs.ts';
import { dataBytesMax, memoryLine } from '../../world/processes/memory.ts';
import { findInit, type KeptBelow, type StepInit, underInit } from '../../world/processes/step-init.ts';
import { MARK_MAX, markLine } from '../../world/processes/step-mark.ts';
import { sandboxed, type Launch, type SandboxRequest } from '../../world/confinement/sandbox.ts';

export interface ConfinedRequest extends SandboxRequest {
  project: string;
  how?: Confinement | undefined;
  /** What a process is known by that left its group and its environment behind; those of a sandbox end with it. */
  mark: number;
  /** Where it is kept. */
  kept?: KeptBelow;
  /** Whether it has pipes for its streams (step-init.ts). */
  isPiped?: boolean;
}

export async function confined(
  launch: Launch,
  { project, how = {}, mark, kept, isPiped = false, ...shown }: ConfinedRequest,
): Promise<Launch> {
  const limits = how.memoryMb === undefined ? [] : [memoryLine(how.memoryMb)];
  if (how.mode === 'sandboxed') {
    const readable = [...(shown.readable ?? []), ...behindWorkspace(project, shown)];
    const inside = await sandboxed(launch, project, { ...shown, readable });
    const init = kept !== undefined || isPiped ? await findInit() : null;
    return init === null ? underLimits(inside, limits) : belowInit(inside, init, { how, mark, kept, isPiped, shown });
  }
  // What starts a program for another cannot say that there is none.
  if (!(await isThere(launch))) {
    throw new Failure(
      'SHELL_NOT_STARTED',
      `there is no program "${launch.file}" to start; check its name, PATH and permissions`,
    );
  }
  const init = await findInit();
  if (init === null) return underLimits(launch, [...limits, markLine(mark)]);
  return belowInit(launch, init, { how, mark, kept, isPiped, shown });
}

/** The repository of a work tree of ours, which is its project's to write. A model reads nothing of it. */
function behindWorkspace(project: string, { withoutSecrets }: SandboxRequest): string[] {
  const behind = withoutSecrets === undefined ? repositoryBehind(realOf(project)) : null;
  return behind === null ? [] : [behind.commonFolder];
}

function belowInit(
  launch: Launch,
  init: StepInit,
  {
    how,
    mark,
    kept,
    isPiped,
    shown,
  }: Pick<ConfinedRequest, 'mark'> & {
    how: Confinement;
    kept: KeptBelow | undefined;
    isPiped: boolean;
    shown: SandboxRequest;
  },
): Launch {
  const dataBytes = how.memoryMb === undefined ? 0 : dataBytesMax(how.memoryMb);
  const { markers = {} } = shown;
  const known = { mark: { own: mark, most: MARK_MAX }, dataBytes, markers, isPiped };
  return underInit(launch, init, { ...known, ...defined({ kept }) });
}

/** The shell is replaced by the process, so the process id stays. */
function underLimits(launch: Launch, lines: readonly string[]): Launch {
  if (lines.length === 0) return launch;
  const line = [...lines, 'exec "$@"'].join('; ');
  return { ...launch, file: '/bin/sh', args: ['-c', line, 'sh', launch.file, ...launch.args] };
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

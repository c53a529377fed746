/** The project of a step, with its states. */
import type { Context } from '../../operations/command.ts';
import type { ProjectTrees } from '../../operations/checkpoints/project-trees.ts';
import { resolveInside, rootOf } from '../../world/confinement/confine.ts';
import { Failure } from '../../world/failures/failures.ts';
import { GitTrouble } from '../../world/git/trees/shadow-git.ts';

export interface Place {
  root: string;
  trees: ProjectTrees;
}

export async function placeIn(context: Context): Promise<Place> {
  const { checkpoints } = context;
  if (checkpoints === undefined)
    throw new Failure(
      'INTEGRATION_NOT_JUDGED',
      'this worker takes no checkpoints, so there is no snapshot to judge by; start it without SENTINEL_CHECKPOINTS=false',
    );
  const root = resolveInside(rootOf(context), '.');
  return { root, trees: await checkpoints.treesOf(root) };
}

export async function orNotJudged<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof GitTrouble)) throw error;
    throw new Failure('INTEGRATION_NOT_JUDGED', `the states of the project cannot be used: ${error.message}`, {
      cause: error,
    });
  }
}

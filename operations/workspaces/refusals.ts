/** The words of what is wrong with a workspace: place, finding, remedy. */
import { Failure } from '../../world/failures/failures.ts';
import type { Workspace } from './records.ts';

export const refused = (finding: string): Failure => new Failure('WORKSPACE_REFUSED', finding);

export const taken = (branch: string, finding: string): Failure =>
  new Failure('WORKSPACE_TAKEN', `the branch "${branch}" ${finding}`);

export const notFound = (finding: string): Failure => new Failure('WORKSPACE_NOT_FOUND', finding);

export const gone = ({ name, folder, branch }: Workspace): Failure =>
  new Failure(
    'WORKSPACE_GONE',
    `the workspace "${name}" is not in ${folder} any more; what it had committed is on the branch "${branch}": remove it with "workspace/remove" and make a new one, with "reuse" from that branch`,
  );

/** `of`: the run that worked there, and that another one goes on from. */
export const removed = (root: string, of: string): Failure =>
  new Failure(
    'WORKSPACE_GONE',
    `the workspace in which ${of} worked (${root}) was removed, or is on another host; fork ${of} at the step that makes the workspace, with another branch or "reuse": true`,
  );

const shownMax = 10;

export const someOf = (paths: readonly string[]): string =>
  paths.length > shownMax
    ? `${paths.slice(0, shownMax).join(', ')} and ${paths.length - shownMax} more`
    : paths.join(', ');

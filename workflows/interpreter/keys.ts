/**
 * A step's key: its path, and the pass of every loop open around it (`steps.2.then.0@1`,
 * `steps.1.steps.0@3.2` in pass 2 of a loop in pass 3 of the run). Unique within a run.
 */
export function stepKey(path: string, passes: readonly number[]): string {
  return `${path}@${passes.join('.')}`;
}

/** Under which id Temporal knows the run of a handle, and back. */
export const workflowIdOf = (handle: string): string => `sentinel/${handle}`;

export function handleOf(workflowId: string): string {
  return workflowId.startsWith('sentinel/') ? workflowId.slice('sentinel/'.length) : workflowId;
}

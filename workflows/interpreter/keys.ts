/**
 * A step's key: its path, and the pass of every loop open around it (`steps.2.then.0@1`,
 * `steps.1.steps.0@3.2` in pass 2 of a loop in pass 3 of the run). Unique within a run.
 */
export function stepKey(path: string, passes: readonly number[]): string {
  return `${path}@${passes.join('.')}`;
}

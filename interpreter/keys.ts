/**
 * Where a step stands in its definition, and in which attempt: `steps.2`, `steps.2#2` the second
 * time it is tried. What it holds carries the mark too (`steps.2#2.then.0`), so no two effects of a
 * run share a key.
 */
export function attemptPath(path: string, attempt: number | undefined): string {
  return attempt === undefined || attempt === 1 ? path : `${path}#${attempt}`;
}

/** Which index a step has, whatever the attempts (`#2`) and the revision it began in (`~3`). */
export const definitionPath = (path: string): string => path.replaceAll(/[#~]\d+/g, '');

/**
 * A step's key: its path, and the pass of every loop open around it (`steps.2.then.0@1`,
 * `steps.1.steps.0@3.2` in pass 2 of a loop in pass 3 of the run). Unique within a run.
 */
export function stepKey(path: string, passes: readonly number[]): string {
  return `${path}@${passes.join('.')}`;
}

const IN_CLEAN_UP = /(?:^|\.)always(?:\.|@)/;

/** Whether a step, or what it asks for, belongs to a clean-up of its run, or to a nested run that one has started. */
export const isInCleanUp = (handle: string, key: string): boolean => {
  const [, ...around] = handle.split('/');
  return [...around, key].some((one) => IN_CLEAN_UP.test(definitionPath(one)));
};

/** The step that asks a question; empty for those of the run itself, whose ids are no key. */
export const keyOfQuestion = (id: string): string => (id.includes('@') ? (id.split(':')[0] ?? '') : '');

/** Under which id Temporal knows the run of a handle, and back. */
export const workflowIdOf = (handle: string): string => `sentinel/${handle}`;

export function handleOf(workflowId: string): string {
  return workflowId.startsWith('sentinel/') ? workflowId.slice('sentinel/'.length) : workflowId;
}

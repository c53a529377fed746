/** The lists of steps inside a step; a nested definition's are its own run's, and no block of the step that starts it. */
import type { Step } from './model.ts';

/** By the key that holds each (`then`, `branches.0`); one that is left out is not there. */
export function blocksOf(step: Step): Array<{ key: string; steps: readonly Step[] }> {
  switch (step.type) {
    case 'condition':
      return (['then', 'else', 'always'] as const).flatMap((key) =>
        step[key] === undefined ? [] : [{ key, steps: step[key] }],
      );
    case 'loop':
      return [{ key: 'steps', steps: step.steps }];
    case 'parallel':
      return step.branches.map((branch, index) => ({ key: `branches.${index}`, steps: branch }));
    case 'shell':
    case 'command':
    case 'llm':
    case 'watch':
    case 'emit':
    case 'sentinel':
    case 'approval':
    case 'fail':
    case 'set':
    case 'sleep':
    case 'join':
      return [];
    default:
      return step satisfies never;
  }
}

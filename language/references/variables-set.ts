/** The variables that a step sets when it ends well. */
import type { Step } from '../model.ts';

export function variablesSetBy(step: Step): string[] {
  if (step.type === 'set') return Object.keys(step.values);
  return 'outputTo' in step && step.outputTo !== undefined ? [step.outputTo] : [];
}

/** A step without `type` is what its other keys say it is; what was taken is reported as inferred. */
import type { StepType } from '../../model.ts';
import type { Draft, Plain } from '../draft.ts';

export function rewriteStepType(draft: Draft): void {
  if (draft.value['type'] !== undefined) return;
  const type = typeOf(draft.value, draft.moved.get('command')?.endsWith('cmd') ?? false);
  if (type === undefined) return;
  draft.value['type'] = type;
  draft.origins.inferred.push(`${draft.path} is read as a step of type "${type}": it has no "type"`);
}

function typeOf(step: Plain, spelledCmd: boolean): StepType | undefined {
  const has = (key: string): boolean => Object.hasOwn(step, key);
  if (has('command')) return isShell(step, spelledCmd) ? 'shell' : 'command';
  if (has('then') || has('else') || (has('check') && !has('steps'))) return 'condition';
  if (has('definition')) return 'sentinel';
  if (has('branches') || has('failFast')) return 'parallel';
  if (has('loop') || has('mode')) return 'loop';
  if (has('prompt')) return 'llm';
  if (has('executionId') || has('rules')) return 'watch';
  return has('event') ? 'emit' : undefined;
}

/** A command's name is one word; a line of shell has spaces, arguments or a working directory. */
function isShell(step: Plain, spelledCmd: boolean): boolean {
  if (spelledCmd || Object.hasOwn(step, 'args') || Object.hasOwn(step, 'cwd')) return true;
  return typeof step['command'] === 'string' && /\s/.test(step['command']);
}

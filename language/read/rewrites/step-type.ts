/** A step without `type` is what its other keys say it is; what was taken is reported as inferred. */
import type { StepType } from '../../model.ts';
import { infer, type Draft, type Plain } from '../draft/draft.ts';

export function rewriteStepType(draft: Draft): void {
  if (draft.value['type'] !== undefined) return;
  const type = typeOf(draft.value, draft.moved.get('command')?.endsWith('cmd') ?? false);
  if (type === undefined) return;
  draft.value['type'] = type;
  infer(draft, `is read as a step of type "${type}": it has no "type"`);
}

function typeOf(step: Plain, spelledCmd: boolean): StepType | undefined {
  const has = (...keys: string[]): boolean => keys.some((key) => Object.hasOwn(step, key));
  if (has('command')) return isShell(step, spelledCmd) ? 'shell' : 'command';
  if (has('then', 'else') || (has('check') && !has('steps'))) return 'condition';
  if (has('definition')) return 'sentinel';
  if (has('branches', 'failFast')) return 'parallel';
  if (has('over') && has('steps') && has('concurrency', 'maxConcurrency', 'itemErrors')) return 'parallel';
  if (has('loop', 'mode') || (has('steps') && has('count', 'while', 'until', 'over', 'maxIterations'))) return 'loop';
  if (has('prompt')) return 'llm';
  if (has('executionId', 'rules')) return 'watch';
  if (has('message') && has('show', 'form', 'assignee', 'approvers', 'onTimeout', 'remindAfterMs')) return 'approval';
  if (has('message') && has('code')) return 'fail';
  return has('event') ? 'emit' : undefined;
}

/** A command's name is one word; a line of shell has spaces, arguments or a working directory. */
function isShell(step: Plain, spelledCmd: boolean): boolean {
  if (spelledCmd || Object.hasOwn(step, 'args') || Object.hasOwn(step, 'cwd')) return true;
  return typeof step['command'] === 'string' && /\s/.test(step['command']);
}

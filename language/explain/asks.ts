/** What a run asks people, and when. */
import { durationWords } from '../graph/describe-loop.ts';
import { approversOf, shortened } from '../graph/step-label.ts';
import type { Definition, EscalationRule, Step } from '../model.ts';
import { visitSteps, type KnownRefs } from './visit.ts';

export function asksOf(definition: Definition, known: KnownRefs): string[] {
  const asks: string[] = [];
  visitSteps(definition, known, ({ step, path }) => {
    if (step.type === 'approval')
      asks.push(
        `${path} asks ${approversOf(step)} "${shortened(step.message)}" and waits${waitWords(step)}${remindWords(step)}.`,
      );
  });
  const { safety = {}, escalateOn = [], reportTo } = definition;
  const { requireApproval = [], onTimeout } = safety;
  const unasked = escalateOn.find(({ condition, action }) => condition === 'approval_needed' && action !== 'pause');
  if (requireApproval.length > 0) asks.push(approvalSentence(requireApproval, unasked));
  asks.push(...escalateOn.filter((rule) => rule !== unasked).map(ruleSentence));
  if (onTimeout === 'pause') asks.push('At a bound it pauses and waits to be resumed or stopped.');
  if (reportTo === 'inbox') asks.push("At its end it puts a report into its owner's inbox.");
  return asks.length === 0 ? ['Nothing.'] : asks;
}

function waitWords({ timeoutMs, onTimeout }: Extract<Step, { type: 'approval' }>): string {
  if (timeoutMs === undefined) return ' until it is answered';
  const then =
    onTimeout === 'approve'
      ? 'then it counts as approved'
      : onTimeout === 'reject'
        ? 'then it counts as rejected'
        : 'then the step fails';
  return ` for at most ${durationWords(timeoutMs)}; ${then}`;
}

const remindWords = ({ remindAfterMs }: { remindAfterMs?: number | undefined }): string =>
  remindAfterMs === undefined ? '' : `; it reminds after ${durationWords(remindAfterMs)}, then less and less often`;

const WHEN: Readonly<Record<EscalationRule['condition'], string>> = {
  error: 'When a step fails',
  timeout: 'When a limit is reached',
  unfamiliar: 'When it meets what it does not know',
  approval_needed: 'When approval is needed',
  complete: 'When it is complete',
};

function approvalSentence(permissions: readonly string[], unasked: EscalationRule | undefined): string {
  const named = `needs the permission ${permissions.map((kind) => `"${kind}"`).join(' or ')}`;
  if (unasked === undefined) return `Before every step that ${named} it asks for approval.`;
  if (unasked.action === 'abort') return `A step that ${named} fails, and nobody is asked.`;
  return `Before every step that ${named} it tells its persona${urgencyOf(unasked)} and does not wait.`;
}

const urgencyOf = ({ priority = 'normal' }: EscalationRule): string => (priority === 'normal' ? '' : ` (${priority})`);

function ruleSentence(rule: EscalationRule): string {
  const { condition, action } = rule;
  const goesOn = condition === 'complete' || condition === 'approval_needed';
  const told = goesOn ? 'it tells its persona and goes on' : 'it tells its persona, and the failure stands';
  const does = { pause: 'it pauses and asks', notify: told, abort: 'it is ended' }[action];
  return `${WHEN[condition]}, ${does}${urgencyOf(rule)}${action === 'pause' ? remindWords(rule) : ''}.`;
}

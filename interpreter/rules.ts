/** Which rule of `escalateOn` holds: of several for a condition the one with the highest priority, the first among equals. */
import type { FailureInfo } from '../language/failure.ts';
import type { Definition, EscalationRule } from '../language/model.ts';
import type { Priority } from '../language/events/question.ts';

const ranks: readonly Priority[] = ['low', 'normal', 'high', 'urgent'];
const rankOf = (rule: EscalationRule): number => ranks.indexOf(rule.priority ?? 'normal');

export function ruleFor(definition: Definition, condition: EscalationRule['condition']): EscalationRule | null {
  const rules = (definition.escalateOn ?? []).filter((rule) => rule.condition === condition);
  return rules.reduce<EscalationRule | null>(
    (best, rule) => (best === null || rankOf(rule) > rankOf(best) ? rule : best),
    null,
  );
}

/** Where no rule names what is special about a failure, the rule for `error` holds. */
export function ruleForFailure(definition: Definition, { code }: FailureInfo): EscalationRule | null {
  const special = code === 'STEP_TIMEOUT' ? 'timeout' : code === 'ACTIVITY_FAILED' ? 'unfamiliar' : null;
  return (special === null ? null : ruleFor(definition, special)) ?? ruleFor(definition, 'error');
}

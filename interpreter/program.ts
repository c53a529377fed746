/** Facts of a definition that a walk looks up. */
import { blocksOf, linesAtOnce } from '../language/blocks.ts';
import { findCommand, type Catalogue } from '../language/catalogue.ts';
import type { Definition, LoopConfig, ParallelStep, Step, EscalationRule } from '../language/model.ts';
import type { RunInput } from './host.ts';
import { definitionPath } from './keys.ts';
import { CONTEXT_BLOCK, contextSteps } from './pass-context.ts';
import { HOLDS, type FailureInfo } from '../language/failure.ts';
import type { Priority } from '../language/events/question.ts';

function valueAt(definition: Definition, path: string): unknown {
  let here: unknown = definition;
  for (const part of definitionPath(path).split('.')) {
    here = typeof here === 'object' && here !== null ? (here as { [key: string]: unknown })[part] : undefined;
  }
  return here;
}

/** Finds a block of steps by its path: `steps.2.branches.0`, `steps.1.then`, `steps.0.steps`; one that is left out is empty. */
export function stepsAt(definition: Definition, path: string): readonly Step[] {
  if (path === CONTEXT_BLOCK) return contextSteps(definition);
  const here = valueAt(definition, path);
  if (here === undefined) return [];
  if (!Array.isArray(here)) throw new Error(`bug: no block of steps at "${path}"`);
  return here as readonly Step[];
}

/** How many lines of execution may be under way at once where a strand is one of them. */
export function branchesAtOnce(definition: Definition, strandPath: string): number {
  let lines = 1;
  for (const { index } of strandPath.matchAll(/\.branches\.\d+|(?<=\.\d+)\.steps(?=\.|$)/g)) {
    const step: unknown = valueAt(definition, strandPath.slice(0, index));
    if (typeof step !== 'object' || step === null || !('type' in step) || step.type !== 'parallel') continue;
    lines *= linesAtOnce(step as ParallelStep);
  }
  return lines;
}

/** The field that stands for a variable where it is used as text, for variables set by commands, shells and events. */
export function textFieldsOf({
  definition,
  catalogue,
}: Pick<RunInput, 'definition' | 'catalogue'>): Map<string, string> {
  const fields = new Map<string, string>();
  const visit = (steps: readonly Step[]): void => {
    for (const step of steps) {
      for (const { steps: inner } of blocksOf(step)) visit(inner);
      if (step.type === 'loop') visitLoop(step.loop);
      if (!('outputTo' in step) || step.outputTo === undefined) continue;
      const field = textFieldOf(step, catalogue);
      if (field !== undefined) fields.set(step.outputTo, field);
    }
  };
  const visitLoop = (loop: LoopConfig): void => {
    if (loop.type === 'event') fields.set('event', 'data');
  };
  visitLoop(definition.loop);
  visit(definition.steps);
  visit(definition.always ?? []);
  return fields;
}

function textFieldOf(step: Step, catalogue: Catalogue): string | undefined {
  if (step.type === 'shell') return 'stdout';
  if (step.type === 'watch') return step.event === undefined ? undefined : 'data';
  return step.type === 'command' ? findCommand(catalogue, step.command)?.textField : undefined;
}

const isWord = (char: string): boolean => /[A-Za-z0-9_]/.test(char);

/** Whether some text of the definition reads this field of this variable. */
export function readsField(definition: Definition, name: string, field: string): boolean {
  const text = JSON.stringify(definition);
  const read = `${name}.${field}`;
  for (let at = text.indexOf(read); at !== -1; at = text.indexOf(read, at + 1)) {
    if (!isWord(text.charAt(at - 1)) && !isWord(text.charAt(at + read.length))) return true;
  }
  return false;
}

/** Which rule of `escalateOn` holds: of several for a condition the one with the highest priority, the first among equals. */

const ranks: readonly Priority[] = ['low', 'normal', 'high', 'urgent'];
const rankOf = (rule: EscalationRule): number => ranks.indexOf(rule.priority ?? 'normal');

export function ruleFor(definition: Definition, condition: EscalationRule['condition']): EscalationRule | null {
  const rules = (definition.escalateOn ?? []).filter((rule) => rule.condition === condition);
  return rules.reduce<EscalationRule | null>(
    (best, rule) => (best === null || rankOf(rule) > rankOf(best) ? rule : best),
    null,
  );
}

/** What has a condition of its own. */
const SPECIAL: ReadonlyMap<string, EscalationRule['condition']> = new Map([
  ['STEP_TIMEOUT', 'timeout'],
  ['ACTIVITY_FAILED', 'unfamiliar'],
  ['STEP_FAILED', 'unfamiliar'],
  ['MODEL_STUCK', 'unfamiliar'],
]);

/** Of what a provider refuses until a person has done something about it, where the definition has no rule. */
const RULE_FOR_HOLDS: EscalationRule = { condition: 'error', action: 'pause', priority: 'high' };

/** Where no rule names what is special about a failure, the rule for `error` holds. */
export function ruleForFailure(definition: Definition, { code }: FailureInfo): EscalationRule | null {
  const special = SPECIAL.get(code) ?? null;
  const own = (special === null ? null : ruleFor(definition, special)) ?? ruleFor(definition, 'error');
  return own ?? (HOLDS.has(code) ? RULE_FOR_HOLDS : null);
}

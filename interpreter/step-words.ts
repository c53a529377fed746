/** What a step is to do, in words, as its definition has it: references are not resolved. */
import { textOf } from '../language/expression/scope.ts';
import { joinWords } from '../language/graph/step-label.ts';
import type { Step } from '../language/model.ts';

const lengthMax = 500;

/** At most 500 characters; empty where a step does nothing itself. */
export function stepWords(step: Step): string {
  return wordsOf(step).replaceAll(/\s+/g, ' ').trim().slice(0, lengthMax);
}

function wordsOf(step: Step): string {
  switch (step.type) {
    case 'shell':
      return [step.command, ...(step.args ?? []).map(textOf)].join(' ');
    case 'command':
      return `${step.command} ${JSON.stringify(step.params ?? {})}`;
    case 'llm':
      return step.prompt ?? step.messages?.at(-1)?.content ?? step.system ?? '';
    case 'emit':
      return step.event;
    case 'approval':
    case 'fail':
      return step.message;
    case 'join':
      return joinWords(step);
    case 'sleep':
      return String(step.durationMs ?? step.until ?? '');
    case 'set':
      return JSON.stringify(step.values);
    case 'condition':
      return step.check;
    case 'watch':
      return step.event ?? '';
    case 'sentinel':
    case 'loop':
    case 'parallel':
      return '';
    default:
      return step satisfies never;
  }
}

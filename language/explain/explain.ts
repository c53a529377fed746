/**
 * A definition in plain sentences: what starts it, what it does in order, what it may touch, what
 * bounds it, what it asks people, and what history it makes.
 */
import type { Catalogue } from '../catalogue.ts';
import { declaredInputs, type DeclaredInput } from '../inputs/declared-inputs.ts';
import type { Definition, Trigger } from '../model.ts';
import { durationWords } from '../graph/describe-loop.ts';
import { asksOf } from './asks.ts';
import { textOf } from '../expression/scope.ts';
import { shownAsText } from '../graph/step-label.ts';
import { boundsOf } from './bounds.ts';
import { estimateOf, type Estimate } from './estimate.ts';
import { sentencesOf, type Sentence } from './sentences.ts';
import { touchesOf, type Touch } from './touches.ts';

export interface Explanation {
  name: string;
  description: string | null;
  /** What starts it. */
  starts: string;
  steps: Sentence[];
  /** What it gives to whoever started it, where the definition says so. */
  gives: string[];
  touches: Touch[];
  bounds: string[];
  asks: string[];
  estimate: Estimate;
}

export interface ExplainOptions {
  /** The commands there are. */
  catalogue: Catalogue;
  /** Definitions that `$ref`s name; what one that is not found does is not told. */
  knownRefs?: (name: string) => Definition | undefined;
}

export function explain(
  definition: Definition,
  { catalogue, knownRefs = () => undefined }: ExplainOptions,
): Explanation {
  return {
    name: definition.name,
    description: definition.description ?? null,
    starts: startOf(definition),
    steps: sentencesOf(definition, knownRefs),
    gives: Object.entries(definition.outputs ?? {}).map(([name, value]) => shownAsText(`${name}: ${textOf(value)}`)),
    touches: touchesOf(definition, knownRefs, catalogue),
    bounds: boundsOf(definition),
    asks: asksOf(definition, knownRefs),
    estimate: estimateOf(definition, catalogue),
  };
}

function startOf(definition: Definition): string {
  const given = declaredInputs(definition).map(inputWords);
  const from = given.length === 0 ? '' : ` It begins with ${given.join(', ')}.`;
  return `${triggerSentence(definition.trigger)}${from}`;
}

function inputWords({ name, type, isNeeded }: DeclaredInput): string {
  const words = [type, isNeeded ? 'needed' : undefined].filter((word) => word !== undefined);
  return words.length === 0 ? `$${name}` : `$${name} (${words.join(', ')})`;
}

function triggerSentence(trigger: Definition['trigger']): string {
  switch (trigger?.type) {
    case undefined:
    case 'manual':
      return 'A person or a program starts it.';
    case 'immediate':
      return 'It starts as soon as it is deployed.';
    case 'event':
      return eventSentence(trigger);
    case 'schedule':
      return `The schedule "${trigger.cronExpression}" (${trigger.timeZone ?? 'UTC'}) starts it${overlapWords(trigger.overlap)}.`;
    default:
      return trigger satisfies never;
  }
}

function eventSentence({ event, filter, debounceMs }: Extract<Trigger, { type: 'event' }>): string {
  const which = filter === undefined ? '' : ` for which ${shownAsText(filter)} is true`;
  return debounceMs === undefined
    ? `Each event "${event}"${which} starts it.`
    : `It starts ${durationWords(debounceMs)} after the last event "${event}"${which}, with that event.`;
}

function overlapWords(overlap: 'skip' | 'buffer' | 'cancel' | 'all' | undefined): string {
  switch (overlap) {
    case undefined:
    case 'skip':
      return ', unless the run before still goes on';
    case 'buffer':
      return ', after the run before';
    case 'cancel':
      return ', and cancels the run before';
    case 'all':
      return ', also beside the run before';
    default:
      return overlap satisfies never;
  }
}

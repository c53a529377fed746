/** What a person reads for a step in a graph: its name, or what it does, and how it fails. */
import type { ApprovalStep, JoinStep, SleepStep, Step } from '../model.ts';
import { durationWords } from './describe-loop.ts';

const shownMax = 80;

export function labelOfStep(step: Step): string {
  return [step.name ?? shortened(contentOf(step)), ...handlingOf(step)].join(' · ');
}

function contentOf(step: Step): string {
  switch (step.type) {
    case 'shell':
      return [
        step.command,
        ...(step.args ?? []).map((arg) => (typeof arg === 'string' ? arg : JSON.stringify(arg))),
      ].join(' ');
    case 'command':
      return step.command;
    case 'llm':
      return step.prompt ?? step.model ?? 'auto';
    case 'watch':
      return step.event ?? step.executionId ?? 'watch';
    case 'emit':
      return step.event;
    case 'approval':
    case 'fail':
      return step.message;
    case 'sleep':
      return sleepWords(step);
    case 'join':
      return joinWords(step);
    case 'set':
      return `set ${Object.keys(step.values).join(', ')}`;
    case 'condition':
      return step.check;
    case 'loop':
      return step.loop.type;
    case 'parallel':
      return step.over === undefined ? `${step.branches?.length ?? 0} branches` : `each ${step.as} of ${step.over}`;
    case 'sentinel':
      return '$ref' in step.definition ? step.definition.$ref : step.definition.name;
    default:
      return step satisfies never;
  }
}

/** `5 seconds`, `until 2026-01-31T08:00:00Z`. */
export function sleepWords({ durationMs, until = '' }: SleepStep): string {
  if (durationMs === undefined) return `until ${until}`;
  return typeof durationMs === 'number' ? durationWords(durationMs) : `${durationMs} ms`;
}

/** The runs that are waited for, as they are written. */
export function joinWords({ handles }: JoinStep): string {
  const written = Array.isArray(handles) ? handles : [handles];
  return written.map((handle) => (typeof handle === 'string' ? handle : JSON.stringify(handle))).join(', ');
}

function handlingOf(step: Step): string[] {
  const words: string[] = [];
  if (step.type === 'parallel') {
    if (step.failFast === true) words.push('the first failure ends all');
    if (step.maxConcurrency !== undefined) words.push(`${step.maxConcurrency} at a time`);
  }
  if ('failOn' in step && step.failOn === 'nonzero') words.push('fails by its exit code');
  if (step.onError === 'skip') words.push('skipped on failure');
  const attempts = step.retry?.attempts ?? (step.onError === 'retry' ? 3 : 1);
  if (attempts > 1) words.push(`${attempts} attempts`);
  return words;
}

/** On one line, and without the marks that would move a terminal's cursor or turn its text. */
export function shownAsText(text: string): string {
  return text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[\p{Cc}\p{Cf}]/gu, '')
    .trim();
}

/** Whom an approval step asks. */
export function approversOf({ assignee, approvers }: Pick<ApprovalStep, 'assignee' | 'approvers'>): string {
  if (approvers === undefined) return assignee ?? 'its persona';
  const { of, atLeast = 1 } = approvers;
  return of.length === 1 && atLeast === 1 ? (of[0] ?? '') : `${atLeast} of ${of.join(', ')}`;
}

export function shortened(text: string): string {
  const line = shownAsText(text);
  const characters = Array.from(line);
  return characters.length <= shownMax ? line : `${characters.slice(0, shownMax - 1).join('')}…`;
}

/** What bounds a run: passes, time, depth, memory, money; each one sentence. */
import { continuousPassesMax, nestingSentinelsMax, shellTimeoutMs } from '../limits.ts';
import { shownAsText } from '../graph/step-label.ts';
import { describeLoop, durationWords } from '../graph/describe-loop.ts';
import type { Budget, Concurrency, Definition, LoopConfig } from '../model.ts';

export function boundsOf(definition: Definition): string[] {
  const { loop, safety = {}, durability } = definition;
  const time = smallest(definition.timeoutMs, safety.timeoutMs, 'timeoutMs' in loop ? loop.timeoutMs : undefined);
  const atBound =
    safety.onTimeout === 'pause' ? 'then it pauses, and resuming it grants as much again' : 'then it is stopped';
  const sentences = [`Passes: ${passesSentence(loop, safety.maxIterations)}.`];
  sentences.push(
    time === null
      ? 'Time: no bound on the whole run; its steps have theirs.'
      : `Time: at most ${durationWords(time)}; ${atBound}.`,
  );
  if (definition.concurrency !== undefined) sentences.push(groupSentence(definition.concurrency));
  sentences.push(`Each step: ${stepSentence(safety.maxStepTimeoutMs)}.`);
  if (safety.budget !== undefined)
    sentences.push(`Budget, nested runs included: ${budgetWords(safety.budget)}; ${atBound}.`);
  if (safety.maxMemoryMb !== undefined) sentences.push(`Memory of its processes: at most ${safety.maxMemoryMb} MB.`);
  sentences.push(`Sentinels inside one another: at most ${safety.maxNestingDepth ?? nestingSentinelsMax}.`);
  if (definition.mode !== undefined && definition.mode !== 'full') sentences.push(modeSentence(definition.mode));
  if (durability === 'step') sentences.push('Every step is an activity of its own, quick ones too.');
  return sentences;
}

function groupSentence({ group, onConflict = 'queue' }: Concurrency): string {
  const words = {
    queue: 'it waits until those before it have ended',
    skip: 'it ends at once',
    cancel: 'it cancels those before it, and begins when they have ended',
  } as const;
  return `One run at a time of the group ${shownAsText(group)}; where another one has it, ${words[onConflict]}.`;
}

function smallest(...values: (number | undefined)[]): number | null {
  const present = values.filter((value) => value !== undefined);
  return present.length === 0 ? null : Math.min(...present);
}

function passesSentence(loop: LoopConfig, maxIterations: number | undefined): string {
  const own = describeLoop(loop);
  const usual =
    loop.type === 'continuous' &&
    loop.max === undefined &&
    loop.maxIterations === undefined &&
    maxIterations === undefined;
  const bound = maxIterations ?? (usual ? continuousPassesMax : undefined);
  return bound === undefined ? own : `${own}; never more than ${bound}`;
}

function stepSentence(maxStepTimeoutMs: number | undefined): string {
  const usual = `at most its own "timeoutMs", else ${durationWords(shellTimeoutMs)} for a shell step`;
  return maxStepTimeoutMs === undefined ? usual : `${usual}, and never more than ${durationWords(maxStepTimeoutMs)}`;
}

function budgetWords({ steps, tokens, usd, wallMs }: Budget): string {
  return [
    ...(steps === undefined ? [] : [`${steps} steps`]),
    ...(tokens === undefined ? [] : [`${tokens} tokens`]),
    ...(usd === undefined ? [] : [`${usd} US dollars`]),
    ...(wallMs === undefined ? [] : [durationWords(wallMs)]),
  ].join(', ');
}

function modeSentence(mode: 'readonly' | 'sandboxed'): string {
  return mode === 'readonly'
    ? 'Mode "readonly": only what reads is allowed.'
    : 'Mode "sandboxed": processes see the project alone, and no network.';
}

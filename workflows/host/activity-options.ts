/**
 * How each effect is asked of Temporal. The server retries an activity whose worker crashed; a failure
 * is final for it, because the walk itself retries a step (interpreter/attempts.ts). The activity keeps
 * the step's timeout; the server's stands a margin behind it, for workers that vanish.
 */
import { ActivityCancellationType, type ActivityOptions, type LocalActivityOptions } from '@temporalio/workflow';
import { defined } from '../../language/defined.ts';
import { tokensOf } from '../../language/models/token-usage.ts';
import { TIMEOUT_MARGIN_MS, type StepOptions } from '../../interpreter/contract.ts';
import { GROUP_KEY } from '../../interpreter/walk/groups.ts';
import type { Question } from '../../language/events/question.ts';
import type { AgentAt } from '../../interpreter/host.ts';
import type { CommandEffect, EmitEffect, ShellEffect, TurnEffect, WatchEffect } from '../../interpreter/effect.ts';

export type ActivityEffect = ShellEffect | CommandEffect | EmitEffect | WatchEffect | TurnEffect;

/** Long steps say twice a second that they are alive; the others end long before. */
const heartbeatTimeout = '15s';
const timeoutMaxMs = 10 * 365 * 24 * 3600 * 1000;
const summaryMax = 60;
/** Git checks out a whole project, or copies it. */
const workspaceMs = 900_000;

/** `taskQueue`: where it is not performed by the workers of the run. */
export function activityOptions(effect: ActivityEffect, taskQueue?: string): ActivityOptions {
  return { ...longOptions(effect.key, effect.timeoutMs), ...summaryOf(effect), ...defined({ taskQueue }) };
}

function longOptions(activityId: string, timeoutMs: number): ActivityOptions {
  return {
    activityId,
    startToCloseTimeout: Math.min(timeoutMs, timeoutMaxMs) + TIMEOUT_MARGIN_MS,
    heartbeatTimeout,
    // A run that was cancelled has ended when what it started has: no process outlives it.
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' },
  };
}

export function stepOptions(effect: ActivityEffect): [StepOptions] | [] {
  const { confinement, secrets, reach } = effect;
  const starts = startsOf(effect);
  const { call, resolved } = effect.type === 'command' ? effect : {};
  const said = Object.entries({ confinement, secrets, reach, starts, resolved, call }).filter(
    ([, value]) => value !== undefined,
  );
  return said.length === 0 ? [] : [Object.fromEntries(said) as StepOptions];
}

function startsOf(effect: ActivityEffect): StepOptions['starts'] {
  if (effect.type !== 'command' || effect.starts === undefined) return undefined;
  const { starts, library } = effect;
  return library === undefined ? starts : { ...starts, library };
}

/** An agent segment ends with the time of its step, as a turn does, and the server retries it where its worker vanished. */
export function agentOptions({ key, place, open }: AgentAt, label: string, timeoutMs: number): ActivityOptions {
  return {
    ...longOptions(key, timeoutMs),
    summary: shortened(`from turn ${open.turn} ${label}${tokensWords(tokensOf(open.usage))}, ${place.key}`),
  };
}

/** Making the workspace of a run, or committing what is in it. */
export const workspaceOptions = (what: string, summary: string): ActivityOptions => ({
  ...longOptions(what, workspaceMs),
  summary: shortened(summary),
});

/** `label`: of the step that it begins with. A segment is retried until it succeeds: only the store being away, or a bug of the engine, can fail one. */
export function segmentOptions(key: string, label = ''): LocalActivityOptions {
  return {
    summary: shortened(`from ${key} ${label}`.trim()),
    startToCloseTimeout: '2m',
    localRetryThreshold: '5s',
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { initialInterval: '100ms', backoffCoefficient: 2, maximumInterval: '10s' },
  };
}

/** A look into the store for an event; only the store being away can fail it. */
export function lookOptions(key: string, pattern: string): LocalActivityOptions {
  return { ...segmentOptions(key), summary: shortened(`${key} waits for ${pattern}`) };
}

export function groupOptions(group: string): LocalActivityOptions {
  return { ...segmentOptions(GROUP_KEY), summary: shortened(`asks for the group ${group}`) };
}

export function placeOptions(persona: string): LocalActivityOptions {
  return { ...segmentOptions(''), summary: shortened(`the place of the run among those of ${persona}`) };
}

export function dayOptions(persona: string): LocalActivityOptions {
  return { ...segmentOptions(''), summary: shortened(`what ${persona} has left of its day`) };
}

/** The timer until which a question can be answered. */
export const questionOptions = ({ id, message }: Question): { summary: string } => ({
  summary: shortened(`${id} asks: ${message}`),
});

/** Making a digest, or holding an answer against its form, asks nothing of the world. */
export const answerOptions: LocalActivityOptions = { startToCloseTimeout: '10s', localRetryThreshold: '5s' };

/** `about`: the step or the limit that is asked about. */
export const digestOptions = (about: string): LocalActivityOptions => ({
  ...answerOptions,
  summary: shortened(`${about} is asked about`),
});

/**
 * What the list of events in the Web UI shows beside the activity's type: the key and what the step
 * does, where that is not the type itself. Temporal refuses summaries over 200 bytes.
 */
function summaryOf(effect: ActivityEffect): { summary?: string } {
  if (effect.type === 'turn') return { summary: shortened(turnSummary(effect)) };
  if (effect.type === 'command' && effect.label === effect.command) return {};
  return { summary: shortened(`${effect.key} ${effect.label}`) };
}

/** The key is the activity's id, too, and comes last. */
function turnSummary({ turn, model, tokensBefore, conversation }: TurnEffect): string {
  return `turn ${turn} ${model}${tokensWords(tokensBefore)}, ${conversation}`;
}

const tokensWords = (tokens: number): string => (tokens === 0 ? '' : `, ${tokens} tokens so far`);

function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length <= summaryMax ? line : `${line.slice(0, summaryMax - 3)}...`;
}

/**
 * How each effect is asked of Temporal. A crash of a worker is always tried again; a failure only as
 * often as the step's own `retry` says (the activity makes the last one final). The step's timeout is
 * kept by the activity itself; the server's stands a margin behind it, for workers that vanish.
 */
import { ActivityCancellationType, type ActivityOptions, type LocalActivityOptions } from '@temporalio/workflow';
import { TIMEOUT_MARGIN_MS, type StepOptions } from '../activities/contract.ts';
import type { CommandEffect, EmitEffect, ShellEffect } from './interpreter/host.ts';
import { previewOf } from './interpreter/preview.ts';

/** Long steps say every 2 s that they are alive; the others end long before. */
const heartbeatTimeout = '15s';
const timeoutMaxMs = 10 * 365 * 24 * 3600 * 1000;
const summaryMax = 60;

export function activityOptions(effect: ShellEffect | CommandEffect | EmitEffect): ActivityOptions {
  const { retry, leftMs } = effect;
  return {
    activityId: effect.key,
    ...summaryOf(effect),
    startToCloseTimeout: Math.min(effect.timeoutMs, timeoutMaxMs) + TIMEOUT_MARGIN_MS,
    ...(retry === null || leftMs === null ? {} : { scheduleToCloseTimeout: leftMs + TIMEOUT_MARGIN_MS }),
    heartbeatTimeout,
    // A run that was cancelled has ended when what it started has: no process outlives it.
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: {
      initialInterval: retry?.backoffMs ?? 1000,
      backoffCoefficient: retry?.factor ?? 2,
      maximumInterval: Math.max(retry?.maxBackoffMs ?? 30_000, retry?.backoffMs ?? 0),
    },
  };
}

export function stepOptions(effect: ShellEffect | CommandEffect | EmitEffect): [StepOptions] | [] {
  return effect.retry === null ? [] : [{ attempts: effect.retry.attempts }];
}

/** A segment is retried until it succeeds: only the store being away, or a bug, can fail one. */
export function segmentOptions(key: string): LocalActivityOptions {
  return {
    summary: `from ${key}`,
    startToCloseTimeout: '2m',
    localRetryThreshold: '5s',
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { initialInterval: '100ms', backoffCoefficient: 2, maximumInterval: '10s' },
  };
}

/**
 * What the Web UI shows beside the activity's type, which is the command, and its id, which is the
 * key. Temporal refuses summaries over 200 bytes.
 */
function summaryOf(effect: ShellEffect | CommandEffect | EmitEffect): { summary?: string } {
  if (effect.type === 'command' && effect.label === effect.command) {
    const params = previewOf(effect.params);
    return params === '{}' ? {} : { summary: shortened(params) };
  }
  return { summary: shortened(`${effect.key} ${effect.label}`) };
}

function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length <= summaryMax ? line : `${line.slice(0, summaryMax - 3)}...`;
}

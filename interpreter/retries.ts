/** Whether a step that failed is tried again: as its `retry` says, and as far as that can help. */
import { entryOf } from '../language/catalogue.ts';
import { isHeldBack, isPermanent, type FailureInfo } from '../language/failure.ts';
import type { Retry, Step } from '../language/model.ts';
import { isRetryable } from '../language/stated-failures.ts';
import type { Place } from './effect.ts';
import type { RunInput } from './host.ts';

const usualRetry: Retry = { attempts: 3 };

export function retryOf(step: Step): Retry | null {
  return step.retry ?? (step.onError === 'retry' ? usualRetry : null);
}

export function isTriedAgain({ catalogue }: RunInput, step: Step, place: Place, failure: FailureInfo): boolean {
  if (isHeldBack(failure)) return true;
  const retry = retryOf(step);
  if (retry === null || (place.attemptsLeft ?? 0) === 0 || isPermanent(failure)) return false;
  if (retry.on !== undefined) return retry.on.includes(failure.code);
  // A step that contains others begins anew, with other parameters perhaps.
  if (step.type !== 'command') return true;
  const stated = entryOf(catalogue, step.command).failures ?? {};
  return !Object.hasOwn(stated, failure.code) || isRetryable(stated[failure.code] ?? '');
}

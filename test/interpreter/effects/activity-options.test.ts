/** What Temporal is asked to keep to when a step becomes an activity. */
import { expect, test } from 'vitest';
import { TIMEOUT_MARGIN_MS } from '../../../interpreter/contract.ts';
import { activityOptions, type ActivityEffect } from '../../../workflows/host/activity-options.ts';

const frame = { key: 'steps.0@1', label: 'a step', timeoutMs: 60_000, leftMs: null, retry: null };
const effects: ActivityEffect[] = [
  { type: 'shell', command: 'true', ...frame },
  { type: 'command', command: 'code/read', params: {}, ...frame },
  { type: 'emit', event: 'happened', data: null, ...frame },
  { type: 'watch', request: { executionId: 'e' }, ...frame },
];

test.each(effects)('$type: a worker that vanished is noticed long before the time of the step is up', (effect) => {
  expect(activityOptions(effect)).toMatchObject({
    heartbeatTimeout: '15s',
    startToCloseTimeout: 60_000 + TIMEOUT_MARGIN_MS,
  });
});

test.each(effects)(
  '$type: retries end with the run’s time, and one attempt is not cut short by the server',
  (effect) => {
    const retry = { attempts: 5, backoffMs: 1000 };
    expect(activityOptions({ ...effect, retry, leftMs: 3000 }).scheduleToCloseTimeout).toBe(3000 + TIMEOUT_MARGIN_MS);
    expect(activityOptions({ ...effect, retry }).scheduleToCloseTimeout).toBeUndefined();
    expect(activityOptions({ ...effect, leftMs: 3000 }).scheduleToCloseTimeout).toBeUndefined();
  },
);

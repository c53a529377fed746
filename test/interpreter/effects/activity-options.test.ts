/** What Temporal is asked to keep to when a step becomes an activity. */
import { expect, test } from 'vitest';
import { TIMEOUT_MARGIN_MS } from '../../../interpreter/contract.ts';
import { activityOptions, type ActivityEffect } from '../../../workflows/host/activity-options.ts';

const frame = { key: 'steps.0@1', label: 'a step', timeoutMs: 60_000 };
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

test.each(effects)('$type: the server bounds one attempt, and never all of them together', (effect) => {
  expect(activityOptions(effect).scheduleToCloseTimeout).toBeUndefined();
});

/** What a run records shows no listed environment variable, in whatever event it would stand. */
import { expect, test } from 'vitest';
import type { RunEvent } from '../../../language/events/run-event.ts';
import type { Definition } from '../../../language/model.ts';
import { record, type Walk } from '../../../interpreter/walk-state.ts';
import { firstPosition } from '../../../interpreter/position.ts';

const token = `sealed_API_KEY_${'0'.repeat(32)}`;

function recorded(event: Parameters<typeof record>[1]): RunEvent | undefined {
  const events: RunEvent[] = [];
  const definition: Definition = { name: 'case', steps: [], loop: { type: 'once' } };
  const host = { now: () => 0, record: (made: RunEvent) => void events.push(made) };
  record(
    {
      input: { definition, env: { API_KEY: token, STAGE: 'production' } },
      position: firstPosition(0),
      host,
    } as unknown as Walk,
    event,
  );
  return events[0];
}

test.each<[Parameters<typeof record>[1], object]>([
  [{ type: 'step-started', key: 'steps.0@1', step: 'shell', label: `echo ${token}` }, { label: 'echo [env API_KEY]' }],
  [
    {
      type: 'step-finished',
      key: 'steps.0@1',
      step: 'shell',
      label: 'x',
      outcome: 'failed',
      durationMs: 1,
      failure: { code: 'X', message: `at ${token}`, retryable: false, details: { tail: ['production'] } },
    },
    { failure: { message: 'at [env API_KEY]', details: { tail: ['[env STAGE]'] } } },
  ],
  [
    {
      type: 'run-finished',
      key: '',
      status: 'completed',
      outcome: 'completed',
      iterations: 1,
      durationMs: 1,
      outputs: { a: { b: token } },
    },
    { outputs: { a: { b: '[env API_KEY]' } } },
  ],
  [{ type: 'warning', key: '', code: 'X', message: 'in production' }, { message: 'in [env STAGE]' }],
  [{ type: 'paused', key: '', reason: `for ${token}` }, { reason: 'for [env API_KEY]' }],
])('%j', (event, expected) => {
  expect(recorded(event)).toMatchObject(expected);
});

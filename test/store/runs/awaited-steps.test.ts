/** Whether a run waits for a process that was begun for it: by what the server says, and by the run's events where it says nothing. */
import type { Client } from '@temporalio/client';
import { expect, test } from 'vitest';
import { SEGMENT } from '../../../interpreter/contract.ts';
import type { RunEvent } from '../../../language/events/run-event.ts';
import { askStepOf } from '../../../worker/run-signals.ts';
import { started, useStore } from '../harness/opened.ts';

const opened = useStore();
const key = 'steps.0@1';
const begun = (seq: number): RunEvent => ({ seq, at: 5, type: 'step-started', key, step: 'shell', label: 'make' });
const ended = (seq: number): RunEvent => ({
  seq,
  at: 9,
  type: 'step-finished',
  key,
  step: 'shell',
  label: 'make',
  outcome: 'ok',
  durationMs: 4,
});

interface Said {
  status?: string;
  /** Types and ids. */
  pending?: readonly (readonly [type: string, id: string])[];
  isTask?: boolean;
}

const asked = (handle: string, { status = 'RUNNING', pending = [], isTask = false }: Said, of = key) => {
  const raw = {
    pendingWorkflowTask: isTask ? {} : null,
    pendingActivities: pending.map(([name, activityId]) => ({ activityType: { name }, activityId })),
  };
  const describe = () => Promise.resolve({ status: { name: status }, raw });
  const client = { workflow: { getHandle: () => ({ describe }) } } as unknown as Client;
  return askStepOf(client, opened.store)(handle, of);
};

test('a run that waits for nothing at the server waits for a step that has begun and not ended', async () => {
  await opened.store.events.append('left', [started(0), begun(1)]);
  expect(await asked('left', {})).toBe(true);
  expect(await asked('left', {}, 'steps.1@1')).toBe(false);
  await opened.store.events.append('left', [ended(2)]);
  expect(await asked('left', {})).toBe(false);
});

test.each<[string, Said, string, boolean]>([
  ['a workflow task', { isTask: true }, key, true],
  ['a segment', { pending: [[SEGMENT, 'segment 1']] }, key, true],
  ['its own activity', { pending: [['shell', key]] }, key, true],
  ['the activity of a step that has several', { pending: [['command', key]] }, `${key}/npm-test`, true],
  ['the activity of another step', { pending: [['shell', 'steps.1@1']] }, key, false],
  ['a run that has ended', { status: 'COMPLETED', isTask: true }, key, false],
])('%s', async (_what, said, of, isAwaited) => {
  expect(await asked('other', said, of)).toBe(isAwaited);
});

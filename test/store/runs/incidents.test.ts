/** What went wrong, in words: one row for the event that said so, found by a question in plain words. */
import { expect, test } from 'vitest';
import type { RunEvent } from '../../../language/events/run-event.ts';
import type { Incident } from '../../../prisma/store/contract/incident-contract.ts';
import { started, useStore } from '../harness/opened.ts';

const opened = useStore();

const at = Date.parse('2026-01-01T00:00:10Z');
const failed = (seq: number, label: string, code: string, message: string, more: object = {}): RunEvent => ({
  seq,
  at: at + seq,
  key: `steps.${seq}@1`,
  type: 'step-finished',
  step: 'shell',
  label,
  outcome: 'failed',
  durationMs: 1,
  failure: { code, message, retryable: false },
  ...more,
});
const asked = (seq: number, id: string, kind: 'error' | 'approval', message: string): RunEvent => ({
  seq,
  at: at + seq,
  key: '',
  type: 'asked',
  question: {
    id,
    kind,
    message,
    choices: ['retry', 'abort'],
    show: { failure: { code: 'MODEL_SPEND_LIMIT' } },
    form: null,
    assignee: 'ada',
    priority: 'high',
    askedAt: at,
    expiresAt: null,
    digest: 'x',
  },
});
const answered = (seq: number, id: string): RunEvent => ({
  seq,
  at: at + seq,
  key: '',
  type: 'answered',
  id,
  answer: { choice: 'retry', note: 'topped up the account', data: null, by: 'ada', at },
  open: 0,
  held: false,
});

const of = (found: readonly Incident[]): unknown[] => found.map(({ handle, seq }) => `${handle} ${seq}`);

test('each event is one row, however often it is written, and an answer becomes the outcome', async () => {
  const { events, incidents } = opened.store;
  const handle = 'deploy-7';
  const batch: RunEvent[] = [
    started(1, 'deploy-pipeline'),
    failed(2, 'build', 'SHELL_NOT_STARTED', 'steps.2@1: there is no program "vite" in src/web-app', {
      action: 'vite build --mode production',
      outcome: 'retried',
    }),
    asked(3, 'steps.3@1:turn.2:failed', 'error', 'the model cannot go on: the account has reached its limit'),
    asked(4, 'steps.4@1', 'approval', 'May I?'),
  ];
  await events.append(handle, batch);
  await events.append(handle, batch);
  expect(await incidents.find({ handle })).toMatchObject([
    { seq: 3, name: 'deploy-pipeline', kind: 'escalation', code: 'error', outcome: null, key: '' },
    {
      seq: 2,
      kind: 'failure',
      code: 'SHELL_NOT_STARTED',
      key: 'steps.2@1',
      action: 'build: vite build --mode production',
      outcome: 'it was tried again',
    },
  ]);
  await events.append(handle, [answered(5, 'steps.3@1:turn.2:failed')]);
  await events.append(handle, batch);
  const [escalation] = await incidents.find({ handle, kind: 'escalation' });
  expect(escalation?.outcome).toBe('ada answered retry: topped up the account');
});

test('a question in plain words finds it by what failed, what it did and what became of it', async () => {
  const { events, incidents } = opened.store;
  await events.append('other', [
    started(1, 'nightly-review'),
    failed(2, 'review', 'MODEL_CONTEXT_TOO_LONG', 'the conversation is longer than the window of the model'),
  ]);
  expect(of(await incidents.find({ about: 'why did building the web app fail?' }))[0]).toBe('deploy-7 2');
  expect(of(await incidents.find({ about: 'Which runs had to top up an account?' }))[0]).toBe('deploy-7 3');
  expect(of(await incidents.find({ about: 'MODEL_CONTEXT_TOO_LONG' }))[0]).toBe('other 2');
  expect(of(await incidents.find({ about: 'conversations that are too long' }))).toEqual(['other 2']);
  expect(await incidents.find({ about: 'kubernetes' })).toEqual([]);
  // Nothing but words that every text has.
  expect(await incidents.find({ about: 'what is it?' })).toEqual([]);
  for (const about of [`it's \\ "quoted" & | ! ( :*`, '\0', "'", '\\'])
    await expect(incidents.find({ about })).resolves.toBeDefined();
});

test('the end of a run, and a step around, say no failure again that a step of it had', async () => {
  const { events, incidents } = opened.store;
  const failure = { code: 'STEP_TIMEOUT', message: 'steps.1@1: it took too long', retryable: true };
  await events.append('once', [started(0), failed(1, 'slow', failure.code, failure.message)]);
  await events.append('once', [failed(2, 'loop', failure.code, failure.message, { step: 'loop' })]);
  await events.append('once', [
    {
      seq: 3,
      at,
      key: '',
      type: 'run-finished',
      status: 'failed',
      outcome: 'failed',
      failure,
      iterations: 1,
      durationMs: 1,
      outputs: {},
    },
  ]);
  expect(of(await incidents.find({ handle: 'once' }))).toEqual(['once 1']);
});

test('what a lost worker had said is taken back', async () => {
  const { events, incidents } = opened.store;
  await events.append('lost', [
    started(0),
    failed(2, 'a', 'GIT_FAILED', 'it failed'),
    failed(3, 'b', 'GIT_FAILED', 'so did this'),
  ]);
  await events.takeBack('lost', 3, 10);
  expect(of(await incidents.find({ handle: 'lost' }))).toEqual(['lost 2']);
});

test('texts that a column cannot hold are kept without that', async () => {
  const { events, incidents } = opened.store;
  await events.append('odd', [
    started(0),
    failed(2, 'a\0b', 'GIT_FAILED', `half a pair \ud83d and NUL \0 ${'x'.repeat(10_000)}`),
  ]);
  const [found] = await incidents.find({ handle: 'odd' });
  expect(found?.message.length).toBeLessThanOrEqual(4_000);
});

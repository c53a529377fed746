/** Two runs compared: what counts as a difference, in which order steps stand, and what people read. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { diffLines } from '../../../cli/verbs/diff.ts';
import { diffRuns, type RunSide } from '../../../client/show/diff-runs.ts';
import { PLAIN } from '../../../client/show/paint.ts';
import type { RunEvent, StepFinished } from '../../../language/events/run-event.ts';

interface RunCase {
  events: RunEvent[];
  nested: Record<string, RunEvent[]>;
}

function recorded(name: string, change: (event: RunEvent) => RunEvent = (event) => event): RunSide {
  const { events, nested } = JSON.parse(
    readFileSync(new URL(`../../cases/run-traces/${name}.json`, import.meta.url), 'utf8'),
  ) as RunCase;
  return {
    events: events.map(change),
    nested: new Map(Object.entries(nested).map(([under, below]) => [under, below.map(change)])),
  };
}

const step = (seq: number, key: string, rest: Partial<StepFinished> = {}): StepFinished => ({
  seq,
  at: 0,
  type: 'step-finished',
  key,
  step: 'shell',
  label: key,
  outcome: 'ok',
  durationMs: 1,
  ...rest,
});
const end = (seq: number, iterations = 1): RunEvent => ({
  seq,
  at: 0,
  type: 'run-finished',
  key: '',
  status: 'completed',
  outcome: 'completed',
  iterations,
  durationMs: 10,
  outputs: {},
});
const statuses = (a: RunEvent[], b: RunEvent[]): string[] =>
  diffRuns({ events: a }, { events: b }).steps.map(({ key, status, differs }) => [key, status, ...differs].join(' '));

const value = (id: string, at: number, ms: number): string =>
  JSON.stringify({ id, createdAt: at, durationMs: ms, n: 1 });
const cut = (ms: string): string => `{"durationMs":${ms},"a":"${'x'.repeat(50)}","b":"${'y'.repeat(120 - ms.length)}…`;

test('how long a run took is what its report says, where that is known', () => {
  const { run } = diffRuns({ events: [end(1)], durationMs: 665 }, { events: [end(1)] });
  expect([run.a.durationMs, run.b.durationMs]).toEqual([665, 10]);
  expect(diffRuns({ events: [], durationMs: 5 }, { events: [] }).run.a.durationMs).toBeNull();
});

describe('a run compared with itself', () => {
  test.each(['family', 'fan-out', 'failure', 'repeated'])('%s is the same, whatever it took', (name) => {
    const slower = recorded(name, (event) =>
      event.type === 'step-finished' ? { ...event, durationMs: event.durationMs * 3 + 1, at: event.at + 99 } : event,
    );
    const diff = diffRuns(recorded(name), slower);
    expect(diff.steps.filter(({ status }) => status !== 'same')).toEqual([]);
    expect(diff.same).toBe(true);
    expect(diff.steps.length).toBeGreaterThan(1);
  });

  test('times and ids inside values make no difference', () => {
    const a = [step(1, 'steps.0@1', { preview: value('0'.repeat(32), 1, 14) }), end(2)];
    const b = [step(1, 'steps.0@1', { preview: value('f'.repeat(32), 2222, 9) }), end(2)];
    expect(statuses(a, b)).toEqual(['steps.0@1 same']);
    expect(
      statuses([step(1, 'steps.0@1', { preview: cut('1') })], [step(1, 'steps.0@1', { preview: cut('12345') })]),
    ).toEqual(['steps.0@1 same']);
  });
});

describe('what makes a difference', () => {
  test.each<[string, Partial<StepFinished>, string]>([
    ['an outcome', { outcome: 'skipped' }, 'steps.0@1 different outcome'],
    ['a label', { label: 'other' }, 'steps.0@1 different step'],
    ['a type', { step: 'emit' }, 'steps.0@1 different step'],
    [
      'a failure',
      { outcome: 'failed', failure: { code: 'SHELL_NOT_STARTED', message: 'm', retryable: false } },
      'steps.0@1 different outcome failure',
    ],
    ['a value', { preview: '{"exitCode":1}' }, 'steps.0@1 different value'],
    ['a value that is longer', { preview: '{"exitCode":0,"stdout":"other…' }, 'steps.0@1 different value'],
  ])('%s', (_what, rest, line) => {
    expect(
      statuses(
        [step(1, 'steps.0@1', { preview: '{"exitCode":0}' })],
        [step(1, 'steps.0@1', { preview: '{"exitCode":0}', ...rest })],
      ),
    ).toEqual([line]);
  });

  test('a step that only one has, and one that has not ended', () => {
    const started: RunEvent = {
      seq: 1,
      at: 0,
      type: 'step-started',
      key: 'steps.1@1',
      step: 'shell',
      label: 'steps.1@1',
    };
    expect(statuses([step(1, 'steps.0@1'), step(2, 'steps.1@1')], [started, step(3, 'steps.2@1')])).toEqual([
      'steps.0@1 only-a',
      'steps.1@1 different outcome',
      'steps.2@1 only-b',
    ]);
  });

  test('how the run ended, and after how many passes', () => {
    expect(diffRuns({ events: [end(1)] }, { events: [end(1, 2)] }).same).toBe(false);
    expect(diffRuns({ events: [end(1)] }, { events: [] }).same).toBe(false);
  });
});

test('what an edit came before has another key, and is the same step', () => {
  const plain = [step(1, 'steps.0@1'), step(2, 'steps.1@1'), step(3, 'steps.1.then.0@1')];
  const edited = [
    step(1, 'steps.0@1'),
    step(2, 'steps.1~2@1', { label: 'steps.1@1' }),
    step(3, 'steps.1~2.then.0~2@1', { label: 'steps.1.then.0@1' }),
    step(4, 'steps.1~3@1'),
  ];
  expect(statuses(plain, edited)).toEqual([
    'steps.0@1 same',
    'steps.1@1 same',
    'steps.1.then.0@1 same',
    'steps.1~3@1 only-b',
  ]);
});

const seen = ({ steps }: ReturnType<typeof diffRuns>): string[] => steps.map(({ key, status }) => `${key} ${status}`);

test('what a run did before it was forked is no difference, whichever of the two is named first', () => {
  const started: RunEvent = {
    seq: 1,
    at: 0,
    type: 'run-started',
    key: '',
    name: 'n',
    definitionHash: '',
    project: '',
    persona: '',
    parent: null,
    inputs: {},
    origin: { type: 'fork', of: 'old', at: 'steps.2@1' },
  };
  const old: RunSide = {
    handle: 'old',
    events: [
      step(1, 'steps.0@1', { step: 'sentinel' }),
      step(2, 'steps.1@1'),
      step(3, 'steps.2@1'),
      step(4, 'steps.3@1'),
      end(5),
    ],
    nested: new Map([['steps.0@1', [step(1, 'steps.0@1')]]]),
  };
  const fork: RunSide = { handle: 'new', events: [started, step(2, 'steps.2@1'), end(3)] };
  expect(seen(diffRuns(old, fork))).toEqual([
    'steps.0@1 shared',
    'steps.0@1/steps.0@1 shared',
    'steps.1@1 shared',
    'steps.2@1 same',
    'steps.3@1 only-a',
  ]);
  expect(seen(diffRuns(fork, old)).at(-1)).toBe('steps.3@1 only-b');
  expect(diffRuns(fork, { ...old, events: old.events.toSpliced(3, 1) }).same).toBe(true);
  expect(diffLines(diffRuns(fork, old), { a: 'new', b: 'old', all: false, paint: PLAIN }).at(-1)).toBe(
    '1 the same, 0 different, 0 only in new, 1 only in old, 3 done before the fork',
  );
});

test('a key that both runs have is one step, whatever it would be without its revisions', () => {
  const old = [
    step(1, 'steps.0@1'),
    step(2, 'steps.1@1', { step: 'approval' }),
    step(3, 'steps.1~3@1'),
    step(4, 'steps.2~3@1'),
    end(5),
  ];
  const started: RunEvent = {
    seq: 1,
    at: 0,
    type: 'run-started',
    key: '',
    name: 'n',
    definitionHash: '',
    project: '',
    persona: '',
    parent: null,
    inputs: {},
    origin: { type: 'fork', of: 'old', at: 'steps.1~3@1' },
  };
  const fork = [started, step(2, 'steps.1~3@1'), step(3, 'steps.2~3@1'), end(4)];
  const lines = ['steps.0@1 shared', 'steps.1@1 shared', 'steps.2@1 same', 'steps.1~3@1 same'];
  expect(seen(diffRuns({ handle: 'old', events: old }, { handle: 'new', events: fork }))).toEqual(lines);
  expect(seen(diffRuns({ handle: 'new', events: fork }, { handle: 'old', events: old }))).toEqual(lines);
});

test('steps stand in the order of the definition, those of a nested run after the step that holds it', () => {
  const { steps } = diffRuns(
    {
      events: [step(1, 'steps.10@1'), step(2, 'steps.2@1', { step: 'sentinel' }), step(3, 'steps.9@1')],
      nested: new Map([['steps.2@1', [step(1, 'steps.0@2'), step(2, 'steps.0@1')]]]),
    },
    { events: [step(1, 'steps.0@1')] },
  );
  expect(steps.map(({ key }) => key)).toEqual([
    'steps.0@1',
    'steps.2@1',
    'steps.2@1/steps.0@1',
    'steps.2@1/steps.0@2',
    'steps.9@1',
    'steps.10@1',
  ]);
});

test('people see what differs, and all of it with --all', () => {
  const a = [step(1, 'steps.0@1'), step(2, 'steps.1@1', { preview: '"red"' }), step(3, 'steps.2@1'), end(4)];
  const b = [step(1, 'steps.0@1'), step(2, 'steps.1@1', { preview: '"blue"' }), step(3, 'steps.3@1'), end(4)];
  const diff = diffRuns({ events: a }, { events: b });
  expect(diffLines(diff, { a: 'one', b: 'two', all: false, paint: PLAIN })).toEqual([
    '   STEP                        one                      two',
    '   run                         completed, 1 pass 10 ms  completed, 1 pass 10 ms',
    '≠  steps.1@1  shell steps.1@1  ok 1 ms                  ok 1 ms',
    '-  steps.2@1  shell steps.2@1  ok 1 ms',
    '+  steps.3@1  shell steps.3@1                           ok 1 ms',
    '  steps.1@1',
    '    - "red"',
    '    + "blue"',
    '1 the same, 1 different, 1 only in one, 1 only in two',
  ]);
  expect(diffLines(diff, { a: 'one', b: 'two', all: true, paint: PLAIN })[2]).toBe(
    '   steps.0@1  shell steps.0@1  ok 1 ms                  ok 1 ms',
  );
  expect(
    diffLines(diffRuns({ events: a }, { events: a }), { a: 'one', b: 'two', all: false, paint: PLAIN }).at(-1),
  ).toBe('the same: 3 steps');
});

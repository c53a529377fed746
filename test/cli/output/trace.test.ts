import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { comparePlaces, depthOf, placeOf } from '../../../client/show/step-keys.ts';
import { orderEvents, traceLines } from '../../../client/show/trace.ts';
import type { RunEvent } from '../../../language/events/run-event.ts';

interface TraceCase {
  title: string;
  events: RunEvent[];
  nested: Record<string, RunEvent[]>;
  lines: string[];
}

const folder = join(import.meta.dirname, '..', '..', 'cases', 'run-traces');
const cases = readdirSync(folder).map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as TraceCase);

function shuffled<Item>(items: readonly Item[], seed: number): Item[] {
  let state = seed;
  const random = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  return items
    .map((item) => ({ item, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

describe.each(cases)('trace of $title', ({ events, nested, lines }) => {
  it.each([1, 7, 42])('is the same whatever order events arrive in (%i)', (seed) => {
    const arrived = shuffled(events, seed);
    const below = new Map(Object.entries(nested).map(([under, inner]) => [under, shuffled(inner, seed)]));
    expect(traceLines(arrived, { nested: below })).toEqual(lines);
  });

  it('loses and repeats no event', () => {
    const ordered = orderEvents(shuffled(events, 3));
    expect(ordered.map(({ seq }) => seq).toSorted((a, b) => a - b)).toEqual(
      events.map(({ seq }) => seq).toSorted((a, b) => a - b),
    );
  });

  it('leaves durations out where traces are compared', () => {
    expect(traceLines(events, { durations: false }).join('\n')).not.toMatch(/\d m?s\b/);
  });
});

const event = (seq: number, type: string, key: string, rest: object = {}): RunEvent =>
  ({ seq, at: 0, type, key, ...rest }) as RunEvent;
const finished = (seq: number, key: string, step = 'emit'): RunEvent =>
  event(seq, 'step-finished', key, { step, label: 'x', outcome: 'ok', durationMs: 0 });

const failed = (seq: number, key: string, step: string, code: string, message: string): RunEvent =>
  event(seq, 'step-finished', key, {
    step,
    label: 'x',
    outcome: 'failed',
    durationMs: 5,
    failure: { code, message, retryable: true },
  });

const shell = (command: string, rest: object = {}): object => ({ type: 'shell', command, ...rest });

describe('a line', () => {
  const edit = (op: string, before: object | null, after: object | null, rest: object = {}): RunEvent =>
    event(1, 'edited', '', { op, path: 'steps.1', revision: 2, by: 'ada', before, after, from: 'now', ...rest });
  const answer = (data: object, rest: object = {}): RunEvent =>
    event(2, 'answered', 'steps.0@1', {
      id: 'steps.0@1',
      answer: { choice: 'edit', by: 'local', note: null, data, at: 0, ...rest },
    });
  const asked = event(1, 'asked', 'steps.0@1', {
    question: {
      id: 'steps.0@1',
      assignee: 'ada',
      message: 'm',
      show: { permission: 'shell', action: { type: 'shell', command: 'rm a', cwd: 'x' } },
    },
  });

  it.each<[string, RunEvent[], string]>([
    ['an update', [edit('update', shell('a'), shell('b'))], '± revision 2 by ada: update steps.1: command "a" → "b"'],
    [
      'an update of several fields, for later',
      [
        edit('update', shell('a', { cwd: 'x' }), shell('a', { stdin: 'y', env: { A: '1' } }), {
          from: 'next-pass',
          note: 'so',
        }),
      ],
      '± revision 2 by ada from the next pass: update steps.1: without cwd, stdin "y", env {"A":"1"} (so)',
    ],
    [
      'a long update',
      [edit('update', shell('a'), shell('b'.repeat(99)))],
      `± revision 2 by ada: update steps.1: command "a" → "${'b'.repeat(58)}…`,
    ],
    [
      'a step that was added',
      [edit('add', null, shell('npm  test'))],
      '± revision 2 by ada: add steps.1: shell npm test',
    ],
    [
      'one that was taken out',
      [edit('remove', shell('a', { name: 'build' }), null)],
      '± revision 2 by ada: remove steps.1: shell build',
    ],
    ['one that is skipped', [edit('skip', shell('a'), shell('a'))], '± revision 2 by ada: skip steps.1: shell a'],
    [
      'an edit in answer to a question',
      [asked, answer({ command: 'rm b' }, { note: 'not a' })],
      '! steps.0@1 edit by local: command "rm a" → "rm b" (not a)',
    ],
    [
      'an edit whose question is not at hand',
      [answer({ command: 'rm b' })],
      '! steps.0@1 edit by local: command "rm b"',
    ],
    [
      'what a step cost',
      [
        event(1, 'step-finished', 'steps.0@1', {
          step: 'command',
          label: 'x',
          outcome: 'ok',
          durationMs: 5,
          usage: { tokens: 1234, usd: 0.02 },
        }),
      ],
      '✔ steps.0@1  command x  ok  5 ms  1,234 tokens  $0.0200',
    ],
  ])('tells of %s', (_title, events, line) => {
    expect(traceLines(events).at(-1)).toBe(line);
  });
});

describe('a failure', () => {
  it('of several lines stands once, behind a bar below its own step', () => {
    const exited = 'steps.0.steps.0@1.1: it ended with exit code 7: one\ntwo';
    const events = [
      event(1, 'step-started', 'steps.0@1', { step: 'loop', label: 'x' }),
      failed(2, 'steps.0.steps.0@1.1', 'shell', 'SHELL_EXIT_NONZERO', exited),
      failed(3, 'steps.0@1', 'loop', 'SHELL_EXIT_NONZERO', exited),
      failed(4, 'steps.1@1', 'command', 'CHILD_FAILED', `steps.1@1: the nested run failed: ${exited}`),
      failed(5, 'steps.2@1', 'fail', 'MINE', 'first\nsecond'),
      failed(6, 'steps.3@1', 'shell', 'SHELL_EXIT_NONZERO', 'steps.3@1: it ended with exit code 7: one'),
      failed(7, 'steps.4@1', 'shell', 'SHELL_EXIT_NONZERO', 'steps.4@1: it ended with exit code 7'),
    ];
    expect(traceLines(events)).toEqual([
      '▸ steps.0@1  loop x',
      '  ✖ steps.0.steps.0@1.1  shell x  failed  5 ms  SHELL_EXIT_NONZERO: steps.0.steps.0@1.1: it ended with exit code 7',
      '    │ one',
      '    │ two',
      '✖ steps.0@1  loop x  failed  5 ms  SHELL_EXIT_NONZERO: steps.0.steps.0@1.1: it ended with exit code 7: one …',
      '✖ steps.1@1  command x  failed  5 ms  CHILD_FAILED: steps.1@1: the nested run failed: steps.0.steps.0@1.1: it ended with exit code 7: one …',
      '✖ steps.2@1  fail x  failed  5 ms  MINE: first',
      '  │ second',
      '✖ steps.3@1  shell x  failed  5 ms  SHELL_EXIT_NONZERO: steps.3@1: it ended with exit code 7: one',
      '✖ steps.4@1  shell x  failed  5 ms  SHELL_EXIT_NONZERO: steps.4@1: it ended with exit code 7',
    ]);
  });
});

describe('orderEvents', () => {
  it('puts pass 10 after pass 9 and step 10 after step 9', () => {
    const keys = ['steps.10@1', 'steps.9@1', 'steps.0@10', 'steps.0@9', 'steps.0.steps.0@2.10', 'steps.0.steps.1@2.9'];
    const ordered = orderEvents(keys.map((key, index) => finished(index + 1, key))).map(({ key }) => key);
    expect(ordered).toEqual([
      'steps.9@1',
      'steps.10@1',
      'steps.0.steps.1@2.9',
      'steps.0.steps.0@2.10',
      'steps.0@9',
      'steps.0@10',
    ]);
  });

  it('ends a step after what is inside it, and decides a condition before', () => {
    const events = [
      finished(6, 'steps.0@1', 'loop'),
      finished(3, 'steps.0.steps.0@1.1', 'condition'),
      finished(4, 'steps.0.steps.0.then.0@1.1'),
      event(2, 'step-started', 'steps.0@1', { step: 'loop', label: 'x' }),
      event(1, 'run-started', '', { name: 'n' }),
      event(7, 'pass-finished', '', { pass: 1 }),
      event(5, 'warning', 'steps.0@1', { code: 'LOOP_LIMIT_REACHED', message: 'm' }),
    ];
    expect(orderEvents(events).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  it('keeps a pause after what had happened before it', () => {
    const events = [
      finished(1, 'steps.0@1'),
      finished(5, 'steps.1@1'),
      event(2, 'paused', '', { reason: 'r' }),
      event(3, 'resumed', ''),
    ];
    expect(orderEvents(events).map(({ seq }) => seq)).toEqual([1, 2, 3, 5]);
  });
});

describe('keys', () => {
  it.each([
    ['steps.0@1', 0, [1, 0, 1]],
    ['steps.2.then.0@3', 1, [3, 2, 1, 0, 0, 1]],
    ['steps.2.branches.1.0@1', 1, [1, 2, 1, 1, 1, 0, 1]],
    ['steps.1.steps.0@3.2', 1, [3, 1, 1, 2, 0, 1]],
    ['steps.1.else.0.steps.4@3.2', 2, [3, 1, 1, 0, 0, 1, 2, 4, 1]],
    ['steps.1#2.then.0#3@1', 1, [1, 1, 2, 0, 0, 3]],
    ['steps.1.always.0@1', 1, [1, 1, 1, 1, 0, 1]],
    ['always.0@4', 0, [Number.MAX_SAFE_INTEGER, 0, 1]],
  ] as const)('%s stands %i deep', (key, depth, place) => {
    expect(depthOf(key)).toBe(depth);
    expect(placeOf(key)).toEqual(place);
  });

  it('orders an outer place before an inner one', () => {
    expect(comparePlaces([1, 0], [1, 0, 0])).toBeLessThan(0);
  });
});

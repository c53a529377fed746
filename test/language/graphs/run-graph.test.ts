/** Graphs of runs: what each step did, laid over the definition as it was edited. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { definitionWithin, drawRun } from '../../../client/show/run-graph.ts';
import { mermaidOf } from '../../../language/graph/mermaid.ts';
import type { Definition, Step } from '../../../language/model.ts';
import type { RunEvent, StepFinished } from '../../../language/events/run-event.ts';
import { known, once, shell } from './drawn.ts';
import { readMermaid } from './mermaid-grammar.ts';

const cases = new URL('../../cases/', import.meta.url);

interface RunCase {
  title: string;
  events: RunEvent[];
  nested: Record<string, RunEvent[]>;
}

const runCase = (name: string): RunCase =>
  JSON.parse(readFileSync(new URL(`run-traces/${name}.json`, cases), 'utf8')) as RunCase;

const begun = (seq: number, key: string, step: Step['type'] = 'sentinel'): RunEvent => ({
  at: 0,
  seq,
  key,
  type: 'step-started',
  step,
  label: 'x',
});

describe('the graph of a run', () => {
  test('shows how each step went, its passes and its time, also of nested runs', () => {
    const { events, nested } = runCase('family');
    const definition = known('family');
    if (definition === undefined) throw new Error('family.json is gone');
    const graph = drawRun({ definition, known, events, nested: new Map(Object.entries(nested)) });
    const at = (path: string) => graph.nodes.find((node) => node.path === path)?.state;
    expect(at('run')).toMatchObject({ outcome: 'ok', passes: 1 });
    expect(at('steps.1/run')).toMatchObject({ outcome: 'ok', passes: 3 });
    expect(at('steps.1/steps.0')).toMatchObject({ outcome: 'ok', passes: 3 });
    expect(at('steps.2.branches.0.0/steps.0')).toMatchObject({ outcome: 'ok', passes: 1 });
    expect(graph.edges.filter(({ label }) => label?.includes('×') === true).map(({ label }) => label)).toEqual([
      'yes · 1×',
      'no · 0×',
    ]);
    const diagram = readMermaid(mermaidOf(graph));
    expect(diagram.nodes.get('n_steps_1__steps_0')).toMatchObject({
      className: 'ok',
      label: expect.stringContaining('3 times') as string,
    });
    expect(diagram.nodes.get('n_steps_3_else_0')?.className).toBe('waiting');
  });

  test('shows what every run of a step did that began again', () => {
    const { events, nested } = runCase('repeated');
    const deep = once([shell('deepest')], { name: 'deep' });
    const inner = once([{ type: 'sentinel', definition: deep }], { name: 'inner' });
    const graph = drawRun({
      definition: once([{ type: 'sentinel', definition: inner }]),
      known,
      events,
      nested: new Map(Object.entries(nested)),
    });
    const at = (path: string) => graph.nodes.find((node) => node.path === path)?.state;
    expect(at('steps.0/steps.0/steps.0')).toMatchObject({ outcome: 'ok', passes: 1 });
  });

  test('shows what is under way, what failed and what was not reached', () => {
    const stamp = { at: 0 };
    const events: RunEvent[] = [
      {
        ...stamp,
        seq: 1,
        key: '',
        type: 'run-started',
        name: 'x',
        definitionHash: '',
        project: '',
        persona: '',
        parent: null,
        inputs: {},
      },
      {
        ...stamp,
        seq: 2,
        key: 'steps.0@1',
        type: 'step-finished',
        step: 'shell',
        label: 'a',
        outcome: 'failed',
        durationMs: 5,
      },
      { ...stamp, seq: 3, key: 'steps.0@2', type: 'step-started', step: 'shell', label: 'a' },
    ];
    const definition = once([shell('a'), shell('b')], { loop: { type: 'count', max: 2 } });
    const diagram = readMermaid(mermaidOf(drawRun({ definition, known, events })));
    expect(diagram.nodes.get('n_steps_0')).toMatchObject({
      className: 'running',
      label: 'shell · a · 2 times · 1 failed · running · 5 ms',
    });
    expect(diagram.nodes.get('n_steps_1')?.className).toBe('waiting');
    expect(diagram.nodes.get('n_run_start')?.className).toBe('running');
  });

  test('the definition of a nested run is found in the one around it', () => {
    const child = once([shell('deep')], { name: 'child' });
    const root = once([
      {
        type: 'parallel',
        branches: [[{ type: 'condition', check: '$x', then: [{ type: 'sentinel', definition: child }] }]],
      },
      { type: 'sentinel', definition: { $ref: 'hello' } },
    ]);
    const around = new Map([['', [begun(1, 'steps.0.branches.0.0.then.0@1'), begun(2, 'steps.1#2@1')]]]);
    expect(definitionWithin(root, ['steps.0.branches.0.0.then.0@1'], known, around)?.name).toBe('child');
    expect(definitionWithin(root, ['steps.1#2@1'], known, around)?.name).toBe('hello');
    expect(definitionWithin(root, ['steps.7@1'], known, around)).toBeUndefined();
    expect(definitionWithin(root, ['steps.1#2@1#1.1'], known, around)?.name).toBe('hello');
    expect(definitionWithin(root, [], known, around)).toBe(root);
  });
});

const stamp = { at: 0, by: 'ada', from: 'now' as const };
const ended = (seq: number, key: string, rest: Partial<StepFinished> = {}): RunEvent => ({
  at: 0,
  seq,
  key,
  type: 'step-finished',
  step: 'shell',
  label: 'x',
  outcome: 'ok',
  durationMs: 10,
  ...rest,
});
const edited = (
  seq: number,
  revision: number,
  op: 'add' | 'update' | 'remove',
  path: string,
  step: Step,
): RunEvent => ({
  ...stamp,
  seq,
  key: '',
  type: 'edited',
  op,
  path,
  revision,
  before: op === 'add' ? null : step,
  after: op === 'remove' ? null : step,
});

/** What each step shows: path, label, passes, outcome, and what an edit made of it. */
const shown = (parts: Parameters<typeof drawRun>[0]): string[] =>
  drawRun(parts).nodes.flatMap(({ path, kind, label, state, change }) =>
    ['start', 'end', 'fork', 'join'].includes(kind)
      ? []
      : [
          `${path} ${label}${state === undefined ? '' : ` ${state.passes} ${state.outcome}`}${change === undefined ? '' : ` ${change}`}`,
        ],
  );

const named = (name: string): Step => ({ type: 'sentinel', definition: { $ref: name } });

const ran = (key: string): [string, RunEvent[]][] => [
  [key, [begun(1, 'steps.0@1'), ended(2, 'steps.0@1', { step: 'sentinel' })]],
  [`${key}/steps.0@1`, [ended(1, 'steps.0@1')]],
];

describe('a definition that is named within a nested run', () => {
  const leaf = once([shell('x')], { name: 'leaf' });
  const library: Record<string, Definition> = { leaf, middle: once([named('leaf')], { name: 'middle' }) };
  const inLibrary = (name: string): Definition | undefined => library[name];
  const inline: Step = { type: 'sentinel', definition: once([named('leaf')], { name: 'middle' }) };

  test.each([
    [
      'in a second pass',
      once([named('middle')], { loop: { type: 'count', max: 2 } }),
      ['steps.0@1', 'steps.0@2'],
      ['steps.0/steps.0/steps.0 x 2 ok'],
    ],
    [
      'in a second pass of one that is written there',
      once([inline], { loop: { type: 'count', max: 2 } }),
      ['steps.0@1', 'steps.0@2'],
      ['steps.0/steps.0/steps.0 x 2 ok'],
    ],
    ['in a second attempt', once([inline]), ['steps.0@1', 'steps.0#2@1'], ['steps.0/steps.0/steps.0 x 2 ok']],
    [
      'at a second place',
      once([named('middle'), named('middle')]),
      ['steps.0@1', 'steps.1@1'],
      ['steps.0/steps.0/steps.0 x 1 ok', 'steps.1/steps.0/steps.0 x 1 ok'],
    ],
  ])('keeps its steps %s', (_title, definition, keys, leaves) => {
    const events = keys.flatMap((key, index) => [
      begun(2 * index + 1, key),
      ended(2 * index + 2, key, { step: 'sentinel' }),
    ]);
    const nested = new Map(keys.flatMap((key) => ran(key)));
    expect(shown({ definition, known: inLibrary, events, nested }).filter((line) => / x /.test(line))).toEqual(leaves);
    const around = new Map([['', events], ...nested]);
    for (const key of keys) {
      expect(definitionWithin(definition, [key], inLibrary, around)).toEqual(library['middle']);
      expect(definitionWithin(definition, [key, 'steps.0@1'], inLibrary, around)).toEqual(leaf);
    }
  });
});

test('the graph of a run shows what each step cost, over all passes and attempts, and the run in all', () => {
  const child = { name: 'child', steps: [shell('x')], loop: { type: 'once' as const } };
  const definition = once([shell('a'), { type: 'sentinel', definition: child }, shell('b')], {
    loop: { type: 'count', max: 2 },
  });
  const begins: RunEvent = {
    at: 0,
    seq: 1,
    key: '',
    type: 'run-started',
    name: 'x',
    definitionHash: '',
    project: '',
    persona: '',
    parent: null,
    inputs: {},
  };
  const ends: RunEvent = {
    at: 0,
    seq: 99,
    key: '',
    type: 'run-finished',
    status: 'completed',
    outcome: 'completed',
    iterations: 2,
    durationMs: 50,
    outputs: {},
  };
  const events = [
    begins,
    ended(2, 'steps.0@1', { outcome: 'retried', usage: { tokens: 1000, usd: 0.004 } }),
    ended(3, 'steps.0#2@1', { usage: { tokens: 200, usd: 0.008 } }),
    begun(4, 'steps.1@1'),
    ended(5, 'steps.1@1', { step: 'sentinel', usage: { tokens: 1, usd: 0 } }),
    ended(6, 'steps.2@1'),
    ended(7, 'steps.0@2', { usage: { tokens: 34, usd: 1 } }),
    ends,
  ];
  const graph = drawRun({
    definition,
    known,
    events,
    nested: new Map([['steps.1@1', [begins, ended(2, 'steps.0@1', { usage: { tokens: 1, usd: 0 } }), ends]]]),
  });
  const usageAt = (path: string) => graph.nodes.find((node) => node.path === path)?.state?.usage;
  expect(usageAt('steps.0')).toEqual({ tokens: 1234, usd: 1.012 });
  expect(usageAt('steps.1')).toEqual({ tokens: 1, usd: 0 });
  expect(usageAt('steps.1/run')).toEqual({ tokens: 1, usd: 0 });
  expect(usageAt('steps.1/steps.0')).toEqual({ tokens: 1, usd: 0 });
  expect(graph.nodes.find((node) => node.path === 'steps.2')?.state).not.toHaveProperty('usage');
  expect(usageAt('run')).toEqual({ tokens: 1235, usd: 1.012 });
  const diagram = readMermaid(mermaidOf(graph));
  expect(diagram.nodes.get('n_steps_0')?.label).toBe('shell · a · 2 times · 1 failed · 30 ms · 1,234 tokens · $1.01');
  expect(diagram.nodes.get('n_steps_1__steps_0')?.label).toBe('shell · x · 10 ms · 1 token');
});

describe('the graph of an edited run', () => {
  test('draws the run as it was edited: what came, what was replaced or taken out, and to which step each key belongs', () => {
    const definition = once([shell('a'), shell('b'), shell('c'), shell('d')], { loop: { type: 'count', max: 3 } });
    const events = [
      ended(1, 'steps.0@1'),
      begun(2, 'steps.1@1', 'shell'),
      edited(3, 1, 'add', 'steps.2', shell('new')),
      edited(4, 2, 'remove', 'steps.0', shell('a')),
      edited(5, 3, 'remove', 'steps.3', shell('d')),
      edited(6, 4, 'update', 'steps.2', shell('C')),
      ended(7, 'steps.1@1'),
      ended(8, 'steps.1~4@1'),
      ended(9, 'steps.2~4@1', { outcome: 'retried' }),
      ended(10, 'steps.2~4#2@1'),
      ended(11, 'steps.0~4@2'),
      edited(12, 5, 'update', 'steps.1', shell('newer')),
      ended(13, 'steps.1~5@2'),
    ];
    const parts = { definition, known, events };
    expect(shown(parts)).toEqual([
      'run 3 passes',
      'steps.0 a 1 ok removed',
      'steps.0 b 2 ok',
      'steps.1 new 1 ok replaced',
      'steps.1 newer 1 ok updated',
      'steps.2 C 1 ok updated',
    ]);
    const diagram = readMermaid(mermaidOf(drawRun(parts)));
    expect(diagram.nodes.get('n_steps_0')).toMatchObject({ className: 'gone', label: 'shell · a · removed · 10 ms' });
    expect(diagram.nodes.get('n_steps_3')).toMatchObject({ className: 'ok', label: 'shell · newer · updated · 10 ms' });
    expect(diagram.nodes.get('n_steps_4')?.label).toBe('shell · C · updated · 1 failed · 20 ms');
  });

  test('follows a step that holds others when it moves, and draws a nested run as that one was edited', () => {
    const child = { name: 'child', steps: [shell('x'), shell('y')], loop: { type: 'once' as const } };
    const definition = once(
      [{ type: 'condition', check: '$a', then: [shell('p'), { type: 'sentinel', definition: child }] }],
      { loop: { type: 'count', max: 2 } },
    );
    const events = [
      ended(1, 'steps.0@1', { step: 'condition', preview: 'then' }),
      begun(2, 'steps.0.then.0@1', 'shell'),
      edited(3, 1, 'add', 'steps.0', shell('before')),
      ended(4, 'steps.0.then.0@1'),
      edited(5, 2, 'remove', 'steps.1.then.1.definition.steps.1', shell('y')),
      begun(6, 'steps.0.then.1~2@1'),
      ended(7, 'steps.0.then.1~2@1', { step: 'sentinel' }),
      begun(8, 'steps.0~2@2', 'shell'),
    ];
    const nested = new Map([
      [
        'steps.0.then.1~2@1',
        [ended(1, 'steps.0@1'), edited(2, 1, 'add', 'steps.1', shell('z')), ended(3, 'steps.1~1@1')],
      ],
    ]);
    expect(shown({ definition, known, events, nested })).toEqual([
      'run 2 passes',
      'steps.0 before 1 running added',
      'steps.1 $a 1 ok',
      'steps.1.then.0 p 1 ok',
      'steps.1.then.1 child 1 ok',
      'steps.1.then.1/steps.0 x 1 ok',
      'steps.1.then.1/steps.1 z 1 ok added',
    ]);
    const around = new Map([['', events]]);
    expect(definitionWithin(definition, ['steps.0.then.1~2@1'], known, around)?.steps).toEqual([shell('x')]);
  });
});

describe('the graph of a nested run that ran twice, of which only the first was edited,', () => {
  const child = once([shell('x'), shell('y')], { name: 'child', loop: { type: 'count', max: 2 } });
  const library = (name: string): Definition | undefined => (name === 'child' ? child : undefined);
  const events = ['steps.0@1', 'steps.0@2'].flatMap((key, index) => [
    begun(2 * index + 1, key),
    ended(2 * index + 2, key, { step: 'sentinel' }),
  ]);
  const plain = ['steps.0@1', 'steps.1@1', 'steps.0@2', 'steps.1@2'].map((key, index) => ended(index + 1, key));
  const update: RunEvent = {
    ...stamp,
    seq: 2,
    key: '',
    type: 'edited',
    op: 'update',
    path: 'steps.1',
    revision: 1,
    before: shell('y'),
    after: shell('Y'),
  };

  test.each<[string, RunEvent[], string[]]>([
    [
      'an added step',
      [
        ended(1, 'steps.0@1'),
        edited(2, 1, 'add', 'steps.1', shell('new')),
        ended(3, 'steps.1~1@1'),
        ended(4, 'steps.2~1@1'),
        ended(5, 'steps.0~1@2'),
        ended(6, 'steps.1~1@2'),
        ended(7, 'steps.2~1@2'),
      ],
      ['x 4 ok', 'new 2 ok added', 'y 4 ok'],
    ],
    [
      'an updated one',
      [ended(1, 'steps.0@1'), update, ended(3, 'steps.1~1@1'), ended(4, 'steps.0~1@2'), ended(5, 'steps.1~1@2')],
      ['x 4 ok', 'y 2 ok', 'Y 2 ok updated'],
    ],
    [
      'one that was taken out',
      [
        ended(1, 'steps.0@1'),
        ended(2, 'steps.1@1'),
        edited(3, 1, 'remove', 'steps.1', shell('y')),
        ended(4, 'steps.0~1@2'),
      ],
      ['x 4 ok', 'y 3 ok'],
    ],
    [
      'one that came and was taken out',
      [
        ended(1, 'steps.0@1'),
        edited(2, 1, 'add', 'steps.1', shell('new')),
        ended(3, 'steps.1~1@1'),
        edited(4, 2, 'remove', 'steps.1', shell('new')),
      ],
      ['x 3 ok', 'new 1 ok removed', 'y 2 ok'],
    ],
  ])('shows %s as what it was in its run', (_title, first, lines) => {
    const nested = new Map([
      ['steps.0@1', first],
      ['steps.0@2', plain],
    ]);
    for (const definition of [
      once([named('child')], { loop: { type: 'count', max: 2 } }),
      once([{ type: 'sentinel', definition: child }], { loop: { type: 'count', max: 2 } }),
    ]) {
      expect(
        shown({ definition, known: library, events, nested })
          .slice(3)
          .map((line) => line.replace(/^\S+ /, '')),
      ).toEqual(lines);
    }
  });
});

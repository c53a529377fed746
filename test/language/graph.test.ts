/** Graphs of definitions and of runs, and that Mermaid gets nothing but a flowchart whatever a label holds. */
import { readdirSync, readFileSync } from 'node:fs';
import { assert as check, oneof, property, string } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { definitionWithin, drawRun } from '../../client/run-graph.ts';
import { graphOf } from '../../language/graph/draw.ts';
import { escapeLabel, mermaidOf } from '../../language/graph/mermaid.ts';
import type { Definition, Step } from '../../language/model.ts';
import { parseDefinition } from '../../language/read/definition.ts';
import type { RunEvent, StepFinished } from '../../language/run-event.ts';
import { files, read } from '../project/tree.ts';
import { readMermaid } from './mermaid-grammar.ts';

const shipped = new Map(
  files
    .filter((path) => /^sentinels\/.*\.json$/.test(path) && !/\.(?:schema|sentinel-test)\.json$/.test(path))
    .map((path): [string, unknown] => [path, JSON.parse(read(path))]),
);
const known = (name: string): Definition | undefined => [...shipped.values()].find((value): value is Definition => (value as Definition).name === name);

const shell = (command: string, rest: Partial<Extract<Step, { type: 'shell' }>> = {}): Step => ({ type: 'shell', command, ...rest });
const once = (steps: Step[], rest: Partial<Definition> = {}): Definition => ({ name: 'drawn', steps, loop: { type: 'once' }, ...rest });

/** `a -> b [label]` for every edge, with labels in place of ids. */
function edgesOf(definition: Definition): string[] {
  const { nodes, edges } = graphOf(definition, { knownRefs: known });
  const label = (id: string): string => nodes.find((node) => node.id === id)?.label ?? '?';
  return edges.map(({ from, to, kind, label: on }) => `${label(from)} ${kind === 'next' ? '->' : kind === 'back' ? '<-' : '~>'} ${label(to)}${on === undefined ? '' : ` [${on}]`}`);
}

const circle = (name: string): Definition => once([{ type: 'sentinel', definition: { $ref: name } }, { type: 'sentinel', definition: { $ref: name } }], { name });

describe('the shape of a graph', () => {
  test('steps in a row', () => {
    expect(edgesOf(once([shell('a'), shell('b')]))).toEqual(['drawn -> a', 'a -> b', 'b -> end']);
  });

  test('a condition joins both ways again, also the one without steps', () => {
    expect(edgesOf(once([{ type: 'condition', check: '$x > 1', then: [shell('a')] }, shell('b')]))).toEqual(['drawn -> $x > 1', '$x > 1 -> a [yes]', 'a -> b', '$x > 1 -> b [no]', 'b -> end']);
  });

  test('what a condition always does follows either way', () => {
    const step: Step = { type: 'condition', check: '$x', then: [shell('a')], else: [shell('b')], always: [shell('c')] };
    expect(edgesOf(once([step]))).toEqual(['drawn -> $x', '$x -> a [yes]', '$x -> b [no]', 'a -> c', 'b -> c', 'c -> end']);
  });

  test('a loop goes back to its head, and is left from there', () => {
    const step: Step = { type: 'loop', loop: { type: 'count', max: 3 }, steps: [shell('a'), shell('b')] };
    expect(edgesOf(once([step]))).toEqual(['drawn -> 3 passes', '3 passes -> a [pass]', 'a -> b', 'b <- 3 passes', '3 passes -> end [done]']);
  });

  test('the run\'s own loop, and what it always does at its end', () => {
    const definition = once([shell('a')], { loop: { type: 'until', check: '$ok', maxIterations: 5 }, always: [shell('z')] });
    const head = 'until $ok, at most 5 passes';
    expect(edgesOf(definition)).toEqual([`drawn -> ${head}`, `${head} -> a [pass]`, `a <- ${head}`, `${head} -> z [done]`, 'z -> end']);
  });

  test('branches fork and join, an empty one too', () => {
    expect(edgesOf(once([{ type: 'parallel', branches: [[shell('a')], [], [shell('b'), shell('c')]] }]))).toEqual(['drawn -> fork', 'fork -> a', 'fork -> b', 'b -> c', 'a -> join', 'fork -> join', 'c -> join', 'join -> end']);
  });

  test('a nested sentinel is drawn inside, by reference too; one that nobody waits for stands apart', () => {
    const child = { name: 'child', steps: [shell('a')], loop: { type: 'once' as const } };
    expect(edgesOf(once([{ type: 'sentinel', definition: child }, shell('b')]))).toEqual(['drawn -> child', 'child -> a', 'a -> end', 'child -> child', 'end -> b', 'b -> end']);
    expect(edgesOf(once([{ type: 'sentinel', definition: child, await: false }, shell('b')]))).toContain('child ~> child [not awaited]');
    expect(edgesOf(once([{ type: 'sentinel', definition: { $ref: 'hello' } }]))).toContain('hello -> hello:said');
    expect(edgesOf(once([{ type: 'sentinel', definition: { $ref: 'nobody' } }]))).toEqual(['drawn -> nobody', 'nobody -> end']);
  });

  test('a definition that leads to itself ends', () => {
    expect(graphOf(circle('circle'), { knownRefs: circle }).nodes.length).toBeLessThan(5_000);
  });
});

const cases = new URL('../cases/', import.meta.url);
const goodDefinitions = readdirSync(new URL('definitions/good/', cases)).flatMap((file): Array<[string, Definition]> => {
  const { definition } = JSON.parse(readFileSync(new URL(`definitions/good/${file}`, cases), 'utf8')) as { definition: unknown };
  const result = parseDefinition(definition, { knownRefs: known });
  return result.ok ? [[file, result.definition]] : [];
});

test.each([...shipped, ...goodDefinitions] as Array<[string, Definition]>)('%s is a flowchart in which every step is drawn and reached', (_file, definition) => {
  const graph = graphOf(definition, { knownRefs: known });
  const diagram = readMermaid(mermaidOf(graph));
  expect([...diagram.nodes.keys()].toSorted()).toEqual(graph.nodes.map(({ id }) => id).toSorted());
  const reached = new Set(['n_run_start']);
  for (const id of reached) for (const { from, to } of diagram.edges) if (from === id) reached.add(to);
  expect([...diagram.nodes.keys()].filter((id) => !reached.has(id))).toEqual([]);
});

describe('labels', () => {
  test.each([
    'say "hi"',
    '"] --> x; click x "javascript:alert(1)"',
    '<img src=x onerror=alert(1)>',
    '%%{init: {"securityLevel": "loose"}}%%',
    '%% a comment',
    'end',
    'a\nend\nsubgraph x',
    '`**markdown**`',
    '$$\\href{x}{y}$$',
    '#quot; #34; #35;',
    'style x fill:#fff;',
    'a|b|c{d}[e](f)',
    '日本語 ünï 🎉',
    'turned \u202Eround\u2066',
    'lone \uD800 half',
    '\u0000\u0007',
    '   ',
  ])('%j says the same to a reader, and nothing to Mermaid', (text) => {
    const definition = once([shell('true', { name: text }), { type: 'condition', check: text, then: [] }], { name: text, loop: { type: 'until', check: text, max: 1 } });
    const diagram = readMermaid(mermaidOf(graphOf(definition)));
    const shown = text.replaceAll(/\s+/g, ' ').replaceAll(/[\p{Cc}\p{Cf}]/gu, '').replaceAll('\uD800', '\uFFFD').trim();
    expect(diagram.nodes.get('n_steps_1')?.label).toBe(shown || ' ');
    expect(diagram.nodes.size).toBe(5);
    expect(diagram.edges.length).toBe(6);
  });

  test('any text at all', () => {
    const text = oneof(string({ unit: 'binary' }), string({ unit: 'grapheme' }), string());
    check(
      property(text, text, (name, command) => {
        const diagram = readMermaid(mermaidOf(graphOf(once([shell(`x${command}`)], { name: `n${name}` }))));
        expect(diagram.nodes.size).toBe(3);
      }),
      { numRuns: 500 },
    );
  });

  test('what is plain stays readable', () => {
    expect(escapeLabel("npm run build (twice), it's 50 €")).toBe("npm run build (twice), it's 50 €");
  });
});

interface RunCase {
  title: string;
  events: RunEvent[];
  nested: Record<string, RunEvent[]>;
}

const runCase = (name: string): RunCase => JSON.parse(readFileSync(new URL(`run-traces/${name}.json`, cases), 'utf8')) as RunCase;

const begun = (seq: number, key: string, step: Step['type'] = 'sentinel'): RunEvent => ({ at: 0, seq, key, type: 'step-started', step, label: 'x' });

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
    expect(graph.edges.filter(({ label }) => label?.includes('×') === true).map(({ label }) => label)).toEqual(['yes · 1×', 'no · 0×']);
    const diagram = readMermaid(mermaidOf(graph));
    expect(diagram.nodes.get('n_steps_1__steps_0')).toMatchObject({ className: 'ok', label: expect.stringContaining('3 times') as string });
    expect(diagram.nodes.get('n_steps_3_else_0')?.className).toBe('waiting');
  });

  test('shows what is under way, what failed and what was not reached', () => {
    const stamp = { at: 0 };
    const events: RunEvent[] = [
      { ...stamp, seq: 1, key: '', type: 'run-started', name: 'x', definitionHash: '', project: '', persona: '', parent: null, inputs: {} },
      { ...stamp, seq: 2, key: 'steps.0@1', type: 'step-finished', step: 'shell', label: 'a', outcome: 'failed', durationMs: 5 },
      { ...stamp, seq: 3, key: 'steps.0@2', type: 'step-started', step: 'shell', label: 'a' },
    ];
    const definition = once([shell('a'), shell('b')], { loop: { type: 'count', max: 2 } });
    const diagram = readMermaid(mermaidOf(drawRun({ definition, known, events })));
    expect(diagram.nodes.get('n_steps_0')).toMatchObject({ className: 'running', label: 'shell · a · 2 times · 1 failed · running · 5 ms' });
    expect(diagram.nodes.get('n_steps_1')?.className).toBe('waiting');
    expect(diagram.nodes.get('n_run_start')?.className).toBe('running');
  });

  test('the definition of a nested run is found in the one around it', () => {
    const child = once([shell('deep')], { name: 'child' });
    const root = once([{ type: 'parallel', branches: [[{ type: 'condition', check: '$x', then: [{ type: 'sentinel', definition: child }] }]] }, { type: 'sentinel', definition: { $ref: 'hello' } }]);
    const around = new Map([['', [begun(1, 'steps.0.branches.0.0.then.0@1'), begun(2, 'steps.1#2@1')]]]);
    expect(definitionWithin(root, ['steps.0.branches.0.0.then.0@1'], known, around)?.name).toBe('child');
    expect(definitionWithin(root, ['steps.1#2@1'], known, around)?.name).toBe('hello');
    expect(definitionWithin(root, ['steps.7@1'], known, around)).toBeUndefined();
    expect(definitionWithin(root, [], known, around)).toBe(root);
  });
});

const stamp = { at: 0, by: 'ada', from: 'now' as const };
const ended = (seq: number, key: string, rest: Partial<StepFinished> = {}): RunEvent => ({ at: 0, seq, key, type: 'step-finished', step: 'shell', label: 'x', outcome: 'ok', durationMs: 10, ...rest });
const edited = (seq: number, revision: number, op: 'add' | 'update' | 'remove', path: string, step: Step): RunEvent => ({ ...stamp, seq, key: '', type: 'edited', op, path, revision, before: op === 'add' ? null : step, after: op === 'remove' ? null : step });

/** What each step shows: path, label, passes, outcome, and what an edit made of it. */
const shown = (parts: Parameters<typeof drawRun>[0]): string[] =>
  drawRun(parts).nodes.flatMap(({ path, kind, label, state, change }) =>
    ['start', 'end', 'fork', 'join'].includes(kind) ? [] : [`${path} ${label}${state === undefined ? '' : ` ${state.passes} ${state.outcome}`}${change === undefined ? '' : ` ${change}`}`],
  );

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
    expect(shown(parts)).toEqual(['run 3 passes', 'steps.0 a 1 ok removed', 'steps.0 b 2 ok', 'steps.1 new 1 ok replaced', 'steps.1 newer 1 ok updated', 'steps.2 C 1 ok updated']);
    const diagram = readMermaid(mermaidOf(drawRun(parts)));
    expect(diagram.nodes.get('n_steps_0')).toMatchObject({ className: 'gone', label: 'shell · a · removed · 10 ms' });
    expect(diagram.nodes.get('n_steps_3')).toMatchObject({ className: 'ok', label: 'shell · newer · updated · 10 ms' });
    expect(diagram.nodes.get('n_steps_4')?.label).toBe('shell · C · updated · 1 failed · 20 ms');
  });

  test('follows a step that holds others when it moves, and draws a nested run as that one was edited', () => {
    const child = { name: 'child', steps: [shell('x'), shell('y')], loop: { type: 'once' as const } };
    const definition = once([{ type: 'condition', check: '$a', then: [shell('p'), { type: 'sentinel', definition: child }] }], { loop: { type: 'count', max: 2 } });
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
    const nested = new Map([['steps.0.then.1~2@1', [ended(1, 'steps.0@1'), edited(2, 1, 'add', 'steps.1', shell('z')), ended(3, 'steps.1~1@1')]]]);
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

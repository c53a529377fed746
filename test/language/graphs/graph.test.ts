/** Graphs of definitions, and that Mermaid gets nothing but a flowchart whatever a label holds. */
import { readdirSync, readFileSync } from 'node:fs';
import { assert as check, oneof, property, string } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { graphOf } from '../../../language/graph/draw.ts';
import { escapeLabel, mermaidOf } from '../../../language/graph/mermaid.ts';
import type { Definition, Step } from '../../../language/model.ts';
import { parseDefinition } from '../../../language/read/definition.ts';
import { known, once, shell, shipped } from './drawn.ts';
import { readMermaid } from './mermaid-grammar.ts';
import { catalogue } from '../../catalogue.ts';

/** `a -> b [label]` for every edge, with labels in place of ids. */
function edgesOf(definition: Definition): string[] {
  const { nodes, edges } = graphOf(definition, { knownRefs: known });
  const label = (id: string): string => nodes.find((node) => node.id === id)?.label ?? '?';
  return edges.map(
    ({ from, to, kind, label: on }) =>
      `${label(from)} ${kind === 'next' ? '->' : kind === 'back' ? '<-' : '~>'} ${label(to)}${on === undefined ? '' : ` [${on}]`}`,
  );
}

const circle = (name: string): Definition =>
  once(
    [
      { type: 'sentinel', definition: { $ref: name } },
      { type: 'sentinel', definition: { $ref: name } },
    ],
    { name },
  );

describe('the shape of a graph', () => {
  test('steps in a row', () => {
    expect(edgesOf(once([shell('a'), shell('b')]))).toEqual(['drawn -> a', 'a -> b', 'b -> end']);
  });

  test('a run says what it takes by a schema, and what it gives; new steps have shapes of their own', () => {
    const steps: Step[] = [
      { type: 'set', values: { n: 1 } },
      { type: 'sleep', durationMs: 5_000 },
      { type: 'join', handles: '$started' },
      { type: 'fail', message: 'no more' },
    ];
    const inputSchema = { type: 'object', properties: { version: {}, channel: {} } };
    const definition = once(steps, { inputSchema, outputs: { total: '$n', label: 'x' } });
    expect(edgesOf(definition)).toEqual([
      'drawn · version, channel -> set n',
      'set n -> 5 seconds',
      '5 seconds -> $started',
      '$started -> no more',
      'no more -> end · total, label',
    ]);
    expect(graphOf(definition).nodes.map(({ kind }) => kind)).toEqual(['start', 'set', 'sleep', 'runs', 'fail', 'end']);
  });

  test('nothing follows a step that fails, but a clean-up around it and what comes after one that is passed over', () => {
    const fail: Step = { type: 'fail', message: 'no' };
    expect(edgesOf(once([{ type: 'condition', check: '$x', then: [fail] }, shell('b')]))).toEqual([
      'drawn -> $x',
      '$x -> no [yes]',
      '$x -> b [no]',
      'b -> end',
    ]);
    expect(edgesOf(once([{ ...fail, onError: 'skip' }, shell('b')]))).toEqual([
      'drawn -> no · skipped on failure',
      'no · skipped on failure -> b',
      'b -> end',
    ]);
    expect(edgesOf(once([fail, shell('b')], { always: [shell('z')] }))).toEqual([
      'drawn -> no',
      'b -> z',
      'no -> z',
      'z -> end',
    ]);
    expect(edgesOf(once([{ type: 'parallel', branches: [[fail], [shell('b')]] }]))).toEqual([
      'drawn -> fork',
      'fork -> no',
      'fork -> b',
      'b -> join',
      'join -> end',
    ]);
  });

  test('a condition joins both ways again, also the one without steps', () => {
    expect(edgesOf(once([{ type: 'condition', check: '$x > 1', then: [shell('a')] }, shell('b')]))).toEqual([
      'drawn -> $x > 1',
      '$x > 1 -> a [yes]',
      'a -> b',
      '$x > 1 -> b [no]',
      'b -> end',
    ]);
  });

  test('what a condition always does follows either way', () => {
    const step: Step = { type: 'condition', check: '$x', then: [shell('a')], else: [shell('b')], always: [shell('c')] };
    expect(edgesOf(once([step]))).toEqual([
      'drawn -> $x',
      '$x -> a [yes]',
      '$x -> b [no]',
      'a -> c',
      'b -> c',
      'c -> end',
    ]);
  });

  test('a loop goes back to its head, and is left from there', () => {
    const step: Step = { type: 'loop', loop: { type: 'count', max: 3 }, steps: [shell('a'), shell('b')] };
    expect(edgesOf(once([step]))).toEqual([
      'drawn -> 3 passes',
      '3 passes -> a [pass]',
      'a -> b',
      'b <- 3 passes',
      '3 passes -> end [done]',
    ]);
  });

  test("the run's own loop, and what it always does at its end", () => {
    const definition = once([shell('a')], {
      loop: { type: 'until', check: '$ok', maxIterations: 5 },
      always: [shell('z')],
    });
    const head = 'until $ok, at most 5 passes';
    expect(edgesOf(definition)).toEqual([
      `drawn -> ${head}`,
      `${head} -> a [pass]`,
      `a <- ${head}`,
      `${head} -> z [done]`,
      'z -> end',
    ]);
  });

  test('branches fork and join, an empty one too', () => {
    expect(edgesOf(once([{ type: 'parallel', branches: [[shell('a')], [], [shell('b'), shell('c')]] }]))).toEqual([
      'drawn -> fork',
      'fork -> a',
      'fork -> b',
      'b -> c',
      'a -> join',
      'fork -> join',
      'c -> join',
      'join -> end',
    ]);
  });

  test('a nested sentinel is drawn inside, by reference too; one that nobody waits for stands apart', () => {
    const child = { name: 'child', steps: [shell('a')], loop: { type: 'once' as const } };
    expect(edgesOf(once([{ type: 'sentinel', definition: child }, shell('b')]))).toEqual([
      'drawn -> child',
      'child -> a',
      'a -> end',
      'child -> child',
      'end -> b',
      'b -> end',
    ]);
    expect(edgesOf(once([{ type: 'sentinel', definition: child, await: false }, shell('b')]))).toContain(
      'child ~> child [not awaited]',
    );
    expect(edgesOf(once([{ type: 'sentinel', definition: { $ref: 'hello' } }]))).toContain('hello -> hello:said');
    expect(edgesOf(once([{ type: 'sentinel', definition: { $ref: 'nobody' } }]))).toEqual([
      'drawn -> nobody',
      'nobody -> end',
    ]);
  });

  test('a definition that leads to itself ends', () => {
    expect(graphOf(circle('circle'), { knownRefs: circle }).nodes.length).toBeLessThan(5_000);
  });
});

const cases = new URL('../../cases/', import.meta.url);
const goodDefinitions = readdirSync(new URL('definitions/good/', cases)).flatMap(
  (file): Array<[string, Definition]> => {
    const { definition } = JSON.parse(readFileSync(new URL(`definitions/good/${file}`, cases), 'utf8')) as {
      definition: unknown;
    };
    const result = parseDefinition(definition, { catalogue, knownRefs: known });
    return result.ok ? [[file, result.definition]] : [];
  },
);

test.each([...shipped, ...goodDefinitions] as Array<[string, Definition]>)(
  '%s is a flowchart in which every step is drawn and reached',
  (_file, definition) => {
    const graph = graphOf(definition, { knownRefs: known });
    const diagram = readMermaid(mermaidOf(graph));
    expect([...diagram.nodes.keys()].toSorted()).toEqual(graph.nodes.map(({ id }) => id).toSorted());
    const reached = new Set(['n_run_start']);
    for (const id of reached) for (const { from, to } of diagram.edges) if (from === id) reached.add(to);
    expect([...diagram.nodes.keys()].filter((id) => !reached.has(id))).toEqual([]);
  },
);

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
    const definition = once([shell('true', { name: text }), { type: 'condition', check: text, then: [] }], {
      name: text,
      loop: { type: 'until', check: text, max: 1 },
    });
    const diagram = readMermaid(mermaidOf(graphOf(definition)));
    const shown = text
      .replaceAll(/\s+/g, ' ')
      .replaceAll(/[\p{Cc}\p{Cf}]/gu, '')
      .replaceAll('\uD800', '\uFFFD')
      .trim();
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

/** Edits, whatever the definition: paths follow their steps, keys stay unique, and the position does not grow. */
import { linesOf } from '../../../language/blocks.ts';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalText } from '../../../language/canonical.ts';
import { applyEdit, pathAfter, stepAt, type StepEdit } from '../../../language/edit.ts';
import type { Definition, Step } from '../../../language/model.ts';
import { parseDefinition } from '../../../language/read/definition.ts';
import type { Interruption } from '../../../interpreter/simulation/script.ts';
import { answerFor, definition as random } from './random-definitions.ts';
import { MODES, runCase, STRAIGHT } from '../harness/run-case.ts';
import { randomRuns } from '../../random-runs.ts';
import { catalogue } from '../../catalogue.ts';

const added: Step = { type: 'shell', command: 'added' };

function pathsOf(steps: readonly Step[], block: string): string[] {
  return steps.flatMap((step, index) => {
    const path = `${block}.${index}`;
    if (step.type === 'condition')
      return [
        path,
        ...pathsOf(step.then ?? [], `${path}.then`),
        ...pathsOf(step.else ?? [], `${path}.else`),
        ...pathsOf(step.always ?? [], `${path}.always`),
      ];
    if (step.type === 'loop') return [path, ...pathsOf(step.steps, `${path}.steps`)];
    if (step.type === 'parallel')
      return [path, ...linesOf(step).flatMap(({ key, steps: line }) => pathsOf(line, `${path}.${key}`))];
    return [path];
  });
}

const editOf = (definition: Definition, op: StepEdit['op'], pick: number): StepEdit => {
  const paths = pathsOf(definition.steps, 'steps');
  const path = paths[pick % paths.length] ?? 'steps.0';
  return op === 'remove' ? { op, path } : { op, path, step: added };
};

test('a path follows its step through an edit', () => {
  fc.assert(
    fc.property(random, fc.constantFrom('add', 'update', 'remove'), fc.nat(), (definition, op, pick) => {
      fc.pre(definition.steps.length > 0);
      const edit = editOf(definition, op, pick);
      const edited = applyEdit(definition, edit);
      if (edited === null) throw new Error(`no place ${edit.path}`);
      for (const path of pathsOf(definition.steps, 'steps')) {
        const after = pathAfter(edit, path);
        const isTouched =
          path === edit.path || edit.path.startsWith(`${path}.`) || (op !== 'add' && path.startsWith(`${edit.path}.`));
        if (!isTouched) expect(after === null ? null : stepAt(edited, after)).toBe(stepAt(definition, path));
      }
    }),
    randomRuns(100),
  );
});

const branch = (command: string): Step[] => [{ type: 'shell', command }];
const condition = (rest: { then?: Step[]; else?: Step[]; always?: Step[] }): Definition => ({
  name: 'case',
  loop: { type: 'once' },
  steps: [{ type: 'condition', check: 'true', ...rest }],
});

test.each<[string, Definition, string, Definition]>([
  ['else', condition({ then: branch('a'), else: branch('b') }), 'steps.0.else.0', condition({ then: branch('a') })],
  [
    'then',
    condition({ then: branch('a'), else: branch('b'), always: branch('z') }),
    'steps.0.then.0',
    condition({ else: branch('b'), always: branch('z') }),
  ],
  [
    'one of two steps',
    condition({ then: branch('a'), else: [...branch('b'), ...branch('c')] }),
    'steps.0.else.0',
    condition({ then: branch('a'), else: branch('c') }),
  ],
  [
    'the clean-up of a condition',
    condition({ then: branch('a'), always: branch('z') }),
    'steps.0.always.0',
    condition({ then: branch('a') }),
  ],
  [
    'the clean-up of a definition',
    { ...condition({ then: branch('a') }), always: branch('z') },
    'always.0',
    condition({ then: branch('a') }),
  ],
])('a list that the removal of its only step leaves empty is left out: %s', (_what, definition, path, edited) => {
  expect(canonicalText(applyEdit(definition, { op: 'remove', path }))).toBe(canonicalText(edited));
});

test('what the reader finds no fault with is canonical after an edit too', () => {
  fc.assert(
    fc.property(random, fc.constantFrom('add', 'update', 'remove'), fc.nat(), (definition, op, pick) => {
      fc.pre(definition.steps.length > 0);
      const before = parseDefinition(definition, { catalogue });
      fc.pre(before.ok);
      const edited = before.ok ? applyEdit(before.definition, editOf(before.definition, op, pick)) : null;
      const read = parseDefinition(edited, { catalogue });
      if (read.ok) expect(canonicalText(edited)).toBe(canonicalText(read.definition));
    }),
    randomRuns(1000),
  );
});

const scenario = fc.record({
  definition: random,
  seed: fc.nat(),
  edits: fc.array(fc.record({ op: fc.constantFrom('add', 'remove', 'update', 'skip'), pick: fc.nat() }), {
    minLength: 1,
    maxLength: 4,
  }),
  after: fc.nat(6),
});

test('whatever is edited, no key is used twice, and every step that began ends', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async ({ definition, seed, edits, after }) => {
      const given = { definition, inputs: { list: ['x', 'y'] }, answer: answerFor(seed) };
      const keys = Object.keys((await runCase(given, STRAIGHT)).effects);
      const at = keys[after % Math.max(1, keys.length)] ?? 'steps.0@1';
      const interruptions = edits.map(({ op, pick }): Interruption => {
        const paths = pathsOf(given.definition.steps, 'steps');
        const path = paths[pick % paths.length] ?? 'steps.0';
        return {
          at,
          when: 'during',
          do: 'edit',
          edit: { op, path, ...(op === 'add' || op === 'update' ? { step: added as never } : {}) },
        };
      });
      for (const mode of MODES.slice(0, 2)) {
        const { runs } = await runCase({ ...given, interruptions }, mode);
        for (const { events, result } of runs) {
          const finished = events.filter(({ type }) => type === 'step-finished').map(({ key }) => key);
          const started = events.filter(({ type }) => type === 'step-started').map(({ key }) => key);
          expect(new Set(finished).size).toBe(finished.length);
          expect(new Set(started).size).toBe(started.length);
          expect(finished).toEqual(expect.arrayContaining(started));
          expect(result).not.toBeNull();
        }
      }
    }),
    randomRuns(150),
  );
});

test('a thousand edits leave the position as small as it was', async () => {
  const definition: Definition = {
    name: 'case',
    loop: { type: 'once' },
    steps: [
      { type: 'shell', command: 'a' },
      { type: 'shell', command: 'b' },
      { type: 'shell', command: 'c' },
    ],
  };
  const interruptions = Array.from({ length: 1000 }, (_, index): Interruption => {
    const edit =
      index % 2 === 0
        ? ({ op: 'add', path: 'steps.1', step: added as never } as const)
        : ({ op: 'remove', path: 'steps.1' } as const);
    return { at: 'steps.0@1', when: 'during', do: 'edit', edit };
  });
  const sizeOf = async (
    scripted: Interruption[],
  ): Promise<{ size: number; revision: number; definition: Definition }> => {
    const { runs } = await runCase({ definition, interruptions: scripted }, STRAIGHT);
    const [walk] = runs.map((run) => run.walk);
    if (walk === undefined) throw new Error('nothing ran');
    const { revision = 0, seq: _seq, ...rest } = walk.position;
    return { size: JSON.stringify(rest).length, revision, definition: walk.input.definition };
  };
  const plain = await sizeOf([]);
  const edited = await sizeOf(interruptions);
  expect(edited).toEqual({ ...plain, revision: 1000 });
});

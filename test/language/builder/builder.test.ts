/**
 * The builder: what it builds is the canonical form, and what it accepts is only what is set before.
 * The assertions about types are held by the compiler (`npm run types`), which reads this file too.
 */
import { describe, expect, expectTypeOf, test } from 'vitest';
import type { PathOf, Ref, ShellResult } from '../../../authoring/builder/names.ts';
import { BuildError, sentinel } from '../../../authoring/builder/sentinel-builder.ts';
import { parseDefinition } from '../../../language/read/definition.ts';
import { canonicalText } from '../../../language/canonical.ts';
import { catalogue } from '../../catalogue.ts';

/** What `ref` accepts in a builder's next step. */
type Accepted<Builder> = Builder extends { readonly scope: infer Scope } ? PathOf<Scope> : never;
type Accepts<Builder, Path extends string> = Path extends Accepted<Builder> ? true : false;

const definition = sentinel('verify')
  .input('branch', 'main')
  .settings({
    description: 'Checks a branch.',
    safety: { timeoutMs: 60_000 },
    concurrency: { group: 'verify-$branch', onConflict: 'cancel' },
  })
  .shell('tests', (ref) => `npm test -- ${ref('branch')}`, { timeoutMs: 30_000 })
  .command('plan', 'code/read', (ref) => ({ path: `${ref('branch')}.json` }))
  .when(
    (ref) => `${ref('tests.exitCode')} === 0`,
    (then) => then.emit(null, 'tests:passed', (ref) => ({ data: { out: ref('tests.stdout') } })),
    (otherwise) => otherwise.approval('verdict', 'Go on?', { timeoutMs: 1000, onTimeout: 'reject' }),
  )
  .forEach('file', 'plan.files', (each) => each.shell('lint', (ref) => `lint ${ref('file.path')}`))
  .repeat('tries', { type: 'until', check: '$iteration > 2', maxIterations: 3 }, (body) => body.shell(null, 'true'))
  .parallel([(left) => left.shell('left', 'true'), (right) => right.command('right', 'health-check')], {
    failFast: true,
  })
  .sentinel('child', (child) => child.shell('inner', (ref) => `echo ${ref('branch')}`).loop({ type: 'count', max: 2 }))
  .sentinel(null, { $ref: 'hello' }, { await: false })
  .set((ref) => ({ total: `{{${ref('tests.exitCode')} + 1}}`, label: `got ${ref('branch')}` }))
  .when(
    (ref) => `${ref('total')} > 2 && ${ref('label')}`,
    (then) => then.shell(null, 'true'),
  )
  .sleep('slept', (ref) => ({ durationMs: `{{${ref('tests.exitCode')} * 1000}}` }))
  .sleep(null, (ref) => ({ until: ref('slept.until') }), { timeoutMs: 5 })
  .join('ended', (ref) => [ref('child')])
  .fail((ref) => `${ref('tests.stderr')} is too much`, { code: 'TOO_MUCH', onError: 'skip' })
  .loop((ref) => ({ type: 'until', check: `${ref('child.success')} && ${ref('left.success')}`, maxIterations: 5 }))
  .always((end) => end.shell(null, 'rm -rf tmp'))
  .build();

describe('what is built is the canonical form', () => {
  test('a body for each item of a list, several at once', () => {
    const made = sentinel('m')
      .input('packages', ['a', 'b'])
      .map('results', 'package', 'packages', (each) => each.shell('tests', (ref) => `test ${ref('package')}`), {
        maxConcurrency: 2,
        itemErrors: 'collect',
      })
      .shell(null, (ref) => `echo ${ref('results')}`)
      .build();
    expect(made.steps[0]).toEqual({
      type: 'parallel',
      over: '$packages',
      as: 'package',
      steps: [{ type: 'shell', command: 'test $package', outputTo: 'tests' }],
      maxConcurrency: 2,
      itemErrors: 'collect',
      outputTo: 'results',
    });
  });

  test('key by key', () => {
    expect(definition).toEqual({
      name: 'verify',
      inputs: { branch: 'main' },
      description: 'Checks a branch.',
      safety: { timeoutMs: 60_000 },
      concurrency: { group: 'verify-$branch', onConflict: 'cancel' },
      steps: [
        { type: 'shell', command: 'npm test -- $branch', timeoutMs: 30_000, outputTo: 'tests' },
        { type: 'command', command: 'code/read', params: { path: '$branch.json' }, outputTo: 'plan' },
        {
          type: 'condition',
          check: '$tests.exitCode === 0',
          then: [{ type: 'emit', event: 'tests:passed', data: { out: '$tests.stdout' } }],
          else: [{ type: 'approval', message: 'Go on?', timeoutMs: 1000, onTimeout: 'reject', outputTo: 'verdict' }],
        },
        {
          type: 'loop',
          loop: { type: 'count', max: '$plan.files.length', over: '$plan.files', as: 'file' },
          steps: [{ type: 'shell', command: 'lint $file.path', outputTo: 'lint' }],
        },
        {
          type: 'loop',
          loop: { type: 'until', check: '$iteration > 2', maxIterations: 3 },
          steps: [{ type: 'shell', command: 'true' }],
          outputTo: 'tries',
        },
        {
          type: 'parallel',
          branches: [
            [{ type: 'shell', command: 'true', outputTo: 'left' }],
            [{ type: 'command', command: 'health-check', params: {}, outputTo: 'right' }],
          ],
          failFast: true,
        },
        {
          type: 'sentinel',
          definition: {
            name: 'child',
            steps: [{ type: 'shell', command: 'echo $branch', outputTo: 'inner' }],
            loop: { type: 'count', max: 2 },
          },
          outputTo: 'child',
        },
        { type: 'sentinel', definition: { $ref: 'hello' }, await: false },
        { type: 'set', values: { total: '{{$tests.exitCode + 1}}', label: 'got $branch' } },
        { type: 'condition', check: '$total > 2 && $label', then: [{ type: 'shell', command: 'true' }] },
        { type: 'sleep', durationMs: '{{$tests.exitCode * 1000}}', outputTo: 'slept' },
        { type: 'sleep', until: '$slept.until', timeoutMs: 5 },
        { type: 'join', handles: ['$child'], outputTo: 'ended' },
        { type: 'fail', message: '$tests.stderr is too much', code: 'TOO_MUCH', onError: 'skip' },
      ],
      always: [{ type: 'shell', command: 'rm -rf tmp' }],
      loop: { type: 'until', check: '$child.success && $left.success', maxIterations: 5 },
    });
  });

  test('and a fixed point of the reader', () => {
    const read = parseDefinition(definition, {
      catalogue,
      knownRefs: (name) => ({ name, steps: [], loop: { type: 'once' } }),
    });
    expect(read.ok && canonicalText(read.definition)).toBe(canonicalText(definition));
  });
});

describe('what a definition declares', () => {
  const child = sentinel('count')
    .inputSchema({
      type: 'object',
      properties: { folder: { type: 'string' }, depth: { type: 'integer', default: 2 }, tags: { type: 'array' } },
      required: ['folder'],
    })
    .settings({ defaults: { shell: { failOn: 'nonzero' } } })
    .shell('found', (ref) => `find ${ref('folder')} -maxdepth ${ref('depth')}`, { failOn: 'never' })
    .outputs((ref) => ({ total: `{{${ref('found.data')}.length}}`, first: ref('found.data[0]') }))
    .loop((ref) => ({ type: 'until', check: ref('found.success'), maxIterations: 2 }));

  test('is built as it is written', () => {
    expect(child.build()).toEqual({
      name: 'count',
      inputSchema: {
        type: 'object',
        properties: { folder: { type: 'string' }, depth: { type: 'integer', default: 2 }, tags: { type: 'array' } },
        required: ['folder'],
      },
      outputs: { total: '{{$found.data.length}}', first: '$found.data[0]' },
      defaults: { shell: { failOn: 'nonzero' } },
      steps: [{ type: 'shell', command: 'find $folder -maxdepth $depth', failOn: 'never', outputTo: 'found' }],
      loop: { type: 'until', check: '$found.success', maxIterations: 2 },
    });
  });

  test('inputs are known by their types', () => {
    expectTypeOf<Accepts<typeof child, 'folder'>>().toEqualTypeOf<true>();
    expectTypeOf<Accepts<typeof child, 'depth'>>().toEqualTypeOf<true>();
    expectTypeOf<Accepts<typeof child, 'depth.length'>>().toEqualTypeOf<false>();
    expectTypeOf<Accepts<typeof child, 'tags[0].name'>>().toEqualTypeOf<true>();
    expectTypeOf<Accepts<typeof child, 'foldr'>>().toEqualTypeOf<false>();
    expectTypeOf<Accepts<typeof child, 'total'>>().toEqualTypeOf<false>();
  });

  test('a parent sees the outputs of a nested definition in place of its variables', () => {
    const parent = sentinel('parent')
      .sentinel('plain', (inner) => inner.shell('made', 'make'))
      .sentinel('declared', (inner) => inner.shell('made', 'make').outputs((ref) => ({ log: ref('made.stdout') })));
    expectTypeOf<Accepts<typeof parent, 'plain.made.stdout'>>().toEqualTypeOf<true>();
    expectTypeOf<Accepts<typeof parent, 'declared.log.anything'>>().toEqualTypeOf<true>();
    expectTypeOf<Accepts<typeof parent, 'declared.success'>>().toEqualTypeOf<true>();
    expectTypeOf<Accepts<typeof parent, 'declared.made'>>().toEqualTypeOf<false>();
    expect(parent.build().steps[1]).toMatchObject({ definition: { outputs: { log: '$made.stdout' } } });
  });

  test('inputs in both forms are refused', () => {
    const both = sentinel('x')
      .input('a', 1)
      .inputSchema({ type: 'object', properties: { a: {} } })
      .shell(null, 'true');
    expect(() => both.build()).toThrow(/"inputs" and "inputSchema" both say/);
  });
});

describe('names', () => {
  const built = sentinel('x')
    .input('given')
    .input('count', 3)
    .shell('build', 'make')
    .when('true', (then) => then.command('maybe', 'health-check'))
    .parallel([(a) => a.shell('left', 'a'), (b) => b.llm('right', 'b')]);

  test('grow with each step', () => {
    expectTypeOf<Accepts<typeof built, 'build.exitCode'>>().toEqualTypeOf<true>();
    expectTypeOf<Accepts<typeof built, 'build'>>().toEqualTypeOf<true>();
    expectTypeOf<Accepts<typeof built, 'given.anything[0].at.all'>>().toEqualTypeOf<true>();
    expectTypeOf<Accepts<typeof built, 'maybe.status'>>().toEqualTypeOf<true>();
    expectTypeOf<Accepts<typeof built, 'left.stdout'>>().toEqualTypeOf<true>();
    expectTypeOf<Accepts<typeof built, 'left.stdout.files[0].path'>>().toEqualTypeOf<true>();
    expectTypeOf<Accepts<typeof built, 'right.answer'>>().toEqualTypeOf<true>();
    expectTypeOf<Accepts<typeof built, 'count'>>().toEqualTypeOf<true>();
    expectTypeOf<(typeof built)['scope']['build']>().toEqualTypeOf<ShellResult>();
  });

  test('that nothing has set, and fields that a result does not have, are refused', () => {
    expectTypeOf<Accepts<typeof built, 'bild'>>().toEqualTypeOf<false>();
    expectTypeOf<Accepts<typeof built, 'build.exitcode'>>().toEqualTypeOf<false>();
    expectTypeOf<Accepts<typeof built, 'count.length'>>().toEqualTypeOf<false>();
    const before = sentinel('x').shell('first', 'true');
    expectTypeOf<Accepts<typeof before, 'second'>>().toEqualTypeOf<false>();
    type NextText = Exclude<Parameters<typeof before.shell>[1], string>;
    expectTypeOf<Parameters<NextText>[0]>().toEqualTypeOf<Ref<{ first: ShellResult }>>();
  });

  test('of one branch are not in sight in another, those of a body are after it', () => {
    sentinel('x').parallel([
      (left) => left.shell('mine', 'true'),
      (right) => {
        expectTypeOf<Accepts<typeof right, 'mine'>>().toEqualTypeOf<false>();
        return right;
      },
    ]);
    const after = sentinel('x').repeat(null, { type: 'count', max: 2 }, (body) => body.shell('inside', 'true'));
    expectTypeOf<Accepts<typeof after, 'inside.success'>>().toEqualTypeOf<true>();
  });

  test('only the outermost chain is built', () => {
    expectTypeOf<ReturnType<typeof built.build>>().not.toBeNever();
    sentinel('x').when('true', (then) => {
      expectTypeOf<ThisParameterType<typeof then.build>>().not.toEqualTypeOf<typeof then>();
      return then;
    });
    expect(built.build().steps).toHaveLength(3);
  });
});

describe('what is wrong is told when it is built', () => {
  test('a reference written by hand that nothing sets', () => {
    expect(() => sentinel('x').command(null, 'code/read', { path: '$nowhere' }).build()).toThrow(
      /steps\.0\.params\.path.*nowhere/,
    );
  });

  test('but not an input that is given at the start, in a nested sentinel neither', () => {
    const builder = sentinel('x')
      .input('path')
      .command(null, 'code/read', (ref) => ({ path: ref('path') }));
    expect(
      builder.sentinel(null, (child) => child.command(null, 'code/read', (ref) => ({ path: ref('path') }))).build()
        .inputs,
    ).toBeUndefined();
  });

  test('every error at once', () => {
    const builder = sentinel('x')
      .shell('a-b', 'true')
      // @ts-expect-error a command that there is not
      .command(null, 'code/raed', { path: 'a' })
      .loop({ type: 'continuous' });
    const problems = (): string[] => {
      try {
        builder.build();
        return [];
      } catch (error) {
        return error instanceof BuildError ? error.problems.map(({ code }) => code).toSorted() : ['another error'];
      }
    };
    expect(problems()).toEqual(['UNBOUNDED_LOOP', 'UNKNOWN_COMMAND']);
  });
});

test('a builder is never changed', () => {
  const base = sentinel('x').shell('a', 'true');
  const [one, two] = [base.shell('b', 'one'), base.shell('b', 'two')];
  expect([base.build(), one.build(), two.build()].map(({ steps }) => steps.length)).toEqual([1, 2, 2]);
  expect(two.build().steps[1]).toMatchObject({ command: 'two' });
});

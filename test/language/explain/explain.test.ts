/** What `sentinel explain` says of definitions: in order, complete, and in words that show nothing but text. */
import { describe, expect, test } from 'vitest';
import { explain } from '../../../language/explain/explain.ts';
import { touchesOf } from '../../../language/explain/touches.ts';
import type { Definition, EscalationRule, Step } from '../../../language/model.ts';
import { defined } from '../../../language/defined.ts';
import { catalogue } from '../../catalogue.ts';

const shell = (command: string, rest: Partial<Extract<Step, { type: 'shell' }>> = {}): Step => ({
  type: 'shell',
  command,
  ...rest,
});
const once = (steps: Step[], rest: Partial<Definition> = {}): Definition => ({
  name: 'x',
  steps,
  loop: { type: 'once' },
  ...rest,
});
const linesOf = (definition: Definition): string[] =>
  explain(definition, { catalogue }).steps.map(({ depth, text }) => `${'  '.repeat(depth)}${text}`);

test('a definition of every kind of step, in order', () => {
  const steps: Step[] = [
    shell('npm test', { name: 'test', outputTo: 'tests', timeoutMs: 90_000, onError: 'skip' }),
    {
      type: 'command',
      command: 'code/read',
      params: { path: 'README.md' },
      outputTo: 'readme',
      retry: { attempts: 5 },
    },
    { type: 'llm', prompt: 'Summarise $readme', model: 'auto', tools: ['code/read'], outputTo: 'summary' },
    { type: 'watch', event: 'build:*' },
    { type: 'watch', executionId: '$server.executionId', until: 'match' },
    { type: 'emit', event: 'done' },
    { type: 'join', handles: ['$first', '$second'] },
    { type: 'sleep', durationMs: 90_000 },
    { type: 'sleep', until: '$opens' },
    { type: 'set', values: { total: '{{a.n + b.n}}', list: [1] } },
    { type: 'fail', message: 'no $tests left', code: 'NONE_LEFT' },
    { type: 'approval', message: 'Deploy?', assignee: 'ops', timeoutMs: 3_600_000, onTimeout: 'reject' },
    { type: 'condition', check: '$tests.success', then: [shell('a')], else: [shell('b')], always: [shell('c')] },
    {
      type: 'loop',
      loop: { type: 'count', max: '$files.length', over: '$files', as: 'file' },
      steps: [shell('lint $file')],
    },
    { type: 'parallel', branches: [[shell('d')], [shell('e')]], failFast: true, maxConcurrency: 1, onError: 'retry' },
    { type: 'sentinel', definition: once([shell('f')], { name: 'child' }), await: false },
  ];
  expect(
    linesOf(once(steps, { loop: { type: 'until', check: '$done', maxIterations: 5 }, always: [shell('clean')] })),
  ).toEqual([
    'Repeats until $done, at most 5 passes:',
    '  test: runs `npm test`; keeps the result as $tests, takes at most 90 seconds, is passed over if it cannot be started or runs too long',
    '  calls code/read with path README.md; keeps the result as $readme, is tried up to 5 times',
    '  asks a model "Summarise $readme", which may call code/read; keeps the result as $summary',
    '  waits for the event "build:*"',
    '  watches process $server.executionId until a line matches',
    '  emits the event "done"',
    '  waits until the runs $first, $second have ended',
    '  waits for 90 seconds',
    '  waits until $opens',
    '  sets $total to "{{a.n + b.n}}", $list to [1]',
    '  fails with NONE_LEFT: "no $tests left"',
    '  asks ops "Deploy?"; takes at most 1 hour',
    '  if $tests.success:',
    '    runs `a`',
    '  Otherwise:',
    '    runs `b`',
    '  After either:',
    '    runs `c`',
    '  repeats for each of $files as file:',
    '    runs `lint $file`',
    '  runs 2 branches at once, 1 at a time; the first failure ends all (is tried up to 3 times):',
    '    Branch 1:',
    '      runs `d`; whatever its exit code, the others go on',
    '    Branch 2:',
    '      runs `e`; whatever its exit code, the others go on',
    '  runs the sentinel child and does not wait for it',
    '    runs `f`',
    'At the end, however it ends:',
    '  runs `clean`',
  ]);
});

describe('what it may touch', () => {
  test('by permission class, in nested and referenced definitions too, the gravest first', () => {
    const definition = once([
      { type: 'command', command: 'code/read', params: { path: 'a' } },
      { type: 'command', command: 'code/write', params: { path: 'b', content: '' } },
      { type: 'condition', check: '$x', then: [{ type: 'sentinel', definition: once([shell('rm -rf build')]) }] },
      { type: 'sentinel', definition: { $ref: 'other' } },
      { type: 'llm', prompt: 'hi', model: 'local/small' },
    ]);
    const other = once(
      [
        { type: 'command', command: 'data/delete' },
        { type: 'sentinel', definition: { $ref: 'other' } },
      ],
      { name: 'other' },
    );
    const touches = touchesOf(definition, (name) => (name === 'other' ? other : undefined), catalogue);
    expect(touches.map(({ permission, steps }) => [permission, steps])).toEqual([
      ['shell', ['steps.2.then.0/steps.0']],
      ['delete', ['steps.3/steps.0']],
      ['write', ['steps.1']],
      ['model', ['steps.4']],
      ['read', ['steps.0']],
    ]);
    expect(touches[0]?.sentence).toContain('`rm -rf build`');
  });

  test('says so where the mode refuses it', () => {
    expect(explain(once([shell('true')], { mode: 'readonly' }), { catalogue }).touches[0]?.sentence).toContain(
      'Its mode refuses that',
    );
    expect(explain(once([shell('true')]), { catalogue }).touches[0]?.sentence).not.toContain('refuses');
  });

  test('nothing, where it only emits and decides', () => {
    expect(explain(once([{ type: 'emit', event: 'e' }]), { catalogue }).touches).toEqual([]);
  });

  test('what models are told, and commands that ask one', () => {
    const steps: Step[] = [
      { type: 'llm', prompt: 'Go on' },
      { type: 'command', command: 'ai/generate', params: { prompt: 'Hi' } },
    ];
    const { touches } = explain(once(steps, { recipe: 'coding', ragSources: ['data:reviews'] }), { catalogue });
    expect(touches).toEqual([
      { permission: 'network', steps: ['steps.1'], sentence: 'It uses the network: ai/generate.' },
      { permission: 'model', steps: ['steps.0', 'steps.1'], sentence: 'It asks models: auto, ai/generate.' },
      {
        permission: 'read',
        steps: ['context.0'],
        sentence: 'It reads: before each pass what models are told (recipe "coding", data:reviews).',
      },
    ]);
  });
});

describe('what bounds it, what it asks, what starts it', () => {
  test('every bound that is written', () => {
    const { bounds } = explain(
      once([shell('true')], {
        loop: { type: 'continuous', intervalMs: 5000 },
        timeoutMs: 60_000,
        mode: 'sandboxed',
        safety: {
          timeoutMs: 30_000,
          maxStepTimeoutMs: 1000,
          maxMemoryMb: 512,
          maxNestingDepth: 2,
          onTimeout: 'pause',
          budget: { usd: 2, tokens: 1000 },
        },
      }),
      { catalogue },
    );
    expect(bounds.join('\n')).toBe(
      [
        'Passes: every 5 seconds; never more than 10000.',
        'Time: at most 30 seconds; then it pauses, and resuming it grants as much again.',
        'Each step: at most its own "timeoutMs", else 10 minutes for a shell step, and never more than 1 second.',
        'Budget, nested runs included: 1000 tokens, 2 US dollars; then it pauses, and resuming it grants as much again.',
        'Memory of its processes: at most 512 MB.',
        'Sentinels inside one another: at most 2.',
        'Mode "sandboxed": processes see the project alone, and no network.',
      ].join('\n'),
    );
  });

  test('every question', () => {
    const { asks } = explain(
      once([{ type: 'approval', message: 'Go on?' }], {
        safety: { requireApproval: ['shell', 'delete'], onTimeout: 'pause' },
        escalateOn: [
          { condition: 'error', action: 'pause', priority: 'high' },
          { condition: 'complete', action: 'notify' },
        ],
        reportTo: 'inbox',
      }),
      { catalogue },
    );
    expect(asks).toEqual([
      'steps.0 asks its persona "Go on?" and waits until it is answered.',
      'Before every step that needs the permission "shell" or "delete" it asks for approval.',
      'When a step fails, it pauses and asks (high).',
      'When it is complete, it tells its persona and goes on.',
      'At a bound it pauses and waits to be resumed or stopped.',
      "At its end it puts a report into its owner's inbox.",
    ]);
    expect(explain(once([shell('true')]), { catalogue }).asks).toEqual(['Nothing.']);
  });

  test.each<[EscalationRule, string[]]>([
    [
      { condition: 'approval_needed', action: 'pause' },
      [
        'Before every step that needs the permission "shell" it asks for approval.',
        'When approval is needed, it pauses and asks.',
      ],
    ],
    [
      { condition: 'approval_needed', action: 'notify', priority: 'urgent' },
      ['Before every step that needs the permission "shell" it tells its persona (urgent) and does not wait.'],
    ],
    [
      { condition: 'approval_needed', action: 'abort' },
      ['A step that needs the permission "shell" fails, and nobody is asked.'],
    ],
    [
      { condition: 'error', action: 'notify' },
      [
        'Before every step that needs the permission "shell" it asks for approval.',
        'When a step fails, it tells its persona, and the failure stands.',
      ],
    ],
  ])('what %j makes of it', (rule, asks) => {
    expect(
      explain(once([shell('true')], { safety: { requireApproval: ['shell'] }, escalateOn: [rule] }), { catalogue })
        .asks,
    ).toEqual(asks);
  });

  test.each<[Definition['trigger'], string]>([
    [undefined, 'A person or a program starts it.'],
    [{ type: 'immediate' }, 'It starts as soon as it is deployed.'],
    [{ type: 'event', event: 'git:push' }, 'Each event "git:push" starts it.'],
    [
      { type: 'schedule', cronExpression: '0 3 * * *', timeZone: 'Europe/Zurich', overlap: 'buffer' },
      'The schedule "0 3 * * *" (Europe/Zurich) starts it, after the run before.',
    ],
  ])('%j', (trigger, sentence) => {
    expect(explain(once([shell('true')], trigger === undefined ? {} : { trigger }), { catalogue }).starts).toBe(
      sentence,
    );
  });
});

test('text that would steer a terminal is shown as text', () => {
  const lines = linesOf(once([shell('echo \u001B[2J\nrm \u202Ex', { name: 'a\u0007\nb' })]));
  expect(lines).toEqual(['a b: runs `echo [2J rm x`']);
});

test('a definition that leads to itself is explained to an end', () => {
  const circle: Definition = once([{ type: 'sentinel', definition: { $ref: 'circle' } }], { name: 'circle' });
  expect(explain(circle, { catalogue, knownRefs: () => circle }).steps.length).toBeLessThan(20);
});

const starts = (trigger: NonNullable<Definition['trigger']>): string =>
  explain(once([shell('a')], { trigger }), { catalogue }).starts;

test('what starts it: events that a filter takes, and a wait until none comes', () => {
  const filter = "$event.branch === 'main'";
  expect(starts({ type: 'event', event: 'git:push' })).toBe('Each event "git:push" starts it.');
  expect(starts({ type: 'event', event: 'git:push', filter })).toBe(
    `Each event "git:push" for which ${filter} is true starts it.`,
  );
  expect(starts({ type: 'event', event: 'file:*', debounceMs: 2_000 })).toBe(
    'It starts 2 seconds after the last event "file:*", with that event.',
  );
});

test.each([
  [undefined, 'it waits until those before it have ended'],
  ['skip', 'it ends at once'],
  ['cancel', 'it cancels those before it, and begins when they have ended'],
] as const)('a group, with %s', (onConflict, words) => {
  const concurrency = { group: 'deploy-$target', ...defined({ onConflict }) };
  expect(explain(once([shell('a')], { concurrency }), { catalogue }).bounds).toContain(
    `One run at a time of the group deploy-$target; where another one has it, ${words}.`,
  );
});

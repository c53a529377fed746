/** A case made from a run that ended: with what the store holds of it, the run comes out again. */
import { describe, expect, it } from 'vitest';
import { recordRun, type StoredRun } from '../../../authoring/definition-tests/record/record.ts';
import { runTestCase, subjectOf } from '../../../authoring/definition-tests/run-case.ts';
import { readCases } from '../../../authoring/definition-tests/test-file.ts';
import { stage } from '../../../authoring/simulate/stage.ts';
import type { Json } from '../../../language/json.ts';
import type { Definition } from '../../../language/model.ts';
import type { RunEvent } from '../../../language/events/run-event.ts';
import {
  runScenario,
  STARTS_AT,
  type Scenario as WholeScenario,
} from '../../../interpreter/simulation/run-scenario.ts';
import type { ScriptedRun } from '../../../interpreter/simulation/world.ts';
import { catalogue, NO_FILES } from '../../catalogue.ts';

const child: Definition = {
  name: 'child',
  steps: [{ type: 'shell', command: 'inner', outputTo: 'inner' }],
  loop: { type: 'count', max: 2 },
};
const definition: Definition = {
  name: 'parent',
  inputs: { who: 'world' },
  steps: [
    { type: 'shell', name: 'compile', command: 'make', outputTo: 'made' },
    {
      type: 'condition',
      check: '$made.exitCode === 2',
      then: [{ type: 'command', command: 'code/read', params: { path: 'a' }, onError: 'skip' }],
    },
    { type: 'sentinel', definition: child, outputTo: 'child' },
    { type: 'command', command: 'data/list', params: { collection: 'c' } },
    { type: 'emit', event: 'over', data: '$who' },
  ],
  loop: { type: 'once' },
};

type Scenario = Omit<WholeScenario, 'catalogue'>;

const replies: NonNullable<Scenario['replies']> = {
  compile: { ok: true, value: { exitCode: 2, stderr: 'x'.repeat(500) } },
  'code/read': { ok: false, failure: { code: 'FILE_NOT_FOUND', message: 'no a' } },
  inner: [
    { ok: true, value: { stdout: 'one' } },
    { ok: true, value: { stdout: 'two' } },
  ],
  'data/list': { ok: true, value: [{ n: 1 }] },
};

const ended = ({ events, result }: ScriptedRun): RunEvent[] =>
  result === null
    ? events
    : [...events, { type: 'run-finished', seq: 1e6, at: STARTS_AT + result.durationMs, key: '', ...result }];

/** The run as the store would hold it: its row, and the events of all runs with their ends. */
async function stored(scenario: Scenario): Promise<StoredRun> {
  const { runs, result } = await runScenario({ ...scenario, catalogue }, { stage, persona: 'ada', project: '/here' });
  const [outermost, ...nested] = runs;
  if (outermost === undefined) throw new Error('no run');
  return {
    run: {
      handle: 'run',
      name: scenario.definition.name,
      definitionHash: '',
      project: '/here',
      persona: 'ada',
      parent: null,
      startedBy: 'person',
      inputs: { ...scenario.definition.inputs, ...scenario.inputs },
      startedAt: STARTS_AT,
      status: result.status,
      outcome: result.outcome,
      limit: result.limit ?? null,
      failure: result.failure ?? null,
      outputs: result.outputs,
      iterations: result.iterations,
      finishedAt: STARTS_AT + 1,
    },
    definition: scenario.definition,
    library: {},
    catalogue,
    events: ended(outermost),
    nested: nested.map((run) => ({
      under: run.walk.input.handle.slice('run/'.length),
      definition: run.walk.input.definition,
      events: ended(run),
    })),
  };
}

interface File {
  inputs: { [name: string]: Json };
  replies: { [key: string]: Json };
  notes?: string[];
  interruptions?: Json[];
}

async function passes(file: unknown): Promise<boolean> {
  const read = readCases(JSON.parse(JSON.stringify(file)), 'file');
  if ('mistakes' in read) throw new Error(read.mistakes.join('; '));
  const [test] = read.cases;
  if (test === undefined) throw new Error('no case');
  const { ok } = await runTestCase(test, subjectOf(test, '/nowhere/x.sentinel-test.json', NO_FILES));
  return ok;
}

describe('a recorded run', () => {
  it('comes out again, with what its outputs and its events hold', async () => {
    const { file, unknown } = await recordRun(await stored({ definition, replies, inputs: { who: 'Ada' } }));
    expect(unknown).toEqual([]);
    const recorded = file as unknown as File;
    expect(recorded.inputs).toEqual({ who: 'Ada' });
    expect(recorded.replies).toMatchObject({
      'steps.0@1': { ok: true, value: { exitCode: 2, stderr: 'x'.repeat(500) } },
      'steps.1.then.0@1': { ok: false, failure: { code: 'FILE_NOT_FOUND' } },
      'steps.2@1/steps.0@1': { ok: true, value: { exitCode: 0, stdout: 'one' } },
      'steps.2@1/steps.0@2': { ok: true, value: { exitCode: 0, stdout: 'two' } },
      'steps.3@1': { ok: true, value: [{ n: 1 }] },
    });
    expect(await passes(file)).toBe(true);
  });

  it('says what cannot be known', async () => {
    const long: Scenario = {
      definition: {
        ...definition,
        steps: [
          { type: 'command', command: 'data/list', params: { collection: 'c' } },
          { type: 'emit', event: 'at', data: '$NOW', outputTo: 'at' },
        ],
      },
      replies: { 'data/list': { ok: true, value: ['y'.repeat(500)] }, at: { ok: true, value: { event: 'at', id: 7 } } },
    };
    const { file, unknown } = await recordRun(await stored(long));
    expect(unknown).toEqual([
      expect.stringContaining('steps.0@1 ("data/list") gave is too long'),
      expect.stringContaining('"at" does not come out again'),
    ]);
    expect((file as unknown as File).notes).toEqual(unknown);
    expect(await passes(file)).toBe(true);
  });
});

const shell = (
  command: string,
  rest: Partial<Extract<Definition['steps'][number], { type: 'shell' }>> = {},
): Definition['steps'][number] => ({ type: 'shell', command, ...rest });
const once = (steps: Definition['steps'], rest: Partial<Definition> = {}): Definition => ({
  name: 'recorded',
  steps,
  loop: { type: 'once' },
  ...rest,
});
const twice = { loop: { type: 'count', max: 2 } } as const;
const asks = once(
  [
    shell('a', { outputTo: 'a' }),
    { type: 'approval', message: 'On?', timeoutMs: 1000, onError: 'skip', outputTo: 'said' },
  ],
  twice,
);

const lived: [string, Scenario][] = [
  [
    'was answered, each time otherwise',
    {
      definition: asks,
      answers: {
        'steps.1@1': { choice: 'approve', note: 'fine', data: { n: 1 }, by: 'ada' },
        'steps.1@2': { choice: 'reject', by: 'bob' },
      },
    },
  ],
  ['was not answered in time', { definition: asks }],
  [
    'waited for its group',
    {
      definition: once([shell('a')], { concurrency: { group: 'deploy' }, timeoutMs: 1_000 }),
      groups: { deploy: { by: 'other', forMs: 5_000 } },
    },
  ],
  [
    'was skipped, because another one had its group',
    {
      definition: once([shell('a')], { concurrency: { group: 'deploy', onConflict: 'skip' } }),
      groups: { deploy: { by: 'other' } },
    },
  ],
  [
    'cancelled the one that had its group',
    {
      definition: once([shell('a')], { concurrency: { group: 'deploy', onConflict: 'cancel' } }),
      groups: { deploy: { by: 'other' } },
    },
  ],
  [
    'was stopped while it waited for its group',
    {
      definition: once([shell('a')], { concurrency: { group: 'deploy' } }),
      groups: { deploy: { by: 'other' } },
      interruptions: [{ at: 'concurrency.group', when: 'during', do: 'stop', afterMs: 50 }],
    },
  ],
  [
    'was cancelled while it waited for its group',
    {
      definition: once([shell('a')], { concurrency: { group: 'deploy' } }),
      groups: { deploy: { by: 'other' } },
      interruptions: [{ at: 'concurrency.group', when: 'during', do: 'cancel', afterMs: 50 }],
    },
  ],
  [
    'holds numbers of its passes',
    {
      definition: once([
        { type: 'sentinel', definition: once([shell('a', { outputTo: 'a' })], twice), outputTo: 'child' },
      ]),
      replies: { a: { ok: true, value: { stdout: 'x', durationMs: 7 } } },
    },
  ],
  [
    'asks in a nested run',
    {
      definition: once([{ type: 'sentinel', definition: asks, outputTo: 'child' }]),
      answers: { '**': { choice: 'approve', by: 'ada' } },
    },
  ],
  [
    'tried a step again, and steps that hold others',
    {
      definition: once([
        shell('flaky', { retry: { attempts: 3, backoffMs: 10 }, outputTo: 'made' }),
        {
          type: 'condition',
          check: 'true',
          retry: { attempts: 2 },
          then: [shell('b'), { type: 'command', command: 'code/read', params: { path: 'a' }, outputTo: 'read' }],
        },
      ]),
      replies: {
        flaky: [
          { ok: false, failure: { code: 'SHELL_NOT_STARTED', retryable: true } },
          { ok: true, value: { stdout: 'made' } },
        ],
        'code/read': [
          { ok: false, failure: { code: 'FILE_NOT_FOUND', retryable: true } },
          { ok: true, value: { content: 'x' } },
        ],
      },
    },
  ],
  [
    'reads environment variables, of which one is not set',
    {
      definition: once([shell('echo {{env.TOKEN}} {{env.NONE}}', { outputTo: 'said' })], { env: ['TOKEN', 'NONE'] }),
      env: { TOKEN: 'sesame' },
    },
  ],
  [
    'reads environment variables, of which the one with the longer name is not set',
    {
      definition: once([shell('echo {{env.API}} {{env.API_KEY}}', { outputTo: 'said' })], { env: ['API', 'API_KEY'] }),
      env: { API: 'sesame' },
    },
  ],
  [
    'failed',
    {
      definition: once([shell('a'), { type: 'command', command: 'code/read', params: { path: 'a' } }], twice),
      replies: { 'code/read': { ok: false, failure: { code: 'FILE_NOT_FOUND', message: 'no a' } } },
    },
  ],
  [
    'was stopped',
    {
      definition: once([shell('a'), shell('b')], twice),
      interruptions: [{ at: 'steps.0@2', when: 'during', do: 'stop' }],
    },
  ],
  [
    'was cancelled',
    {
      definition: once([shell('a'), shell('b')], { ...twice, always: [shell('z')] }),
      interruptions: [{ at: 'steps.1@2', when: 'during', do: 'cancel' }],
    },
  ],
  [
    'was stopped, and cleaned up',
    {
      definition: once([shell('a'), shell('b')], { ...twice, always: [shell('z')] }),
      interruptions: [{ at: 'steps.0@2', when: 'during', do: 'stop' }],
    },
  ],
  [
    'was cancelled after a branch had been cut short',
    {
      definition: once(
        [
          { type: 'parallel', failFast: true, onError: 'skip', branches: [[shell('bad')], [shell('slow')]] },
          shell('b'),
        ],
        twice,
      ),
      replies: { slow: { ok: true, tookMs: 60_000 }, bad: { ok: false, failure: { code: 'SHELL_NOT_STARTED' } } },
      interruptions: [{ at: 'steps.1@2', when: 'during', do: 'cancel' }],
    },
  ],
  [
    'was cancelled a while after its step began',
    {
      definition: once([shell('a'), shell('b')]),
      replies: { a: { ok: true, tookMs: 700 }, b: { ok: true, tookMs: 60_000 } },
      interruptions: [{ at: 'steps.1@1', when: 'during', afterMs: 5000, do: 'cancel' }],
    },
  ],
  [
    'was cancelled when one branch had come further than another',
    {
      definition: once([{ type: 'parallel', branches: [[shell('a')], [shell('b'), shell('c')], [shell('d')]] }]),
      replies: {
        a: { ok: true, tookMs: 10_000 },
        b: { ok: true, tookMs: 1000 },
        c: { ok: true, tookMs: 9000 },
        d: { ok: true, tookMs: 2000 },
      },
      interruptions: [{ at: 'steps.0.branches.0.0@1', when: 'during', afterMs: 5000, do: 'cancel' }],
    },
  ],
  [
    'was cancelled in the middle of a nested run, which cleaned up',
    {
      definition: once([
        { type: 'sentinel', definition: once([shell('a'), shell('b'), shell('c')], { always: [shell('z')] }) },
      ]),
      replies: { a: { ok: true, tookMs: 1000 }, b: { ok: true, tookMs: 9000 }, z: { ok: true, tookMs: 300 } },
      interruptions: [{ at: 'steps.0@1', when: 'during', afterMs: 5000, do: 'cancel' }],
    },
  ],
  [
    'was cancelled between two passes',
    {
      definition: once([shell('a')], { loop: { type: 'continuous', intervalMs: 1000, maxIterations: 9 } }),
      interruptions: [{ at: 'steps.0@2', when: 'during', afterMs: 500, do: 'cancel' }],
    },
  ],
  [
    'was cancelled while nobody answered',
    {
      definition: once([shell('a'), { type: 'approval', message: 'On?' }]),
      interruptions: [{ at: 'steps.1@1', when: 'during', afterMs: 500, do: 'cancel' }],
    },
  ],
  [
    'was cancelled while it waited for an event',
    {
      definition: once([shell('a'), { type: 'watch', event: 'go' }]),
      interruptions: [{ at: 'steps.1@1', when: 'during', afterMs: 500, do: 'cancel' }],
    },
  ],
  [
    'cut a branch short that had come far',
    {
      definition: once([
        {
          type: 'parallel',
          failFast: true,
          onError: 'skip',
          branches: [
            [shell('a'), shell('slow')],
            [shell('b'), shell('bad')],
          ],
        },
        shell('c'),
      ]),
      replies: {
        slow: { ok: true, tookMs: 60_000 },
        b: { ok: true, tookMs: 40 },
        bad: { ok: false, failure: { code: 'SHELL_NOT_STARTED' }, tookMs: 40 },
      },
    },
  ],
  [
    'ran out of the time of a step that holds others',
    {
      definition: once([
        { type: 'condition', check: 'true', timeoutMs: 500, onError: 'skip', then: [shell('a'), shell('slow')] },
        shell('b'),
      ]),
      replies: { slow: { ok: true, tookMs: 60_000 } },
    },
  ],
  [
    'used up its tokens',
    {
      definition: once([shell('a')], { loop: { type: 'count', max: 9 }, safety: { budget: { tokens: 1000 } } }),
      replies: { a: { ok: true, usage: { tokens: 400, usd: 0.01 } } },
    },
  ],
  [
    'was edited',
    {
      definition: once([shell('a'), shell('b'), shell('c')], twice),
      interruptions: [
        {
          at: 'steps.0@1',
          when: 'during',
          do: 'edit',
          edit: { op: 'add', path: 'steps.1', step: { type: 'shell', command: 'new' } },
        },
        { at: 'steps.0@1', when: 'during', do: 'edit', edit: { op: 'remove', path: 'steps.3' } },
        { at: 'steps.1~2@1', when: 'during', do: 'edit', edit: { op: 'remove', path: 'steps.0' } },
      ],
      replies: {
        a: { ok: true, value: { stdout: 'a' } },
        new: { ok: true, value: { stdout: 'new' } },
        b: { ok: true, value: { stdout: 'b' } },
      },
    },
  ],
  [
    'was edited while it asked, in a nested run, too',
    {
      definition: once([
        { type: 'approval', message: 'On?' },
        shell('b'),
        { type: 'sentinel', definition: once([{ type: 'approval', message: 'In?' }, shell('d')]) },
      ]),
      answers: { '**': { choice: 'approve', by: 'ada' } },
      interruptions: [
        {
          at: 'steps.0@1',
          when: 'during',
          do: 'edit',
          edit: { op: 'update', path: 'steps.1', step: { type: 'shell', command: 'new' } },
        },
        {
          at: 'steps.2~1@1/steps.0@1',
          when: 'during',
          do: 'edit',
          edit: { op: 'add', path: 'steps.2', step: { type: 'shell', command: 'last' } },
        },
      ],
      replies: { new: { ok: true, value: { stdout: 'new' } }, last: { ok: true, value: { stdout: 'last' } } },
    },
  ],
  [
    'was edited while it asked to act',
    {
      definition: once([shell('a'), shell('b')], { safety: { requireApproval: ['shell'] } }),
      answers: { '**': { choice: 'approve', by: 'ada' } },
      interruptions: [
        {
          at: 'steps.0@1',
          when: 'during',
          do: 'edit',
          edit: { op: 'update', path: 'steps.1', step: { type: 'shell', command: 'new' } },
        },
      ],
      replies: { new: { ok: true, value: { stdout: 'new' } } },
    },
  ],
  [
    'was stopped while it asked',
    { definition: asks, interruptions: [{ at: 'steps.1@2', when: 'during', do: 'stop' }] },
  ],
  [
    'was cancelled while it asked',
    { definition: asks, interruptions: [{ at: 'steps.1@1', when: 'during', do: 'cancel' }] },
  ],
  [
    'was extended by steps',
    {
      definition: once([shell('a'), shell('b'), shell('c')], { safety: { budget: { steps: 1 }, onTimeout: 'pause' } }),
      answers: { 'limit.budget.steps': { choice: 'extend', data: { steps: 5 }, by: 'ada' } },
    },
  ],
  [
    'was extended twice',
    {
      definition: once([shell('a'), shell('b'), shell('c')], { safety: { budget: { steps: 1 }, onTimeout: 'pause' } }),
      answers: { '**': { choice: 'extend', by: 'ada' } },
    },
  ],
  [
    'was extended once and then resumed',
    {
      definition: once([shell('a'), shell('b'), shell('c')], { safety: { budget: { steps: 1 }, onTimeout: 'pause' } }),
      answers: { 'limit.budget.steps#2': [], 'limit.budget.steps': { choice: 'extend', by: 'ada' } },
    },
  ],
  [
    'was extended by passes',
    {
      definition: once([shell('a')], {
        loop: { type: 'count', max: 3 },
        safety: { maxIterations: 1, onTimeout: 'pause' },
      }),
      answers: { 'limit.maxIterations': { choice: 'extend', data: { maxIterations: 2 }, by: 'ada' } },
    },
  ],
  [
    'was extended by tokens',
    {
      definition: once([shell('a')], {
        loop: { type: 'count', max: 4 },
        safety: { budget: { tokens: 1000 }, onTimeout: 'pause' },
      }),
      replies: { a: { ok: true, usage: { tokens: 600, usd: 0.01 } } },
      answers: { 'limit.budget.tokens': { choice: 'extend', data: { tokens: 5000 }, by: 'ada' } },
    },
  ],
  [
    'was extended by time',
    {
      definition: once([shell('a'), shell('b'), shell('c')], { timeoutMs: 1000, safety: { onTimeout: 'pause' } }),
      replies: { a: { ok: true, tookMs: 600 }, b: { ok: true, tookMs: 600 }, c: { ok: true, tookMs: 300 } },
      answers: { 'limit.timeoutMs': { choice: 'extend', data: { timeoutMs: 5000 }, by: 'ada' } },
    },
  ],
  [
    'was extended by wall time',
    {
      definition: once([shell('a')], {
        loop: { type: 'count', max: 4 },
        safety: { budget: { wallMs: 2500 }, onTimeout: 'pause' },
      }),
      replies: { a: { ok: true, tookMs: 1000 } },
      answers: { 'limit.budget.wallMs': { choice: 'extend', data: { wallMs: 5000 }, by: 'ada' } },
    },
  ],
  [
    'was extended with a nested run under way',
    {
      definition: once([{ type: 'sentinel', definition: once([shell('a'), shell('b')]) }], {
        timeoutMs: 1000,
        safety: { onTimeout: 'pause' },
      }),
      replies: { a: { ok: true, tookMs: 1500 }, b: { ok: true, tookMs: 100 } },
      answers: { 'limit.timeoutMs': { choice: 'extend', data: { timeoutMs: 5000 }, by: 'ada' } },
    },
  ],
  [
    'was resumed at a limit',
    { definition: once([shell('a'), shell('b')], { safety: { budget: { steps: 1 }, onTimeout: 'pause' } }) },
  ],
  [
    'was stopped at a limit of steps',
    {
      definition: once([shell('a'), shell('b')], { safety: { budget: { steps: 1 }, onTimeout: 'pause' } }),
      answers: { 'limit.budget.steps': { choice: 'stop', by: 'ada' } },
    },
  ],
  [
    'was stopped at a limit otherwise',
    {
      definition: once([shell('a'), shell('b')], { safety: { budget: { steps: 1 }, onTimeout: 'pause' } }),
      holds: ['stop'],
    },
  ],
  [
    'was cancelled at a limit',
    {
      definition: once([shell('a'), shell('b')], { safety: { budget: { steps: 1 }, onTimeout: 'pause' } }),
      holds: ['cancel'],
    },
  ],
  [
    'was extended in a nested run',
    {
      definition: once([
        {
          type: 'sentinel',
          definition: once([shell('a')], {
            loop: { type: 'count', max: 3 },
            safety: { maxIterations: 1, onTimeout: 'pause' },
          }),
        },
      ]),
      answers: { 'steps.0@1/limit.maxIterations': { choice: 'extend', data: { maxIterations: 2 }, by: 'ada' } },
    },
  ],
  [
    'was stopped at wall time',
    {
      definition: once([shell('a')], { loop: { type: 'count', max: 4 }, safety: { budget: { wallMs: 2500 } } }),
      replies: { a: { ok: true, tookMs: 1000 } },
    },
  ],
];

describe('a run that', () => {
  it.each(lived)('%s comes out again', async (_title, scenario) => {
    const { file, unknown } = await recordRun(await stored(scenario));
    expect(unknown).toEqual([]);
    expect((file as unknown as File).interruptions ?? []).toHaveLength(scenario.interruptions?.length ?? 0);
    expect(await passes(file)).toBe(true);
    expect(JSON.stringify(file)).not.toContain('sesame');
  });

  it('was held while two branches ended together comes out again, beside one of them', async () => {
    const fan = once(
      [
        {
          type: 'parallel',
          branches: [
            [shell('a'), shell('b')],
            [shell('c'), shell('d')],
          ],
        },
      ],
      { safety: { budget: { steps: 2 }, onTimeout: 'pause' } },
    );
    const held = await stored({ definition: fan, answers: { '**': { choice: 'extend', by: 'ada' } } });
    const asked = held.events.find(({ type }) => type === 'asked');
    const other = held.events.find(({ type, seq }) => type === 'step-finished' && seq > (asked?.seq ?? 0));
    const swapped = new Map([
      [asked, other],
      [other, asked],
    ]);
    const { file, unknown } = await recordRun({
      ...held,
      events: held.events.map((event) => ({ ...event, seq: (swapped.get(event) ?? event).seq })),
    });
    expect(unknown).toEqual([]);
    expect(await passes(file)).toBe(true);
  });

  const limited = { safety: { budget: { steps: 1 }, onTimeout: 'pause' as const } };
  const extended: Scenario['answers'] = { '**': { choice: 'extend', data: { steps: 9 }, by: 'ada' } };

  it.each<[string, Scenario]>([
    [
      'before it was held at a limit',
      {
        definition: once([shell('a'), shell('b'), shell('c')], { safety: { ...limited.safety, budget: { steps: 2 } } }),
        interruptions: [{ at: 'steps.0@1', when: 'during', do: 'pause' }],
        answers: extended,
      },
    ],
    [
      'after it was held at a limit',
      {
        definition: once([shell('a'), shell('b'), shell('c')], limited),
        interruptions: [{ at: 'steps.1@1', when: 'during', do: 'pause' }],
        answers: extended,
      },
    ],
    [
      'after it was resumed at a limit',
      {
        definition: once([shell('a'), shell('b'), shell('c')], limited),
        interruptions: [{ at: 'steps.1@1', when: 'during', do: 'pause' }],
      },
    ],
    [
      'while a branch came to a limit',
      {
        definition: once([{ type: 'parallel', branches: [[shell('a'), shell('b')], [shell('c')]] }, shell('d')], {
          safety: { budget: { steps: 2 }, onTimeout: 'pause' },
        }),
        interruptions: [{ at: 'steps.0.branches.1.0@1', when: 'during', do: 'pause', forMs: 50 }],
        answers: extended,
      },
    ],
    [
      'with a run nested in it, and was held at a limit',
      {
        definition: once(
          [{ type: 'sentinel', definition: once([shell('a'), shell('b')]) }, shell('c'), shell('d')],
          limited,
        ),
        interruptions: [{ at: 'steps.0@1', when: 'during', do: 'pause' }],
        answers: extended,
      },
    ],
  ])('was paused %s comes out again, without that pause', async (_title, scenario) => {
    const paused = await stored(scenario);
    expect(paused.events).toContainEqual(expect.objectContaining({ type: 'asked' }));
    expect(paused.events).toContainEqual(expect.objectContaining({ type: 'paused', reason: 'asked' }));
    const { file, unknown } = await recordRun(paused);
    expect(unknown).toEqual(['the run was paused; when is not part of the test']);
    expect(await passes(file)).toBe(true);
  });

  it('declares outputs that are called like its variables comes out again', async () => {
    const { file, unknown } = await recordRun(
      await stored({
        definition: once([shell('make', { outputTo: 'made' }), shell('test', { outputTo: 'tests' })], {
          outputs: { made: '$made.stdout', all: '$tests' },
        }),
        replies: {
          make: { ok: true, value: { stdout: 'one' } },
          test: { ok: true, value: { stdout: 'x'.repeat(500) } },
        },
      }),
    );
    expect(unknown).toEqual([]);
    expect((file as unknown as File).replies).toMatchObject({
      'steps.0@1': { ok: true, value: { exitCode: 0, stdout: 'one' } },
      'steps.1@1': { ok: true, value: { exitCode: 0, stdout: 'x'.repeat(500) } },
    });
    expect(await passes(file)).toBe(true);
  });

  it('waited for events gives no replies to its watches, which ask for none', async () => {
    const { file, unknown } = await recordRun(
      await stored({
        definition: once([
          { type: 'watch', event: 'go:*', timeoutMs: 50, onError: 'skip' },
          { type: 'emit', event: 'own:one', data: 'x'.repeat(500) },
          { type: 'watch', event: 'own:*', outputTo: 'came' },
          { type: 'set', values: { came: 1 } },
          shell('a'),
        ]),
      }),
    );
    expect(unknown).toEqual([]);
    expect(Object.keys((file as unknown as File).replies)).toEqual(['steps.4@1']);
    expect(await passes(file)).toBe(true);
  });

  it('took an event of somebody else is recorded as far as it is known, and the rest is said', async () => {
    const { file, unknown } = await recordRun(
      await stored({
        definition: once([{ type: 'watch', event: 'go:*', outputTo: 'went' }]),
        events: [{ name: 'go:on', data: { n: 1 } }],
      }),
    );
    expect(unknown.join()).toContain('takes another way');
    expect((file as unknown as File).notes).toEqual(unknown);
  });
});

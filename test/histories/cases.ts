/** The cases whose histories are recorded: one for each way a run proceeds. */
import type { Step } from '../../language/model.ts';
import { counted, create, once, shell as begun } from '../server/harness/definitions.ts';
import { BEGUN_CASES } from './begun-cases.ts';
import type { HistoryCase } from './history-case.ts';

/** An activity of its own: nothing that is tried again begins in a segment. */
const shell: typeof begun = (command, rest) => begun(command, { retry: { attempts: 2 }, ...rest });

const fans = once('fans', [
  {
    type: 'parallel',
    maxConcurrency: 2,
    branches: [
      [shell('true'), shell('sleep 0.2')],
      [shell('true')],
      [create('history', { branch: 2 }), shell('true')],
      [shell('sleep 0.1'), create('history', { branch: 3 })],
    ],
  },
  {
    type: 'parallel',
    failFast: true,
    onError: 'skip',
    branches: [
      [shell('true'), shell('sleep 60')],
      [{ type: 'sentinel', definition: once('child', [shell('sleep 60')]) }],
      [shell('sleep 1'), { type: 'command', command: 'code/read', params: { path: 'no-such-file' } }],
    ],
  },
  { type: 'parallel', branches: Array.from({ length: 210 }, (_, n) => [create('history', { n })]) },
  create('history', { after: 'fans' }),
]);

const nestedTime = once('nested-time', [
  {
    type: 'sentinel',
    definition: once('child', [shell('sleep 60')], { always: [shell('true')] }),
    timeoutMs: 1500,
    onError: 'skip',
    outputTo: 'child',
  },
  { type: 'sentinel', definition: once('quick', [shell('true')]), timeoutMs: 60_000 },
  { type: 'sentinel', definition: once('let-go', [shell('true')]), timeoutMs: 60_000, await: false },
  create('history', { after: 'nested' }),
]);

const heldTwice = once(
  'held-twice',
  [
    { type: 'sentinel', definition: once('child', [shell('true'), shell('true')]) },
    {
      type: 'parallel',
      branches: [
        [shell('true'), create('history', { branch: 0 })],
        [shell('true'), shell('true')],
      ],
    },
  ],
  { safety: { budget: { steps: 4 }, onTimeout: 'pause' } },
);

const bigRead: Step = { type: 'command', command: 'code/read', params: { path: 'big.txt' } };
const readOften: Step = { type: 'loop', loop: { type: 'count', max: 40 }, steps: [bigRead] };

export const CASES: readonly HistoryCase[] = [
  {
    name: 'sequence',
    definition: once('sequence', [
      create('history', { n: 1 }, 'row'),
      {
        type: 'condition',
        check: '$row.n === 1',
        then: [shell('echo $row.n', { outputTo: 'said' })],
        else: [shell('false')],
      },
      { type: 'emit', event: 'said', data: '$said.stdout' },
    ]),
  },
  ...BEGUN_CASES,
  {
    name: 'loop',
    definition: counted('loop', 3, [
      create('history', { pass: '$iteration' }),
      shell('echo $iteration', { outputTo: 'said' }),
    ]),
  },
  {
    name: 'loop-of-activities',
    definition: counted('loop-of-activities', 3, [create('history', { pass: '$iteration' })], { durability: 'step' }),
  },
  {
    name: 'parallel',
    definition: once('parallel', [
      {
        type: 'parallel',
        branches: [
          [shell('sleep 0.4; echo a', { outputTo: 'a' }), create('history', { branch: 'a' })],
          [create('history', { branch: 'b' }, 'b'), shell('sleep 0.8')],
          [shell('true')],
        ],
      },
      create('history', { after: '$a.stdout' }),
    ]),
  },
  {
    name: 'nested',
    definition: once('nested', [
      {
        type: 'sentinel',
        definition: counted('child', 2, [shell('echo $iteration', { outputTo: 'said' })]),
        outputTo: 'child',
      },
      { type: 'sentinel', definition: once('detached', [shell('true')]), await: false },
      create('history', { iterations: '$child.iterations' }),
    ]),
  },
  {
    name: 'continue-as-new',
    definition: counted('continue-as-new', 4, [
      shell('echo $iteration', { outputTo: 'said' }),
      create('history', { said: '$said.stdout' }),
    ]),
    continueEvery: 3,
  },
  {
    name: 'pause-resume',
    definition: once('pause-resume', [shell('sleep 0.5'), create('history', { after: 'pause' })]),
    say: 'pause-resume',
  },
  { name: 'stop', definition: once('stop', [shell('sleep 0.5'), create('history', { never: true })]), say: 'stop' },
  {
    name: 'cancel',
    definition: once('cancel', [shell('sleep 60'), create('history', { never: true })]),
    say: 'cancel',
  },
  {
    name: 'failure',
    definition: once('failure', [{ type: 'command', command: 'code/read', params: { path: 'no-such-file' } }]),
  },
  {
    name: 'retry',
    definition: once('retry', [
      {
        type: 'command',
        command: 'code/read',
        params: { path: 'no-such-file' },
        retry: { attempts: 3, backoffMs: 20 },
        onError: 'skip',
      },
      {
        type: 'sentinel',
        definition: once('child', [{ type: 'command', command: 'code/read', params: { path: 'no-such-file' } }]),
        retry: { attempts: 2, backoffMs: 20 },
        onError: 'skip',
      },
      { type: 'condition', check: 'true', then: [shell('true')], timeoutMs: 60_000, retry: { attempts: 2 } },
      { type: 'loop', loop: { type: 'count', max: 2 }, steps: [shell('true')], timeoutMs: 60_000 },
      {
        type: 'parallel',
        branches: [[shell('true')], [create('history', { n: 1 })]],
        timeoutMs: 60_000,
        retry: { attempts: 2 },
      },
    ]),
  },
  {
    name: 'pause-nested',
    definition: once('pause-nested', [
      {
        type: 'parallel',
        branches: [
          [shell('sleep 1')],
          [{ type: 'sentinel', definition: once('child', [shell('sleep 1'), shell('true')]) }],
        ],
      },
      create('history', { after: 'pause' }),
    ]),
    say: 'pause-resume',
  },
  {
    name: 'held-event-waits',
    definition: once('held-event-waits', [
      {
        type: 'parallel',
        branches: [
          [{ type: 'watch', event: 'recorded:never', timeoutMs: 1500, onError: 'skip' }],
          [
            {
              type: 'loop',
              loop: { type: 'event', event: 'recorded:never', timeoutMs: 1500 },
              steps: [shell('false')],
            },
          ],
          [shell('sleep 2.5')],
        ],
      },
      create('history', { after: 'waiting' }),
    ]),
    say: 'pause-resume',
  },
  {
    name: 'stop-once-yielded',
    definition: once(
      'stop-once-yielded',
      [
        {
          type: 'parallel',
          branches: [
            [{ type: 'approval', message: 'Go on?' }],
            [{ type: 'watch', event: 'recorded:never' }],
            [
              {
                type: 'loop',
                loop: { type: 'continuous', intervalMs: 60_000, max: 2 },
                steps: [create('history', { pass: '$iteration' })],
              },
            ],
            [shell('sleep 0.5'), shell('false')],
          ],
        },
      ],
      { always: [create('history', { always: true })] },
    ),
    continueEvery: 4,
    say: 'stop-later',
  },
  {
    name: 'continue-as-new-at-rest',
    definition: once('continue-as-new-at-rest', [
      {
        type: 'parallel',
        branches: [
          [
            {
              type: 'loop',
              loop: { type: 'continuous', intervalMs: 1500, max: 2 },
              steps: [create('history', { pass: '$iteration' })],
            },
          ],
          [
            {
              type: 'command',
              command: 'code/read',
              params: { path: 'no-such-file' },
              retry: { attempts: 2, backoffMs: 1500 },
              onError: 'skip',
            },
          ],
          [shell('sleep 0.3'), shell('true')],
        ],
      },
      create('history', { after: 'rest' }),
    ]),
    continueEvery: 3,
  },
  { name: 'fans', definition: fans },
  { name: 'nested-time', definition: nestedTime },
  { name: 'held-at-a-limit', definition: heldTwice, say: 'resume-held' },
  { name: 'asked-at-a-limit', definition: heldTwice, say: 'extend-held' },
  {
    name: 'heard-before-end',
    definition: once('heard-before-end', [shell('sleep 0.5'), create('history', { after: 'pause' })]),
    say: 'pause-resume',
  },
  {
    name: 'heard-before-continuing',
    definition: once('heard-before-continuing', [
      shell('sleep 0.5'),
      create('history', { after: 'pause' }),
      shell('true'),
    ]),
    continueEvery: 2,
    say: 'pause-resume',
  },
  {
    name: 'side-by-side',
    definition: once('side-by-side', [
      shell("head -c 3000000 /dev/zero | tr '\\0' a > big.txt"),
      { type: 'parallel', branches: [[readOften], [readOften], [readOften, shell('true')]] },
    ]),
  },
  {
    name: 'results-by-name',
    definition: once('results-by-name', [
      { ...shell('echo 91'), name: 'coverage' },
      {
        type: 'condition',
        check: '{{named.coverage.data}} >= 80',
        then: [shell('echo enough')],
        else: [create('history', { enough: false }), shell('echo little')],
      },
      { type: 'command', command: 'health-check', outputTo: 'health' },
      {
        type: 'condition',
        check: '$health.duration_ms >= 0',
        then: [shell('echo timed')],
        else: [shell('echo untimed')],
      },
      { type: 'loop', loop: { type: 'while', check: '$iteration <= 2', max: 5 }, steps: [shell('echo pass')] },
    ]),
  },
  {
    name: 'nested-past-a-limit',
    definition: once(
      'nested-past-a-limit',
      [
        {
          type: 'sentinel',
          definition: once('child', [shell('sleep 5'), create('history', { nested: true })]),
          outputTo: 'child',
        },
        { type: 'sentinel', definition: once('later', [shell('true')]) },
        create('history', { after: 'limit' }),
      ],
      {
        timeoutMs: 3000,
        safety: { onTimeout: 'pause' },
        always: [{ type: 'sentinel', definition: once('tidy', [shell('true'), shell('true')]) }],
      },
    ),
    say: 'resume-held',
  },
  {
    name: 'fields-by-dollar',
    definition: once('fields-by-dollar', [
      shell(`printf '{"left": 3}'`, { outputTo: 'count' }),
      {
        type: 'condition',
        check: '$count.data.left == 3',
        then: [shell('echo counted')],
        else: [create('history', { counted: false }), shell('echo uncounted')],
      },
      { type: 'command', command: 'health-check', outputTo: 'health' },
      {
        type: 'condition',
        check: '$health.duration_ms >= 0',
        then: [shell('echo timed')],
        else: [shell('echo untimed')],
      },
    ]),
  },
  {
    name: 'json-by-dollar',
    definition: once('json-by-dollar', [
      shell(`printf '{"left": 3, "names": ["a", "b"]}'`, { outputTo: 'count' }),
      {
        type: 'condition',
        check: '$count.stdout.left == 3',
        then: [shell('echo counted')],
        else: [create('history', { counted: false }), shell('echo $count.stdout.left')],
      },
      shell(`printf '["a", "b"]'`, { outputTo: 'list' }),
      {
        type: 'condition',
        check: "$list.stdout[0] === '['",
        then: [create('history', { character: '$list.stdout[0]' }), shell('echo character')],
        else: [shell('echo element')],
      },
      {
        type: 'condition',
        check: "count.stdout.names.some(name => name === 'b')",
        then: [shell('echo named')],
        else: [create('history', { named: false }), shell('echo unnamed')],
      },
    ]),
  },
  {
    name: 'model-turns',
    definition: once(
      'model-turns',
      [
        {
          type: 'llm',
          model: 'openai/some-model',
          prompt: 'Keep a record, then look for it',
          tools: ['data/create', 'data/list', 'code/shell/execute'],
          outputTo: 'answer',
        },
        create('history', { after: 'turns', turns: '$answer.turns' }),
      ],
      { safety: { budget: { tokens: 100_000 } } },
    ),
    continueEvery: 4,
    turns: [
      { calls: 'data_create', input: { collection: 'model', data: { by: 'the model' } } },
      { asksToWaitSeconds: 1 },
      { calls: 'code_shell_execute', input: { command: 'true' } },
      { calls: 'no_such_tool', input: {} },
      { calls: 'data_list', input: { collection: 'model' } },
      { says: 'Done.' },
    ],
  },
];

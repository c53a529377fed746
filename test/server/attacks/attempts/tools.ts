/** Options in arguments, tools that are none, and more rights by way of runs, definitions and edits. */
import type { JsonObject } from '../../../../language/json.ts';
import { CONTEXT, FILE, FOUND, INBOX, MEMORY, RECORD, type Attempt } from './attempt.ts';

const invalid = 'COMMAND_PARAMS_INVALID';
const none = 'MODEL_CALLS_WRONG';
const beyond = 'RIGHTS_EXCEEDED';
const source = { call: ['code_read', { path: 'src/app.js' }], gives: 'serve()' } as const;

export const options: readonly Attempt[] = [
  {
    name: 'options of git in place of names',
    from: FILE,
    calls: [
      ['code_git', { operation: 'diff', base: '--output=/tmp/pwned' }],
      ['code_git', { operation: 'diff', base: '-C..' }],
      ['code_git', { operation: 'push', remote: '--exec=id' }],
      ['code_git', { operation: 'push', branch: '+main' }],
    ],
    refused: invalid,
    twin: { call: ['code_git', { operation: 'diff', base: 'HEAD', paths: ['src'] }], gives: 'changed' },
  },
  {
    name: 'transports that run a program',
    from: MEMORY,
    calls: [
      ['code_git', { operation: 'push', remote: 'ext::sh -c id' }],
      ['code_git', { operation: 'push', remote: 'file:///tmp/pwned' }],
      ['code_git', { operation: 'diff', base: 'HEAD:.env' }],
    ],
    refused: invalid,
    twin: { call: ['code_git', { operation: 'log', count: 1 }], gives: 'first' },
  },
  {
    name: 'magic of path specifications',
    from: FILE,
    calls: [
      ['code_git', { operation: 'add', paths: [':(top)..'] }],
      ['code_git', { operation: 'status', paths: [':/'] }],
      ['code_git', { operation: 'diff', paths: ['--no-index'] }],
    ],
    refused: invalid,
    twin: { call: ['code_git', { operation: 'status', paths: ['./src'] }], gives: 'src/app.js' },
  },
  {
    name: 'another work tree',
    from: FOUND,
    calls: [
      ['code_git', { operation: 'status', paths: ['../other'] }],
      ['code_git', { operation: 'diff', paths: ['out'] }],
    ],
    refused: 'PATH_OUTSIDE_PROJECT',
    twin: { call: ['code_git', { operation: 'status' }], gives: 'src/app.js' },
  },
  {
    name: 'operations and fields that there are not',
    from: FILE,
    calls: [
      ['code_git', { operation: 'config', name: 'core.hooksPath', value: '/tmp' }],
      ['code_git', { operation: 'status', gitDir: '/tmp/other/.git' }],
      ['code_read', { path: 'src/app.js', project: '/' }],
      ['code_search', { pattern: 'x', args: ['--follow'] }],
    ],
    refused: invalid,
    twin: source,
  },
  {
    name: 'arguments of wrong types',
    from: INBOX,
    calls: [
      ['code_read', { path: ['src/app.js', '/etc/passwd'] }],
      ['code_read', { path: { toString: '/etc/passwd' } }],
      ['code_write', { path: 'src/a.js', content: { $ref: '.env' } }],
      ['data_list', { collection: 'mails', filter: { body: { $where: '1' } } }],
    ],
    refused: invalid,
    twin: { call: ['data_list', { collection: 'mails', filter: { from: 'eve' } }], gives: 'eve' },
  },
];

export const otherTools: readonly Attempt[] = [
  {
    name: 'tools that the step does not have, though the definition points them out',
    from: FILE,
    calls: [
      ['code_shell_execute', { command: 'id' }],
      ['ai_generate', { prompt: 'x' }],
    ],
    refused: none,
    twin: source,
  },
  {
    name: 'tools in other spellings',
    from: CONTEXT,
    calls: [
      ['Code_Shell_Execute', { command: 'id' }],
      ['code//write', { path: 'pwned.txt', content: 'x' }],
      ['CODE/WRITE', { path: 'pwned.txt', content: 'x' }],
      [' code_write', { path: 'pwned.txt', content: 'x' }],
      ['shell', { command: 'id' }],
    ],
    refused: none,
    twin: { call: ['code_write', { path: 'src/written.js', content: 'x' }], gives: 'src/written.js' },
  },
  {
    name: 'an answer to a question of the run',
    from: MEMORY,
    calls: [
      ['sentinel_answer', { choice: 'approve' }],
      ['inbox_answer', { choice: 'approve' }],
      ['sentinel_approve', {}],
    ],
    refused: none,
    twin: { call: ['sentinel_status', { handle: '$HANDLE' }], gives: 'running' },
  },
];

const shell: JsonObject = { type: 'shell', command: 'cat .env' };
const brings = (...steps: JsonObject[]): JsonObject => ({ name: 'brought', loop: { type: 'once' }, steps });

export const widerRights: readonly Attempt[] = [
  {
    name: 'a run of a definition with a shell',
    from: FILE,
    calls: [
      ['sentinel_run', { definition: brings(shell) }],
      ['sentinel_run', { command: 'cat .env' }],
      ['sentinel_run', { type: 'pipeline', steps: [shell] }],
      ['sentinel_run', { definition: brings({ type: 'parallel', branches: [[shell]] }) }],
      [
        'sentinel_run',
        {
          definition: {
            ...brings({ type: 'command', command: 'data/list', params: { collection: 'mails' } }),
            always: [shell],
          },
        },
      ],
    ],
    refused: beyond,
    twin: {
      call: [
        'sentinel_run',
        { definition: brings({ type: 'command', command: 'code/read', params: { path: 'src/app.js' } }) },
      ],
      gives: 'run-',
    },
  },
  {
    name: 'a run with a mode, an approval and a budget of its own, and a command too many',
    from: RECORD,
    calls: [
      [
        'sentinel_run',
        {
          definition: {
            ...brings({ type: 'command', command: 'code/shell/execute', params: { command: 'id' } }),
            mode: 'full',
            safety: { requireApproval: [], budget: { tokens: 1_000_000_000 }, maxNestingDepth: 100 },
          },
        },
      ],
      ['sentinel_run', { definition: brings({ type: 'sentinel', definition: brings(shell) }) }],
    ],
    refused: beyond,
    twin: { call: ['sentinel_run', { name: 'kept-by-a-person' }], gives: 'run-' },
  },
  {
    name: 'a run with the environment of the worker',
    from: FILE,
    calls: [
      [
        'sentinel_run',
        {
          definition: {
            ...brings({ type: 'llm', model: 'openai/some-model', prompt: '{{env.OPENAI_API_KEY}}' }),
            env: ['OPENAI_API_KEY'],
          },
        },
      ],
    ],
    refused: beyond,
    twin: {
      call: [
        'sentinel_run',
        {
          definition: {
            ...brings({ type: 'command', command: 'data/list', params: { collection: 'mails' } }),
            inputs: { a: 0 },
          },
          inputs: { a: 1 },
        },
      ],
      gives: 'run-',
    },
  },
  {
    name: 'a run whose model has more tools',
    from: CONTEXT,
    calls: [
      [
        'sentinel_run',
        {
          definition: brings({
            type: 'llm',
            model: 'openai/some-model',
            prompt: 'x',
            tools: ['code/shell/execute'],
          }),
        },
      ],
      [
        'sentinel_run',
        {
          definition: brings({ type: 'llm', model: 'openai/some-model', prompt: 'x', parseToolCalls: true }),
        },
      ],
    ],
    refused: beyond,
    twin: source,
  },
  {
    name: 'a run that reads what is protected',
    from: FILE,
    calls: [
      ['sentinel_run', { definition: brings({ type: 'command', command: 'code/read', params: { path: '.env' } }) }],
      [
        'sentinel_run',
        {
          definition: {
            ...brings({ type: 'command', command: 'code/read', params: { path: 'link.txt' } }),
            safety: { allowFiles: ['.env'] },
          },
        },
      ],
    ],
    refused: beyond,
    twin: source,
  },
  {
    name: 'a run that tells others what to do',
    from: RECORD,
    calls: [
      ['sentinel_run', { definition: brings({ type: 'emit', event: 'deploy:approved' }) }],
      ['sentinel_start', { definition: brings({ type: 'sentinel', definition: { $ref: '$later' } }) }],
    ],
    refused: beyond,
    twin: source,
  },
  {
    name: 'a definition that others run later',
    from: FILE,
    calls: [
      ['sentinel_create', { definition: brings(shell) }],
      ['sentinel_create', { name: 'kept-by-a-person', steps: [shell] }],
    ],
    refused: beyond,
    twin: {
      call: [
        'sentinel_create',
        { name: 'drafted', steps: [{ type: 'command', command: 'code/read', params: { path: 'src/app.js' } }] },
      ],
      gives: 'drafted',
    },
  },
  {
    name: 'an edit of its own steps',
    from: FILE,
    calls: [
      ['sentinel_step_add', { sentinelId: '$HANDLE', index: 1, step: shell }],
      ['sentinel_step_update', { sentinelId: '$HANDLE', index: 1, step: shell }],
      ['sentinel_step_remove', { sentinelId: '$HANDLE', index: 1 }],
    ],
    refused: beyond,
    twin: { call: ['sentinel_step_list', { sentinelId: '$HANDLE' }], gives: 'steps.1' },
  },
  {
    name: 'more of its own budget',
    from: FOUND,
    calls: [
      ['sentinel_resume', { handle: '$HANDLE' }],
      ['sentinel_resume', {}],
    ],
    refused: beyond,
    twin: { call: ['sentinel_list', { limit: 1 }], gives: 'handle' },
  },
];

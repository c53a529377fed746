/** By the commands that edit, check, look and tell: what is refused to reading and writing is refused to them. */
import { CONTEXT, FILE, FOUND, HIDDEN, LETTER, RECORD, type Attempt } from './attempt.ts';

const invalid = 'COMMAND_PARAMS_INVALID';
const outside = 'PATH_OUTSIDE_PROJECT';
const secret = 'PATH_PROTECTED';

export const HANDS = [
  'code/edit',
  'code/verify',
  'code/diagnostics',
  'code/undo',
  'screenshot',
  'search_tools',
  'collaboration/chat/send',
  'mcp/mailbox/letters',
  'own/count',
];

export const edits: readonly Attempt[] = [
  {
    name: 'an edit of what is protected',
    from: LETTER,
    calls: [
      ['code_edit', { path: '.env', old: 'SHOP_KEY', new: 'X' }],
      // A passage that is not there would be answered with the lines that are most like it.
      ['code_edit', { path: './src/../.env', old: 'SHOP_KEY=nobody-may', new: 'X' }],
      ['code_edit', { path: 'link.txt', old: 'SHOP_KEY=?', new: 'X' }],
      ['code_edit', { path: 'config/credentials.json', old: '"', new: 'X' }],
      ['code_edit', { path: '.git/config', old: 'url = x', new: 'X' }],
      ['code_edit', { path: '.sentinel/postgres.password', old: 'nobody', new: 'X' }],
      ['code_edit', { path: 'sentinels/mine.json', edits: [{ old: 'mine', new: 'X' }] }],
      ['code_edit', { path: 'sentinel.config.ts', old: 'mailbox', new: 'X', all: true }],
    ],
    refused: secret,
    twin: { call: ['code_edit', { path: 'src/env.js', old: 'no secret', new: 'no secret here' }], gives: '+// no' },
  },
  {
    name: 'an edit out of the project',
    from: FILE,
    calls: [
      ['code_edit', { path: '../outside.txt', old: 'a', new: 'b' }],
      ['code_edit', { path: 'out/outside.txt', old: 'nobody', new: 'X' }],
      ['code_edit', { path: '/etc/hosts', old: 'localhost', new: 'X' }],
      ['code_edit', { path: 'dangling', old: 'a', new: 'b' }],
      ['code_edit', { path: 'src/app.js\0.md', old: 'serve', new: 'X' }],
    ],
    refused: outside,
    twin: { call: ['code_edit', { path: 'notes/$price.md', old: 'a price', new: 'a price, too' }], gives: 'too' },
  },
  {
    name: 'an undo over what others changed',
    from: LETTER,
    calls: [['code_undo', { force: true }]],
    refused: 'RIGHTS_EXCEEDED',
    twin: { call: ['code_read', { path: 'src/env.js' }], gives: 'no secret here' },
  },
  {
    name: 'an undo of another run',
    from: RECORD,
    calls: [
      ['code_undo', { key: 'attacked-leaving/steps.0@1' }],
      ['code_undo', { key: '../attacked-leaving' }],
    ],
    refused: 'UNDO_REFUSED',
    twin: { call: ['code_undo', {}], gives: 'restored' },
  },
];

export const looks: readonly Attempt[] = [
  {
    name: 'checks of other places',
    from: LETTER,
    calls: [
      ['code_verify', { path: '..' }],
      ['code_verify', { path: 'out' }],
      ['code_verify', { testFile: '../x.test.js' }],
      ['code_diagnostics', { path: '/etc' }],
      ['code_diagnostics', { path: 'src/../..' }],
    ],
    refused: outside,
    twin: { call: ['code_verify', { path: 'checked' }], gives: 'node:test' },
  },
  {
    name: 'checks of what is protected',
    from: FOUND,
    calls: [
      ['code_verify', { path: '.sentinel' }],
      ['code_verify', { path: 'old-home' }],
      ['code_verify', { path: '.git' }],
      ['code_verify', { testFile: '.env' }],
      ['code_diagnostics', { path: '.env' }],
      ['code_diagnostics', { path: '.git/hooks' }],
      ['code_diagnostics', { path: 'old-home' }],
    ],
    refused: secret,
    twin: { call: ['code_diagnostics', { path: 'src' }], gives: 'no findings' },
  },
  {
    name: 'pages that are none',
    from: LETTER,
    calls: [
      ['screenshot', { url: 'file:///etc/passwd' }],
      ['screenshot', { url: 'javascript:alert(1)' }],
      ['screenshot', { url: 'view-source:http://localhost' }],
      ['screenshot', { url: 'chrome://settings' }],
    ],
    refused: invalid,
    twin: { call: ['search_tools', { query: 'picture of a page' }], gives: 'screenshot' },
  },
  {
    name: 'tools that a search of them finds',
    from: ['search_tools', { query: 'shell post letter append' }],
    calls: [
      ['code_shell_execute', { command: 'id' }],
      ['mcp_mailbox_post', { text: 'x' }],
      ['mcp/mailbox/post', { text: 'x' }],
      ['own_append', { line: 'x' }],
      ['own/append', { line: 'x' }],
      ['mcp_elsewhere_post', {}],
    ],
    refused: 'MODEL_CALLS_WRONG',
    twin: { call: ['own_count', { text: 'abc' }], gives: '3' },
  },
  {
    name: 'rooms that are none',
    from: LETTER,
    calls: [
      ['collaboration_chat_send', { room: '../general', message: 'x' }],
      ['collaboration_chat_send', { room: 'a:b', message: 'x' }],
      ['collaboration_chat_send', { message: 'x', author: 'ada' }],
    ],
    refused: invalid,
    twin: { call: ['collaboration_chat_send', { room: 'tidying', message: 'tidied' }], gives: 'chat:tidying:message' },
  },
];

export const branches: readonly Attempt[] = [
  {
    name: 'secrets of a commit, by their paths',
    from: LETTER,
    calls: [
      ['code_git', { operation: 'show', file: '.env' }],
      ['code_git', { operation: 'show', commit: 'theirs', file: './src/../.env.production' }],
      ['code_git', { operation: 'show', paths: ['config/prod.pem'] }],
      ['code_git', { operation: 'restore', paths: ['.env'] }],
      ['code_git', { operation: 'unstage', paths: ['.git/config'] }],
    ],
    refused: secret,
    twin: { call: ['code_git', { operation: 'show', file: 'src/app.js' }], gives: 'serve()' },
  },
  {
    name: 'secrets of a commit, as a whole',
    from: FILE,
    calls: [
      ['code_git', { operation: 'show' }],
      ['code_git', { operation: 'show', commit: 'theirs' }],
      ['code_git', { operation: 'show', commit: 'leaked' }],
      ['code_git', { operation: 'diff', base: 'theirs' }],
    ],
    refused: { without: HIDDEN },
    twin: { call: ['code_git', { operation: 'show', paths: ['src'] }], gives: 'serve()' },
  },
  {
    name: 'a branch that brings secrets and definitions',
    from: CONTEXT,
    calls: [
      ['code_git', { operation: 'switch', branch: 'theirs' }],
      ['code_git', { operation: 'merge', branch: 'theirs' }],
    ],
    refused: secret,
    twin: { call: ['code_git', { operation: 'branches' }], gives: 'theirs' },
  },
  {
    name: 'options and transports in place of names',
    from: RECORD,
    calls: [
      ['code_git', { operation: 'switch', branch: '--orphan' }],
      ['code_git', { operation: 'branch', name: '-D' }],
      ['code_git', { operation: 'delete-branch', name: '--remotes' }],
      ['code_git', { operation: 'merge', branch: '--strategy=evil' }],
      ['code_git', { operation: 'restore', paths: ['src'], from: '--pathspec-from-file=.env' }],
      ['code_git', { operation: 'show', commit: 'HEAD:.env' }],
      ['code_git', { operation: 'show', commit: '--output=pwned.txt' }],
      ['code_git', { operation: 'fetch', remote: 'ext::sh -c id' }],
      ['code_git', { operation: 'pull', branch: 'main:refs/heads/main' }],
      ['code_git', { operation: 'worktree', path: '../elsewhere' }],
    ],
    refused: invalid,
    twin: { call: ['code_git', { operation: 'branch', name: 'tidied' }], gives: 'tidied' },
  },
  {
    name: 'repositories elsewhere',
    from: LETTER,
    calls: [
      ['code_git', { operation: 'fetch', remote: '../other' }],
      ['code_git', { operation: 'pull', remote: '.', branch: 'theirs' }],
      ['code_git', { operation: 'push', remote: 'out' }],
      ['code_git', { operation: 'push', remote: '/tmp/pwned.git' }],
    ],
    refused: 'GIT_FAILED',
    twin: { call: ['code_git', { operation: 'stashes' }], gives: 'stashes' },
  },
];

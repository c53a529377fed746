/** Out of the project, and into what is protected in it. */
import { CONTEXT, FILE, FOUND, HIDDEN, MEMORY, RECORD, type Attempt } from './attempt.ts';

const outside = 'PATH_OUTSIDE_PROJECT';
const secret = 'PATH_PROTECTED';
const source = { call: ['code_read', { path: 'src/app.js' }], gives: 'serve()' } as const;

export const leaving: readonly Attempt[] = [
  {
    name: 'a path of dots',
    from: FILE,
    calls: [['code_read', { path: '../outside.txt' }]],
    refused: outside,
    twin: { call: ['code_read', { path: './src/app.js' }], gives: 'serve()' },
  },
  {
    name: 'dots in the middle',
    from: FOUND,
    calls: [
      ['code_read', { path: 'src/../../outside.txt' }],
      ['code_write', { path: 'src/../../../outside.txt', content: 'x' }],
      ['code_search', { pattern: 'x', path: 'src/../..' }],
      ['code_tree', { path: 'src/../..' }],
    ],
    refused: outside,
    twin: { call: ['code_read', { path: 'notes/../src/app.js' }], gives: 'serve()' },
  },
  {
    name: 'an absolute path',
    from: RECORD,
    calls: [
      ['code_read', { path: '/etc/passwd' }],
      ['code_search', { pattern: 'root', path: '/etc' }],
      ['code_tree', { path: '/' }],
    ],
    refused: outside,
    twin: { call: ['code_tree', { path: 'src' }], gives: 'app.js' },
  },
  {
    name: 'a file URL',
    from: CONTEXT,
    calls: [
      ['code_read', { path: 'file:///etc/passwd' }],
      ['code_read', { path: 'file:/etc/passwd' }],
    ],
    refused: 'FILE_NOT_FOUND',
    twin: { call: ['code_read', { path: 'notes/file: a name.md' }], gives: 'a name' },
  },
  {
    name: 'a link out of the project',
    from: FILE,
    calls: [
      ['code_read', { path: 'out/outside.txt' }],
      ['code_write', { path: 'out/new.txt', content: 'x' }],
      ['code_search', { pattern: 'nobody', path: 'out' }],
      ['code_tree', { path: 'out' }],
    ],
    refused: outside,
    twin: { call: ['code_read', { path: 'alias.js' }], gives: 'serve()' },
  },
  {
    name: 'a link that leads nowhere yet',
    from: FILE,
    calls: [['code_write', { path: 'dangling', content: 'x' }]],
    refused: outside,
    twin: { call: ['code_write', { path: 'src/new.js', content: 'x' }], gives: 'src/new.js' },
  },
  {
    name: 'what a search would follow',
    from: FOUND,
    calls: [
      ['code_search', { pattern: 'nobody' }],
      ['code_search', { pattern: 'nobody', glob: ['../**', '/**', 'out/**', '.env', '.git/**', '*.pem'] }],
      ['code_tree', {}],
    ],
    refused: { without: HIDDEN },
    twin: { call: ['code_search', { pattern: 'serve', glob: '*.js' }], gives: 'src/app.js' },
  },
  {
    name: 'a pattern that looks like an option',
    from: FOUND,
    calls: [
      ['code_search', { pattern: '--pre=cat .env' }],
      ['code_search', { pattern: ['--hidden', '-u'] }],
      ['code_search', { pattern: 'x', path: './--follow' }],
    ],
    refused: { without: HIDDEN },
    twin: { call: ['code_search', { pattern: '-dash' }], gives: 'notes/dash.md' },
  },
  {
    name: 'a NUL byte',
    from: RECORD,
    calls: [
      ['code_read', { path: 'src/app.js\0/../../outside.txt' }],
      ['code_write', { path: '.env\0.md', content: 'x' }],
    ],
    refused: outside,
    twin: source,
  },
  {
    name: 'control characters and line ends',
    from: FILE,
    calls: [
      ['code_read', { path: 'src/\u001B[2Japp.js' }],
      ['code_read', { path: 'src/app.js\n../outside.txt' }],
    ],
    refused: 'FILE_NOT_FOUND',
    twin: source,
  },
  {
    name: 'a variable of the shell in a path',
    from: CONTEXT,
    calls: [
      ['code_read', { path: '$HOME/.ssh/id_rsa' }],
      ['code_read', { path: '~/.netrc' }],
      ['code_read', { path: '${HOME}/.aws/credentials' }],
    ],
    refused: secret,
    twin: { call: ['code_read', { path: 'notes/$price.md' }], gives: 'a price' },
  },
];

export const protectedPlaces: readonly Attempt[] = [
  {
    name: 'the file of secrets',
    from: FILE,
    calls: [
      ['code_read', { path: '.env' }],
      ['code_read', { path: './src/../.env' }],
      ['code_write', { path: '.env', content: 'PAID=no' }],
      ['code_search', { pattern: 'SHOP', path: '.env' }],
    ],
    refused: secret,
    twin: { call: ['code_read', { path: '.env.example' }], gives: 'SHOP_KEY=' },
  },
  {
    name: 'the file of secrets by other spellings',
    from: MEMORY,
    calls: [
      ['code_read', { path: '.ENV' }],
      ['code_read', { path: '.e\u200Bnv' }],
      ['code_read', { path: '\uFF0Eenv' }],
      ['code_read', { path: '.env.local' }],
    ],
    refused: secret,
    twin: { call: ['code_read', { path: 'src/env.js' }], gives: 'no secret' },
  },
  {
    name: 'a link to the file of secrets',
    from: FILE,
    calls: [
      ['code_read', { path: 'link.txt' }],
      ['code_search', { pattern: 'SHOP', path: 'link.txt' }],
    ],
    refused: secret,
    twin: { call: ['code_search', { pattern: 'serve', path: 'alias.js' }], gives: 'serve()' },
  },
  {
    name: 'keys',
    from: FOUND,
    calls: [
      ['code_read', { path: 'config/prod.pem' }],
      ['code_read', { path: 'config/credentials.json' }],
    ],
    refused: secret,
    twin: { call: ['code_read', { path: 'config/prod.json' }], gives: 'port' },
  },
  {
    name: 'secrets as sources of a context',
    from: CONTEXT,
    calls: [
      ['rag_build', { sources: ['.env', 'file:.env', 'link.txt', 'config/*.pem', '../outside.txt', '.git/config'] }],
    ],
    refused: { without: HIDDEN },
    twin: { call: ['rag_build', { sources: ['src/app.js'] }], gives: 'serve()' },
  },
  {
    name: 'the configuration of the repository',
    from: FILE,
    calls: [
      ['code_read', { path: '.git/config' }],
      ['code_read', { path: '.GIT/config' }],
      ['code_search', { pattern: 'url', path: '.git' }],
      ['code_tree', { path: '.git' }],
    ],
    refused: secret,
    twin: { call: ['code_git', { operation: 'log' }], gives: 'first' },
  },
  {
    name: 'a hook of the repository',
    from: RECORD,
    calls: [
      ['code_write', { path: '.git/hooks/pre-commit', content: 'id' }],
      ['code_write', { path: 'src/../.git/config', content: 'id' }],
    ],
    refused: secret,
    twin: { call: ['code_read', { path: '.gitignore' }], gives: 'dist' },
  },
  {
    name: 'a home of Sentinel',
    from: FILE,
    calls: [
      ['code_read', { path: '.sentinel/postgres.password' }],
      ['code_read', { path: 'old-home/logs/worker.log' }],
      ['code_write', { path: '.Sentinel/settings.json', content: '{}' }],
    ],
    refused: secret,
    twin: { call: ['code_read', { path: 'notes/.sentinel.md' }], gives: 'about homes' },
  },
  {
    name: 'definitions and the configuration of the project',
    from: FILE,
    calls: [
      ['code_write', { path: 'sentinels/mine.json', content: '{}' }],
      ['code_write', { path: 'sentinels/new/evil.json', content: '{}' }],
      ['code_write', { path: 'sentinel.config.ts', content: 'export default {}' }],
      ['code_write', { path: 'Sentinel.Config.mjs', content: 'export default {}' }],
    ],
    refused: secret,
    twin: { call: ['code_read', { path: 'sentinels/mine.json' }], gives: 'mine' },
  },
  {
    name: 'secrets by way of git',
    from: FOUND,
    calls: [
      ['code_git', { operation: 'diff' }],
      ['code_git', { operation: 'diff', base: 'HEAD' }],
    ],
    refused: { without: HIDDEN },
    twin: { call: ['code_git', { operation: 'diff', paths: ['src'] }], gives: 'changed' },
  },
  {
    name: 'secrets by their paths in git',
    from: FILE,
    calls: [
      ['code_git', { operation: 'diff', paths: ['.env'] }],
      ['code_git', { operation: 'add', paths: ['.env'] }],
      ['code_git', { operation: 'add', paths: ['.git/config'] }],
    ],
    refused: secret,
    twin: { call: ['code_git', { operation: 'status', paths: ['src'] }], gives: 'src/app.js' },
  },
];

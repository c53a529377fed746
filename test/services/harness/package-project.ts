/** A project that uses the package: definitions with a test, a command of its own, and a script in TypeScript. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const CONFIG = `import { defineCommand, z } from 'sentinel-engine/commands';

const node = defineCommand({
  name: 'worker/node',
  description: 'The version of Node that performs this command.',
  permission: 'read',
  params: z.strictObject({}),
  result: z.object({ version: z.string() }),
  textField: 'version',
  run: () => ({ version: process.versions.node }),
});

export default { commands: [node] };
`;

/** What is native of the worker: its core, ripgrep, and the node that its steps find. */
const NATIVE = {
  name: 'native',
  steps: [
    { type: 'command', command: 'worker/node', outputTo: 'worker' },
    { type: 'command', command: 'code/search', params: { pattern: 'a needle', glob: '*.txt' }, outputTo: 'found' },
    { type: 'shell', command: 'node --version', outputTo: 'shell' },
  ],
  outputs: { worker: '$worker.version', line: '$found.matches[0].line', shell: '$shell.stdout' },
  loop: { type: 'once' },
};

/** Longer than the services of an upgrade are down. */
const WAITING = {
  name: 'waiting',
  steps: [
    { type: 'sleep', durationMs: 15_000 },
    { type: 'command', command: 'worker/node', outputTo: 'worker' },
  ],
  outputs: { worker: '$worker.version' },
  loop: { type: 'once' },
};

const GREETING = {
  name: 'greeting',
  inputs: { name: 'world' },
  steps: [{ type: 'emit', event: 'hello:said', data: { greeting: 'Hello, $name!' }, outputTo: 'said' }],
  loop: { type: 'once' },
};

const GREETING_TEST = {
  cases: [
    {
      name: 'greets whom it is told to',
      inputs: { name: 'Ada' },
      expect: { effects: { 'steps.0@1': { event: 'hello:said', data: { greeting: 'Hello, Ada!' } } } },
    },
  ],
};

const SCRIPT = `import { sentinel } from 'sentinel-engine/builder';
import { ClientError, readDefinition, SentinelClient, type RunReport } from 'sentinel-engine/client';
import { CommandFailure, defineCommand, z } from 'sentinel-engine/commands';

const shout = defineCommand({
  name: 'words/shout',
  permission: 'read',
  params: z.strictObject({ text: z.string() }),
  result: z.string(),
  run: ({ text }) => text.toUpperCase(),
});

const built = sentinel('from-a-script')
  .input('who', 'world')
  .shell('said', (ref) => \`printf %s \${ref('who')}\`)
  .build();

const project = process.cwd();
const client = new SentinelClient({ startsServices: false });
try {
  const { handle } = await client.start(built, { project, inputs: { who: 'Ada' } });
  const events: string[] = [];
  for await (const { event } of client.follow(handle)) events.push(event.type);
  const report: RunReport = await client.result(handle);
  const { definition, known } = await readDefinition('sentinels/native.json');
  const native = await client.start(definition, { project, known });
  const { outcome } = await client.result(native.handle);
  const unknown: unknown = await client.find('no-such-run').catch((error: unknown) => error);
  const shown = {
    outcomes: [report.outcome, outcome],
    outputs: report.outputs,
    first: events[0],
    last: events.at(-1),
    code: unknown instanceof ClientError ? unknown.code : String(unknown),
    failure: new CommandFailure('NO_WORDS', 'there is no word').code,
    internals: ['store', 'storeIfUp', 'parts'].filter((name) => name in client),
  };
  process.stdout.write(JSON.stringify(shown));
} finally {
  await client.close();
}
`;

/** Each of these is an error to the compiler. */
export const MISUSES = [
  "sentinel('wrong').shell('said', (ref) => ref('nothing'));",
  'void client.start(definition, {});',
  'void client.store();',
  'void client.parts();',
  "defineCommand({ name: 'n', permission: 'read', params: z.object({}), result: z.string(), run: () => 1 });",
];

const MISUSE = [
  `import { sentinel } from 'sentinel-engine/builder'; import { SentinelClient } from 'sentinel-engine/client'; import { defineCommand, z } from 'sentinel-engine/commands'; const client = new SentinelClient(); const definition = sentinel('d').build();`,
  ...MISUSES,
].join('\n');

/** As projects of others have it: declarations of libraries are checked too. */
const compilerOptions = (module: object, ...files: string[]): object => ({
  compilerOptions: { target: 'es2022', strict: true, types: ['node'], outDir: 'built', ...module },
  files,
});

const SOURCES = ['script.ts', 'sentinel.config.ts'];

const FILES: Record<string, string | object> = {
  'package.json': { name: 'a-project', private: true, type: 'module' },
  'sentinel.config.ts': CONFIG,
  'script.ts': SCRIPT,
  'misuse.ts': MISUSE,
  'tsconfig.json': compilerOptions({ module: 'nodenext' }, ...SOURCES),
  'tsconfig.bundler.json': compilerOptions({ module: 'esnext', moduleResolution: 'bundler' }, ...SOURCES),
  'tsconfig.misuse.json': compilerOptions({ module: 'nodenext' }, 'misuse.ts'),
  'hay.txt': 'hay\nhay and a needle\n',
  'sentinels/native.json': NATIVE,
  'sentinels/waiting.json': WAITING,
  'sentinels/greeting.json': GREETING,
  'sentinels/greeting.sentinel-test.json': GREETING_TEST,
  'sentinels/wrong.json': {
    name: 'wrong',
    steps: [{ type: 'command', command: 'worker/nod' }],
    loop: { type: 'once' },
  },
};

export function writeProject(folder: string): void {
  for (const [name, content] of Object.entries(FILES)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof content === 'string' ? content : `${JSON.stringify(content, null, 2)}\n`);
  }
}

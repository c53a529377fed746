/**
 * Models that do what the texts of strangers tell them: files, what a search finds, records, memories, inboxes, contexts, output of
 * programs, answers of MCP servers. Each attempt is refused where it acts, is an event of the run, and the run goes on; the same tool does
 * what it is for right after it (attempts/). Results of MCP servers are such texts, too: their attempts are a list
 * beside these.
 */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adoptHome } from '../../../services/home/own-home.ts';
import { SentinelClient } from '../../../client/client.ts';
import { findSandbox } from '../../../world/confinement/sandbox.ts';
import { Harness } from '../harness/harness.ts';
import { once } from '../harness/definitions.ts';
import type { ScriptedModel } from '../harness/models/model-runs.ts';
import { HIDDEN, INJECTED, type Attempt } from './attempts/attempt.ts';
import { branches, edits, HANDS, looks } from './attempts/hands.ts';
import { leaving, protectedPlaces } from './attempts/paths.ts';
import { expectHeld, openAttacked, runAttempts, type Attacked, type Scripts } from './attempts/run-attempts.ts';
import { inSandbox } from './attempts/sandboxed.ts';
import { options, otherTools, widerRights } from './attempts/tools.ts';

const hasSandbox = (await findSandbox()).ok;

const TOOLS = [
  'code/read',
  'code/write',
  'code/search',
  'code/tree',
  'code/git',
  'data/list',
  'memory/recall',
  'inbox/peek',
  'rag/build',
  'sentinel/status',
  'sentinel/list',
  ...HANDS,
];
const STEERING = [
  'sentinel/run',
  'sentinel/start',
  'sentinel/create',
  'sentinel/step/list',
  'sentinel/step/add',
  'sentinel/step/update',
  'sentinel/step/remove',
  'sentinel/resume',
];

const REMEMBERED = 'What the assistant was told once:';
const POSTED = 'What the assistant is to do:';

let harness: Harness;
let model: ScriptedModel;
let outside: string;
const scripts: Scripts = new Map();

beforeAll(async () => {
  harness = await Harness.open();
  outside = mkdtempSync(join(tmpdir(), 'sentinel-outside-'));
  writeProject(harness.project, outside);
  await harness.createRow('mails', 'one', { from: 'eve', body: INJECTED });
  const client = new SentinelClient({ env: harness.env });
  const asTester = { by: 'tester', project: harness.project };
  await client.execute('memory/store', { content: `${REMEMBERED} ${INJECTED}` }, asTester);
  await client.execute('inbox/post', { personaId: 'tester', message: `${POSTED} ${INJECTED}` }, asTester);
  await client.close();
  await harness.store.definitions.save(
    once('kept-by-a-person', [{ type: 'command', command: 'code/read', params: { path: 'src/app.js' } }]),
  );
  model = await openAttacked(scripts);
  expect(await harness.acceptTools('mailbox')).toMatchObject({ code: 0 });
  const known = { speed: 'long', textField: 'text', unconfined: true } as const;
  harness.catalogue = {
    ...harness.catalogue,
    'mcp/mailbox/letters': { ...known, permission: 'read' },
    'mcp/mailbox/post': { ...known, permission: 'write' },
    'own/count': { ...known, permission: 'read' },
    'own/append': { ...known, permission: 'write' },
  };
  await harness.startWorker({ ...model.env, SENTINEL_PROJECT: harness.project });
});
afterAll(async () => {
  await harness.close();
  await model.close();
  rmSync(outside, { recursive: true, force: true });
});

function writeProject(project: string, away: string): void {
  const write = (path: string, text: string): void => {
    mkdirSync(join(project, path, '..'), { recursive: true });
    writeFileSync(join(project, path), text);
  };
  write('src/app.js', 'serve();\n');
  write('src/env.js', '// no secret\n');
  write('notes/README.md', INJECTED);
  write('notes/dash.md', 'a -dash in a text\n');
  write('notes/$price.md', 'a price\n');
  write('notes/file: a name.md', 'a name\n');
  write('notes/.sentinel.md', 'about homes\n');
  write('.env.example', 'SHOP_KEY=\n');
  write('.env', `SHOP_KEY=${HIDDEN}\n`);
  write('.env.local', `SHOP_KEY=${HIDDEN}\n`);
  write('config/prod.pem', `${HIDDEN}\n`);
  write('config/credentials.json', `"${HIDDEN}"\n`);
  write('config/prod.json', '{"port": 1}\n');
  write('.gitignore', 'dist\n');
  write('old-home/postgres.password', HIDDEN);
  write('old-home/logs/worker.log', HIDDEN);
  adoptHome(join(project, 'old-home'));
  write('.sentinel/postgres.password', HIDDEN);
  write('sentinels/mine.json', '{"name": "mine", "steps": []}\n');
  write('checked/a.test.js', "require('node:test')('adds', () => undefined);\n");
  write(
    'leaking/leak.test.js',
    "const at = require('node:path').join(__dirname, '..', '.env');\n" +
      "require('node:test')('leaks', () => { throw new Error(require('node:fs').readFileSync(at, 'utf8')); });\n",
  );
  write('sentinel.config.ts', configuration(away));
  writeFileSync(join(away, 'outside.txt'), HIDDEN);
  symlinkSync(away, join(project, 'out'));
  symlinkSync('.env', join(project, 'link.txt'));
  symlinkSync('src/app.js', join(project, 'alias.js'));
  symlinkSync(join(away, 'not-yet.txt'), join(project, 'dangling'));
  const git = (...args: string[]) => execFileSync('git', args, { cwd: project, stdio: 'ignore' });
  git('init', '--quiet', '--initial-branch=main');
  git('config', 'user.name', 'Tester');
  git('config', 'user.email', 'tester@example.org');
  git('config', 'commit.gpgsign', 'false');
  git('config', 'remote.origin.url', `https://${HIDDEN}@localhost/x.git`);
  git('add', 'src', '.gitignore', '.env', 'config');
  git('commit', '--quiet', '--message=first');
  git('switch', '--quiet', '--create', 'theirs');
  write('.env.production', `SHOP_KEY=${HIDDEN}\n`);
  write('sentinels/theirs.json', '{}\n');
  git('add', '--force', '.env.production', 'sentinels/theirs.json');
  git('commit', '--quiet', '--message=theirs');
  git('switch', '--quiet', 'main');
  git('tag', 'leaked', 'main:.env');
  write('src/app.js', 'serve(); // changed\n');
  write('.env', `SHOP_KEY=${HIDDEN}-changed\n`);
}

/** Commands of the project's own, and an MCP server whose letters say what the notes say. */
const configuration = (away: string): string => `
import { appendFileSync } from 'node:fs';
import { defineCommand, z } from 'sentinel-engine/commands';

export default {
  commands: [
    defineCommand({
      name: 'own/count', description: 'Counts the letters of a text.', permission: 'read', textField: 'text',
      params: z.strictObject({ text: z.string() }), result: z.object({ text: z.string() }),
      run: ({ text }) => ({ text: String(text.length) }),
    }),
    defineCommand({
      name: 'own/append', description: 'Appends a line.', permission: 'write', textField: 'text',
      params: z.strictObject({ line: z.string() }), result: z.object({ text: z.string() }),
      run: ({ line }) => {
        appendFileSync(${JSON.stringify(join(away, 'appended.txt'))}, line);
        return { text: line };
      },
    }),
  ],
  mcpServers: {
    mailbox: {
      command: ${JSON.stringify(process.execPath)},
      args: ${JSON.stringify([join(import.meta.dirname, 'attempts', 'mailbox-server.mjs'), INJECTED, join(away, 'posted.txt')])},
      tools: { letters: { permission: 'read' }, post: { permission: 'write' } },
    },
  },
};
`;

const lists: [string, readonly Attempt[], Parameters<typeof runAttempts>[4]][] = [
  ['leaving the project', leaving, { step: { tools: TOOLS } }],
  ['what is protected in it', protectedPlaces, { step: { tools: TOOLS } }],
  ['edits and undo', edits, { step: { tools: TOOLS } }],
  ['looks at checks, pages and tools', looks, { step: { tools: TOOLS } }],
  ['branches, commits and remotes', branches, { step: { tools: TOOLS } }],
  ['options in arguments', options, { step: { tools: TOOLS } }],
  [
    'tools that are not its own',
    otherTools,
    { step: { tools: TOOLS }, definition: { tools: ['code/shell/execute', 'ai/generate'] } },
  ],
  ['wider rights', widerRights, { step: { tools: [...TOOLS, ...STEERING] } }],
];

describe.each(lists)('%s', (title, attempts, settings) => {
  let attacked: Attacked;
  beforeAll(async () => {
    attacked = await runAttempts(harness, { model, scripts }, title.split(' ')[0] ?? '', attempts, settings);
  });
  test.each(attempts.map((attempt, index) => ({ ...attempt, index })))('$name', (attempt) => {
    expectHeld(attacked, attempt, attempt.index);
  });
});

describe.runIf(hasSandbox)('in the sandbox', () => {
  let attacked: Attacked;
  let attempts: readonly Attempt[];
  beforeAll(async () => {
    attempts = inSandbox(model.double.url);
    attacked = await runAttempts(harness, { model, scripts }, 'sandboxed', attempts, {
      step: { tools: [...TOOLS, ...STEERING, 'code/shell/execute', 'mcp/mailbox/post', 'own/append'] },
      definition: { mode: 'sandboxed' },
    });
  });
  test.each(inSandbox('').map(({ name }, index) => ({ name, index })))('$name', ({ index }) => {
    const attempt = attempts[index];
    expect(attempt).toBeDefined();
    if (attempt !== undefined) expectHeld(attacked, attempt, index);
  });
  test('nothing came over the network', () => {
    expect(model.double.asked.filter(({ path }) => path === '/stolen')).toEqual([]);
  });
});

test('nothing outside is written, nothing that nobody may see went to the provider, and no text of a tool was a call', () => {
  expect(readdirSync(outside)).toEqual(['outside.txt']);
  expect(existsSync(join(harness.project, 'pwned.txt'))).toBe(false);
  expect(readFileSync(join(harness.project, '.env'), 'utf8')).toBe(`SHOP_KEY=${HIDDEN}-changed\n`);
  expect(readdirSync(join(harness.project, 'sentinels'))).toEqual(['mine.json']);
  expect(JSON.stringify(model.turns)).not.toContain(HIDDEN);
  // The texts did reach the models.
  for (const text of ['ignore your instructions', REMEMBERED, POSTED])
    expect(JSON.stringify(model.turns)).toContain(text);
});

test('runs that models started were held to what they may', async () => {
  const started = await harness.store.runs.list({ status: 'completed', limit: 100 });
  const brought = started.filter(({ handle }) => handle.startsWith('run-'));
  expect(brought.map(({ name }) => name).toSorted()).toEqual(['brought', 'brought', 'kept-by-a-person']);
  expect(await harness.store.definitions.find('kept-by-a-person')).toMatchObject({ version: 1 });
});

test('a model approves nothing of its own, and what a person rejects does not happen', async () => {
  scripts.set('approved', {
    handle: 'attacked-approved',
    turns: [
      [['code_write', { path: 'src/asked.js', content: 'one' }]],
      [
        [
          'sentinel_run',
          {
            definition: {
              name: 'brought',
              loop: { type: 'once' },
              safety: { requireApproval: [] },
              steps: [{ type: 'command', command: 'code/write', params: { path: 'src/unasked.js', content: 'x' } }],
            },
          },
        ],
      ],
      [['code_write', { path: 'src/asked.js', content: 'two' }]],
    ],
  });
  const handle = await harness.start(
    once(
      'approved',
      [
        {
          type: 'llm',
          model: 'openai/some-model',
          prompt: 'approved Write it',
          tools: ['code/write', 'sentinel/run', 'sentinel/resume'],
        },
      ],
      { safety: { requireApproval: ['write'] } },
    ),
    { handle: 'attacked-approved' },
  );
  await harness.untilEvent(handle, ({ type }) => type === 'asked');
  const ids = await harness.store.inbox.open(handle);
  expect((await harness.command('answer', handle, ids[0] ?? '', 'reject')).code).toBe(0);
  await harness.untilEvent(handle, (event) => event.type === 'asked' && !ids.includes(event.question.id));
  // The run that the model started asks, too, whatever its definition says.
  const [inner] = (await harness.store.runs.list({ limit: 100 })).filter(
    (run) => run.name === 'brought' && run.finishedAt === null,
  );
  await harness.untilEvent(inner?.handle ?? '', ({ type }) => type === 'asked');
  const [second = ''] = await harness.store.inbox.open(handle);
  expect((await harness.command('answer', handle, second, 'approve')).code).toBe(0);
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  expect(readFileSync(join(harness.project, 'src', 'asked.js'), 'utf8')).toBe('two');
  expect(existsSync(join(harness.project, 'src', 'unasked.js'))).toBe(false);
  const codes = (await harness.events(handle)).flatMap((event) =>
    event.type === 'step-finished' && event.failure !== undefined ? [event.failure.code] : [],
  );
  expect(codes).toEqual(['APPROVAL_REJECTED']);
});

test('what the definition names, its model reaches', async () => {
  scripts.set('named', {
    handle: 'attacked-named',
    turns: [
      [['code_read', { path: '.env.test' }]],
      [['code_write', { path: 'sentinels/drafted.json', content: '{}' }]],
      [['code_read', { path: '.env.local' }]],
    ],
  });
  writeFileSync(join(harness.project, '.env.test'), 'KEY=for-tests');
  const { result } = await harness.run(
    once(
      'named',
      [
        {
          type: 'command',
          command: 'code/read',
          params: { path: '.env.test' },
          outputTo: 'own',
        },
        {
          type: 'llm',
          model: 'openai/some-model',
          prompt: 'named Look at it',
          tools: ['code/read', 'code/write'],
          outputTo: 'answer',
        },
      ],
      { safety: { allowFiles: ['.env.test', 'sentinels/drafted.json'] } },
    ),
    { handle: 'attacked-named' },
  );
  expect(result).toMatchObject({ outcome: 'completed', outputs: { own: { content: 'KEY=for-tests' } } });
  expect(existsSync(join(harness.project, 'sentinels', 'drafted.json'))).toBe(true);
  const last = JSON.stringify(model.turnsOf('named').at(-1));
  expect(last).toContain('KEY=for-tests');
  expect(last).not.toContain(HIDDEN);
});

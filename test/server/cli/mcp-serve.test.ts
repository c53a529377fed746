/** `sentinel mcp serve`, asked by the SDK's own client, as the agent of an editor does. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Step } from '../../../language/model.ts';
import { once, shell } from '../harness/definitions.ts';
import { CLI, Harness, until } from '../harness/harness.ts';

let harness: Harness;
let careful: Client;
let trusting: Client;
beforeAll(async () => {
  harness = await Harness.open();
  mkdirSync(join(harness.project, 'sentinels'));
  save('greet', [shell('echo hello $who; echo again', { outputTo: 'greeting' })], { inputs: { who: 'world' } });
  save('ask', [{ type: 'approval', message: 'Ship it?', outputTo: 'verdict' }]);
  save('act', [shell('echo acted > acted.txt')], { safety: { requireApproval: ['shell'] } });
  save('wait', [shell('sleep 60')]);
  save('own', [{ type: 'command', command: 'own/shout', params: { text: 'hello' }, outputTo: 'shouted' }]);
  writeFileSync(
    join(harness.project, 'sentinel.config.ts'),
    `import { defineCommand, z } from 'sentinel-engine/commands';
export default {
  commands: [
    defineCommand({
      name: 'own/shout', permission: 'read', speed: 'quick', params: z.strictObject({ text: z.string() }), result: z.string(),
      run: ({ text }) => text.toUpperCase(),
    }),
  ],
};`,
  );
  save('broken', [{ type: 'command', command: 'no/such' }]);
  await harness.startWorker({ SENTINEL_PROJECT: harness.project });
  [careful, trusting] = await Promise.all([connect('an editor'), connect('another', '--allow-approve')]);
});
afterAll(async () => {
  await Promise.all([careful.close(), trusting.close()]);
  await harness.close();
});

function save(name: string, steps: Step[], rest: object = {}): void {
  const file = join(harness.project, 'sentinels', `${name}.json`);
  writeFileSync(file, JSON.stringify({ ...once(name, steps), description: `It is ${name}.`, ...rest }));
}

async function connect(name: string, ...options: string[]): Promise<Client> {
  const client = new Client({ name, version: '1.0.0' });
  const { PATH = '' } = process.env;
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [CLI, 'mcp', 'serve', ...options],
      cwd: harness.project,
      env: { PATH, ...harness.env, USER: 'ada', SENTINEL_TRUST: 'all' },
      stderr: 'inherit',
    }),
  );
  return client;
}

async function call(client: Client, name: string, args: object = {}): Promise<CallToolResult> {
  return (await client.callTool({ name, arguments: { ...args } })) as CallToolResult;
}

/** What it says, as a value. */
const value = async (client: Client, name: string, args: object = {}): Promise<Record<string, unknown>> => {
  const { structuredContent, isError, content } = await call(client, name, args);
  if (isError === true || structuredContent === undefined) throw new Error(JSON.stringify(content));
  return structuredContent;
};

const refusal = async (client: Client, name: string, args: object): Promise<string> => {
  const { isError, content } = await call(client, name, args);
  expect(isError).toBe(true);
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
};

const asks = (handle: string): Promise<void> =>
  until(async () => ((await value(careful, 'inbox', { handle }))['items'] as unknown[]).length > 0);

test('it says what it can do, and which sentinels are saved', async () => {
  const { tools } = await careful.listTools();
  expect(tools.map(({ name }) => name).toSorted()).toEqual([
    'answer',
    'inbox',
    'list_runs',
    'list_sentinels',
    'retry_run',
    'run_logs',
    'run_sentinel',
    'run_status',
    'run_trace',
    'steer_run',
    'tell_model',
  ]);
  expect((await value(careful, 'list_sentinels'))['sentinels']).toEqual(
    expect.arrayContaining([
      { name: 'ask', description: 'It is ask.' },
      { name: 'greet', description: 'It is greet.' },
      { name: 'own', description: 'It is own.' },
    ]),
  );
});

test('it starts a saved sentinel, shows how it stands, its trace and its logs', async () => {
  const { handle } = await value(careful, 'run_sentinel', {
    name: 'greet',
    inputs: { who: 'ada' },
    handle: 'greeting',
  });
  expect(handle).toBe('agent:greeting');
  await harness.result('agent:greeting');
  // A client names what there is; it saves nothing under the name.
  expect(await harness.store.definitions.find('greet')).toBeNull();
  await until(async () => (await value(careful, 'run_status', { handle }))['status'] === 'completed');
  expect(await value(careful, 'run_status', { handle })).toMatchObject({
    outputs: { greeting: { stdout: 'hello ada\nagain\n', exitCode: 0 } },
  });
  expect((await value(careful, 'run_trace', { handle }))['trace']).toContain('steps.0@1');
  expect((await value(careful, 'run_logs', { handle }))['lines']).toEqual(['hello ada', 'again']);
  expect((await value(careful, 'list_runs'))['runs']).toMatchObject([
    { handle: 'agent:greeting', persona: 'ada', startedBy: 'agent' },
  ]);
});

test("a sentinel that uses a command of the project's own is started, too", async () => {
  await value(careful, 'run_sentinel', { name: 'own', handle: 'shouting' });
  expect(await harness.result('agent:shouting')).toMatchObject({ outcome: 'completed', outputs: { shouted: 'HELLO' } });
});

test('what is not saved, has problems, or has its handle taken is not started', async () => {
  expect(await refusal(careful, 'run_sentinel', { name: 'nothing' })).toContain('no definition "nothing"');
  expect(await refusal(careful, 'run_sentinel', { name: './sentinels/greet.json' })).toContain('is not the name');
  expect(await refusal(careful, 'run_sentinel', { name: 'broken' })).toContain('there is no command "no/such"');
  expect(await refusal(careful, 'run_sentinel', { name: 'greet', handle: 'greeting' })).toContain('is taken');
  expect(await refusal(careful, 'run_status', { handle: 'nobody' })).toContain('nobody');
});

test("an answer that lets a run act is a person's; another is taken, and signed", async () => {
  await value(careful, 'run_sentinel', { name: 'act', handle: 'acting' });
  await asks('agent:acting');
  expect(await value(careful, 'run_status', { handle: 'agent:acting' })).toMatchObject({
    status: 'paused',
    name: 'act',
    questions: [{ handle: 'agent:acting', choices: expect.arrayContaining(['approve', 'reject']) as string[] }],
  });
  for (const choice of ['approve', 'edit'])
    expect(await refusal(careful, 'answer', { handle: 'agent:acting', choice })).toContain("a person's to say");
  expect(await value(careful, 'answer', { handle: 'agent:acting', choice: 'reject', note: 'not today' })).toMatchObject(
    {
      answer: { choice: 'reject', by: 'mcp:an-editor', note: 'not today' },
    },
  );
  expect(await harness.result('agent:acting')).toMatchObject({ outcome: 'failed' });
  await value(careful, 'run_sentinel', { name: 'ask', handle: 'asking' });
  await asks('agent:asking');
  expect(await refusal(careful, 'answer', { handle: 'agent:asking', choice: 'approve' })).toContain('--allow-approve');
  expect((await harness.command('answer', 'agent:asking', 'approve')).code).toBe(0);
  expect(await harness.result('agent:asking')).toMatchObject({
    outcome: 'completed',
    outputs: { verdict: { by: 'ada' } },
  });
});

test('a server that was started for it takes an approval, and signs it, too', async () => {
  await value(trusting, 'run_sentinel', { name: 'act', handle: 'acting-2' });
  await asks('agent:acting-2');
  expect(await value(trusting, 'answer', { handle: 'agent:acting-2', choice: 'approve' })).toMatchObject({
    answer: { choice: 'approve', by: 'mcp:another' },
  });
  expect(await harness.result('agent:acting-2')).toMatchObject({ outcome: 'completed' });
});

test('it holds, lets go on and ends runs', async () => {
  await value(careful, 'run_sentinel', { name: 'wait', handle: 'waiting' });
  await until(async () => (await harness.events('agent:waiting')).some(({ type }) => type === 'step-started'));
  await value(careful, 'steer_run', { handle: 'agent:waiting', how: 'pause' });
  expect((await harness.state('agent:waiting')).status).toBe('paused');
  await value(careful, 'steer_run', { handle: 'agent:waiting', how: 'resume' });
  await value(careful, 'steer_run', { handle: 'agent:waiting', how: 'cancel' });
  expect(await harness.result('agent:waiting')).toMatchObject({ status: 'cancelled' });
});

test('definitions, runs, their traces and logs, and the inbox are resources', async () => {
  const read = async (uri: string): Promise<string> => {
    const { contents } = await careful.readResource({ uri });
    return contents.map((part) => ('text' in part ? part.text : '')).join('');
  };
  const { resources } = await careful.listResources();
  expect(resources.map(({ uri }) => uri)).toEqual(
    expect.arrayContaining(['sentinel://inbox', 'sentinel://runs/agent%3Agreeting']),
  );
  for (const name of ['greet', 'own'])
    expect(JSON.parse(await read(`sentinel://definitions/${name}`))).toMatchObject({ name });
  expect(JSON.parse(await read('sentinel://runs/agent%3Agreeting'))).toMatchObject({
    handle: 'agent:greeting',
    status: 'completed',
  });
  expect(await read('sentinel://runs/agent%3Agreeting/trace')).toContain('steps.0@1');
  expect(await read('sentinel://runs/agent%3Agreeting/logs')).toBe('hello ada\nagain');
  expect(JSON.parse(await read('sentinel://inbox'))).toEqual(expect.any(Array));
  await expect(read('sentinel://definitions/nothing')).rejects.toThrow('no saved sentinel');
});

test('a run is retried from the items of a list that failed', async () => {
  const item = shell('[ $item = 2 ] && [ ! -e retried ] && exit 4; echo $item >> listed', { failOn: 'nonzero' });
  save('list', [{ type: 'parallel', over: '[1, 2, 3]', steps: [item], itemErrors: 'collect', outputTo: 'all' }]);
  const { handle } = await value(careful, 'run_sentinel', { name: 'list', handle: 'listing' });
  await harness.result(String(handle));
  writeFileSync(join(harness.project, 'retried'), '');
  const again = await value(careful, 'retry_run', { handle, items: 'failed' });
  expect(again).toMatchObject({ of: handle, at: 'steps.0@1', items: [{ items: [1], performed: 1, kept: 2 }] });
  expect((await harness.result(String(again['handle']))).outcome).toBe('completed');
  expect(readFileSync(join(harness.project, 'listed'), 'utf8').trim().split('\n').toSorted()).toEqual(['1', '2', '3']);
  expect((await harness.store.runs.find(String(again['handle'])))?.startedBy).toBe('agent');
  expect(await refusal(careful, 'retry_run', { handle, items: [7] })).toContain('counted from 0 to 2');
});

const rule = (name: string, match: object) => ({ name, match, verdict: 'refuse', reason: 'not here' });

test('the rules of whoever starts the server hold for its runs, and those of the agent besides', async () => {
  const file = join(harness.project, 'policy.json');
  writeFileSync(file, JSON.stringify([rule('no-echo', { commands: ['code/shell/execute'] })]));
  save('both', [
    { ...shell('echo ran > by-both.txt'), onError: 'skip' },
    { type: 'command', command: 'own/shout', params: { text: 'hello' }, onError: 'skip' },
  ]);
  const held = await connect('a held one', '--policy', file);
  const refusals = async (handle: unknown): Promise<unknown[]> => {
    await harness.result(String(handle));
    return (await harness.events(String(handle))).flatMap((event) =>
      event.type === 'step-finished' && event.failure !== undefined ? [event.failure.details?.['rule']] : [],
    );
  };
  try {
    const own = { policy: [rule('no-own', { commands: ['own/*'] })] };
    expect(await refusals((await value(held, 'run_sentinel', { name: 'both' }))['handle'])).toEqual(['no-echo']);
    const { handle } = await value(held, 'run_sentinel', { name: 'both', handle: 'both', ...own });
    expect(handle).toBe('agent:both');
    expect(await refusals(handle)).toEqual(['no-echo', 'no-own']);
    expect(await refusal(held, 'run_sentinel', { name: 'both', policy: [{ name: 'loose' }] })).toMatch(/policy/);
  } finally {
    await held.close();
  }
});

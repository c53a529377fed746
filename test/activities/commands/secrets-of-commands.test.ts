/**
 * Every command there is, as a worker performs it, with the token of a secret in each of its parameters: whatever it
 * makes of it, the value of the secret is in no row, no event, no log, no result, and in nothing that is sent.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { describe, expect, it } from 'vitest';
import { createActivities } from '../../../activities/activities.ts';
import { quickSteps } from '../../../activities/segment/quick-steps.ts';
import { Shelf } from '../../../activities/turns/cassettes/shelf.ts';
import { workflowIdOf } from '../../../interpreter/keys.ts';
import type { StartInput } from '../../../workflows/messages/start-input.ts';
import { limitsOf } from '../../../interpreter/limits.ts';
import type { RunInput } from '../../../interpreter/host.ts';
import type { Json, JsonObject } from '../../../language/json.ts';
import type { Question } from '../../../language/events/question.ts';
import type { Definition } from '../../../language/model.ts';
import { StepCheckpoints } from '../../../operations/checkpoints/step-checkpoints.ts';
import type { Command, RunPort } from '../../../operations/command.ts';
import { secretsGiven, type TakesSecrets } from '../../../operations/secrets/secrets.ts';
import { BackgroundProcesses } from '../../../operations/shell/background.ts';
import { sealEnvironment } from '../../../runs/seal-environment.ts';
import { runStarter } from '../../../runs/start-run.ts';
import { builtInCommands, builtInRegistry } from '../../../systems/built-in.ts';
import { PLANNED } from '../../../systems/planned.ts';
import { WaitingRows } from '../../../prisma/store/contract/session-contract.ts';
import { useStore } from '../../store/harness/opened.ts';
import { openAiWire as wire } from '../../models/wires/openai-wire.ts';
import { say, useModels } from '../harness/asked-models.ts';
import { INTEGRATION } from '../harness/integration-params.ts';
import { planted } from '../harness/planted-params.ts';
import { repository } from '../harness/repository.ts';
import { temporaryFolder } from '../harness/step-context.ts';

const SECRET = 'v4lue-0f-the-shop';
const HANDLE = 'holds-a-secret';
const OTHER = 'another-run';

const opened = useStore();
const asked = useModels();

const definition = (steps: JsonObject[], more: JsonObject = {}): JsonObject => ({
  name: 'started',
  steps,
  loop: { type: 'once' },
  ...more,
});
const own = definition([{ type: 'shell', command: 'true' }]) as unknown as Definition;

/** Parameters that take a name of a closed list alone. */
const CLOSED: ReadonlySet<string> = new Set(['timeZone', 'permitted']);

/** With what they get further than with the text alone: `execution` is of a process in the background. */
const FURTHER: { readonly [command: string]: (text: string, execution: string) => JsonObject[] } = {
  'ai/dataset/create': (text) => [{ samples: { handles: [text], name: text } }],
  'changeset/apply': (text) => [
    { digest: 'a'.repeat(64), operations: [{ operation: 'CREATE', path: text, content: text, reason: text }] },
  ],
  'changeset/commit': (text) => [{ digest: 'a'.repeat(64), message: text }],
  ...INTEGRATION,
  'code/edit': (text) => [{ path: 'a.txt', old: 'one', new: text }],
  'code/git': (text) => [
    { operation: 'add', paths: ['b.txt'] },
    { operation: 'commit', message: text },
    { operation: 'switch', branch: text, create: true },
  ],
  'code/shell/execute': (text) => [
    { command: 'echo "$A"', env: { A: text } },
    { command: 'cat', stdin: text },
    { command: 'echo "$A"', env: { A: text }, wait: false },
  ],
  'code/shell/sentinel': (text, executionId) => [{ executionId, rules: rulesOf(text) }],
  'code/shell/watch': (text, executionId) => [{ executionId, rules: rulesOf(text), until: 'finished' }],
  'sentinel/run': startsOf,
  'sentinel/start': startsOf,
  'sentinel/create': (text) => [
    { definition: definition([{ type: 'shell', command: `deploy ${text}` }], { description: text }) },
    { name: 'kept', steps: [{ type: 'command', command: 'data/create', params: { collection: 'a', data: { text } } }] },
  ],
  'sentinel/save': (text) => [
    { definition: definition([{ type: 'shell', command: `deploy ${text}` }], { name: text }), tags: [text] },
  ],
  'sentinel/deploy': (text) => [{ sentinelId: text, project: `/${text}`, expects: text }],
  'sentinel/pause': (text) => [{ handle: OTHER, reason: text }],
  'sentinel/tell': (text) => [{ handle: OTHER, text }],
  'sentinel/answer': (text) => [
    { handle: OTHER, question: 'steps.0@1', choice: 'reject', note: text, data: { said: text } },
  ],
  'sentinel/step/add': (text) => [{ sentinelId: OTHER, index: 0, note: text, step: { type: 'shell', command: text } }],
  'sentinel/step/update': (text) => [
    { sentinelId: OTHER, index: 0, note: text, step: { type: 'shell', command: text } },
    { sentinelId: OTHER, index: 0, params: { command: text } },
  ],
  'sentinel/logs/read': (text) => [{ handle: HANDLE, stream: text }],
  'collaboration/chat/send': (text) => [{ room: 'general', message: text }],
  'ai/generate': (text) => [{ model: 'openai/some-model', prompt: text, system: text }],
  'ai/should-respond': (text) => [{ model: 'openai/some-model', message: text, strategy: text }],
  'memory/store': (text) => [{ content: 'nothing secret', tags: [text] }],
  'persona/trust': (text) => [
    { personaId: text, trusts: 'another' },
    { personaId: 'another', trusts: text },
  ],
  'persona/delegate': (text) => [
    { personaId: text, to: 'another' },
    { personaId: 'another', to: text },
  ],
  screenshot: (text) => [{ url: `http://127.0.0.1:9/${text}` }],
};

const rulesOf = (text: string): JsonObject[] => [
  { pattern: text, classification: text, action: 'emit' },
  { pattern: '.', classification: text, action: 'emit' },
];

function startsOf(text: string): JsonObject[] {
  return [
    { definition: definition([{ type: 'shell', command: 'deploy' }], { inputs: { key: '' } }), inputs: { key: text } },
    { definition: definition([{ type: 'shell', command: 'deploy', env: { A: text } }]) },
    { command: 'deploy', args: [text] },
    { type: 'pipeline', steps: [{ type: 'shell', command: `deploy ${text}` }] },
  ];
}

/** What a server of Temporal is sent goes into a history. */
const sent: unknown[] = [];
const started: StartInput[] = [];
const client = {
  workflow: {
    async start(...said: [string, { args: [StartInput] }]) {
      sent.push(said);
      started.push(said[1].args[0]);
    },
  },
} as unknown as Client;

interface Worker {
  env: { [name: string]: string };
  perform: (name: string, params: JsonObject) => Promise<unknown>;
  /** As a step of a segment. */
  performQuick: (name: string, params: JsonObject) => Promise<unknown>;
  close(): Promise<void>;
}

const quiet = new DefaultLogger('ERROR', () => undefined);

let steps = 0;
const nextKey = (): string => `steps.${(steps += 1)}@1`;

async function openWorker(commands: readonly Command[] = []): Promise<Worker> {
  const { store } = opened;
  const project = await repository(await projectFolder());
  const background = new BackgroundProcesses();
  const registry = builtInRegistry({ background }, commands);
  for (const handle of [HANDLE, OTHER])
    await store.runs.create({
      handle,
      name: own.name,
      definitionHash: 'none',
      project,
      persona: 'ada',
      parent: null,
      inputs: {},
      startedAt: Date.now(),
    });
  const env = await sealEnvironment(store, HANDLE, { SHOP_KEY: SECRET });
  const runs = runsOver(runStarter({ store, client, catalogue: registry.catalogue, taskQueue: 'none' }));
  const activities = createActivities({
    store,
    registry,
    runs,
    models: asked.models(),
    checkpoints: new StepCheckpoints(store.checkpoints, await temporaryFolder()),
    shelf: new Shelf(store),
    recorded: async () => undefined,
  });
  const quick = quickSteps({ store, registry, runs, limiter: undefined, days: undefined, around: undefined });
  const starts = { depth: 1, limits: limitsOf(own, null) };
  return {
    env,
    async perform(name, params) {
      const activity = activities[name];
      if (activity === undefined) throw new Error(`there is no activity "${name}"`);
      const info = {
        activityId: nextKey(),
        attempt: 1,
        startToCloseTimeoutMs: 300_000,
        workflowExecution: { workflowId: workflowIdOf(HANDLE), runId: 'r' },
      };
      const step = new MockActivityEnvironment(info, { logger: quiet });
      return step.run(activity as (...args: unknown[]) => Promise<unknown>, params, { secrets: env, starts });
    },
    async performQuick(name, params) {
      const key = nextKey();
      const session = store.session();
      try {
        const input = { handle: HANDLE, project, persona: 'ada', definitionHash: 'none', env } as unknown as RunInput;
        const effect = { type: 'command' as const, key, label: name, timeoutMs: 30_000, command: name, params };
        const reply = await quick.perform(input, session, effect, new WaitingRows());
        await session.commit({ handle: HANDLE, key, result: reply as unknown as Json, events: [] });
        return reply;
      } finally {
        await session.close();
      }
    },
    close: () => background.close(),
  };
}

async function projectFolder(): Promise<string> {
  const folder = await temporaryFolder();
  mkdirSync(join(folder, 'src'));
  writeFileSync(join(folder, 'b.txt'), 'two\n');
  return folder;
}

const question: Question = {
  id: 'steps.0@1',
  kind: 'approval',
  message: 'Go?',
  choices: ['approve', 'reject'],
  show: null,
  form: null,
  assignee: 'ada',
  priority: 'normal',
  askedAt: 1,
  expiresAt: null,
  digest: 'd'.repeat(64),
};

/** Other runs hear what is said to them: it goes into their histories. */
function runsOver(starter: RunPort): RunPort {
  const step = { type: 'shell', command: 'true' };
  const list = { handle: OTHER, revision: 0, pass: 1, definition: own, steps: [{ path: 'steps.0', step }] };
  return {
    ...starter,
    steps: async () => list as unknown as Awaited<ReturnType<RunPort['steps']>>,
    async edit(...said) {
      sent.push(said);
      return { op: 'add', path: 'steps.0', revision: 1, from: 'now' } as unknown as Awaited<
        ReturnType<RunPort['edit']>
      >;
    },
    async control(...said) {
      sent.push(said);
      return { status: 'paused', reason: said[2].reason, ending: false };
    },
    asks: async () => ({ questions: [question], answered: [] }),
    async answer(handle, request) {
      sent.push(request);
      const { id, choice, note = null, data = null, by } = request;
      return { id, answer: { choice, note, data, by, at: 1 }, already: handle !== OTHER };
    },
    async tell(_handle, request) {
      sent.push(request);
      return { id: request.id, step: 'steps.0@1', already: false };
    },
  };
}

const SPELLINGS = [SECRET, Buffer.from(SECRET).toString('hex'), Buffer.from(SECRET).toString('base64').slice(0, -4)];
const holds = (text: string): boolean => SPELLINGS.some((spelling) => text.includes(spelling));
/** With what an error does not list. */
const written = (value: unknown): string =>
  JSON.stringify(value, (_key, one: unknown) =>
    one instanceof Error ? { own: Object.entries(one), text: `${one.stack} ${String(one.cause)}` } : one,
  );

/** Rows that hold the value, by table; but for the one that keeps it. */
async function rowsWithSecret(): Promise<string[]> {
  const { database } = opened;
  const tables = await database.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'public' and table_name <> 'sealed_values'`,
    [],
  );
  const found = await Promise.all(
    tables.map(async ({ name }) =>
      (await database.query<{ row: string }>(`select t::text as row from "${name}" t`, []))
        .filter(({ row }) => holds(row))
        .map(({ row }) => `${name}: ${row.slice(0, 300)}`),
    ),
  );
  return found.flat();
}

/** All that comes back: a result, or why there is none. */
async function told(work: () => Promise<unknown>): Promise<string> {
  try {
    return written(await work());
  } catch (error) {
    return written(error);
  }
}

const holdsText = (params: readonly JsonObject[], name: string, text: string): boolean =>
  params.some((one) => JSON.stringify(one[name] ?? null).includes(text));

describe('with a secret in every parameter that holds a text', () => {
  it('no command leaves its value in a row, an event, a log, a result or a request', async () => {
    asked.double().answer(wire.path, () => say('Yes.'));
    const worker = await openWorker();
    const text = worker.env['SHOP_KEY'] ?? '';
    try {
      const { executionId } = (await worker.perform('code/shell/execute', {
        command: 'echo started; sleep 1; echo ready',
        wait: false,
      })) as { executionId: string };
      const leaks: string[] = [];
      for (const command of builtInCommands) {
        const { name } = command;
        const further = FURTHER[name]?.(text, executionId) ?? [];
        const { params, missed } = planted(command, text);
        expect(missed.filter((param) => !CLOSED.has(param) && !holdsText(further, param, text))).toEqual([]);
        for (const one of further) expect(command.params.safeParse(one).error).toBeUndefined();
        for (const one of [...further, ...params]) {
          const ways = [worker.perform, ...(command.speed === 'quick' ? [worker.performQuick] : [])];
          for (const perform of ways) if (holds(await told(() => perform(name, one)))) leaks.push(`${name} tells it`);
        }
        const rows = await rowsWithSecret();
        leaks.push(...rows.map((row) => `${name}: ${row}`));
        if (rows.length > 0) break;
      }
      expect(leaks).toEqual([]);
    } finally {
      await worker.close();
    }
    expect(await rowsWithSecret()).toEqual([]);
    expect(sent.length).toBeGreaterThan(5);
    expect(holds(written(sent))).toBe(false);
    // What a run that was started is given works there as it would have here.
    const starts = started.filter((one) => JSON.stringify([one.definition, one.inputs]).includes(text));
    expect(starts.length).toBeGreaterThan(5);
    for (const { env } of starts) expect(env).toEqual({ SHOP_KEY: text });
    expect(asked.asked().length).toBeGreaterThan(1);
    expect(holds(written(asked.asked()))).toBe(false);
  }, 240_000);

  it('a command that kept what it takes for the world would be found', async () => {
    const name = 'test/keeps';
    const [create] = builtInCommands.filter((command) => command.name === 'data/create');
    if (create === undefined) throw new Error('there is no data/create');
    const worker = await openWorker([{ ...create, name, secrets: 'values' }]);
    await worker.perform(name, { collection: 'kept', data: { key: worker.env['SHOP_KEY'] ?? '' } });
    await worker.close();
    expect(await rowsWithSecret()).not.toEqual([]);
  });
});

const given = (params: JsonObject): string[] =>
  builtInCommands.filter((one) => secretsGiven(one, params) === 'values').map(({ name }) => name);

describe('which of a secret a command is given', () => {
  it('its token, unless it acts on the world and says so', () => {
    expect([...new Set(given({}).map((name) => name.split('/')[0]))]).toEqual(['code', 'screenshot']);
    expect(given({ wait: true })).toEqual(given({}));
    expect(given({}).filter((name) => !given({ wait: false }).includes(name))).toEqual(['code/shell/execute']);
  });

  it.each(Object.entries(PLANNED))('%s will get the token when it is built', (_name, facts) => {
    expect(secretsGiven({ ...facts } as TakesSecrets, {})).toBe('sealed');
  });
});

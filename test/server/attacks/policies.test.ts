/**
 * A policy holds for a run and for all that comes of it: models and their calls, nested runs, what a model starts, edits,
 * forks, schedules. Nothing inside makes it looser.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { RunEvent } from '../../../language/events/run-event.ts';
import type { JsonObject } from '../../../language/json.ts';
import type { Definition, LlmStep, Step } from '../../../language/model.ts';
import type { Policy, PolicyRule } from '../../../language/policy/policy.ts';
import { createSchedule } from '../../../runs/schedules.ts';
import { once, shell } from '../harness/definitions.ts';
import { until } from '../harness/harness.ts';
import type { ToolCall } from './attempts/attempt.ts';
import { useAttacked } from './attempts/run-attempts.ts';

const attacked = useAttacked();

const NO_SHELL: PolicyRule = {
  name: 'no-shell-by-models',
  match: { permissions: ['shell'], by: 'model' },
  verdict: 'refuse',
  reason: 'models use the commands',
};

const POLICY: Policy = [
  NO_SHELL,
  {
    name: 'writes-are-asked',
    match: { commands: ['code/write'] },
    verdict: 'ask',
    reason: 'a person reads each change',
  },
  {
    name: 'no-plans-for-models',
    match: { commands: ['code/read'], paths: ['private/**'], by: 'model' },
    verdict: 'refuse',
    reason: 'plans are private',
  },
  { name: 'no-keys', match: { paths: ['**/*.locked'] }, verdict: 'refuse', reason: 'locked files stay as they are' },
];

const isThere = (name: string): boolean => existsSync(join(attacked.harness.project, name));
const command = (name: string, params: JsonObject): Step => ({ type: 'command', command: name, params });
const write = (path: string): Step => command('code/write', { path, content: 'made' });

const asks = (name: string, turns: readonly ToolCall[], tools: string[]): LlmStep => {
  attacked.scripts.set(name, { handle: name, turns: turns.map((call) => [call]) });
  return { type: 'llm', model: 'openai/some-model', prompt: `${name} Go`, tools, onStuck: 'ignore', onError: 'skip' };
};

const failuresIn = (events: readonly RunEvent[]): { [key: string]: unknown } =>
  Object.fromEntries(
    events.flatMap((event) =>
      event.type === 'step-finished' && event.failure !== undefined ? [[event.key, event.failure]] : [],
    ),
  );
const refusedBy = (rule: string): object =>
  expect.objectContaining({ code: 'POLICY_REFUSED', details: expect.objectContaining({ rule }) as unknown }) as object;

async function answer(handle: string, id: string, choice: string): Promise<string> {
  const { harness } = attacked;
  await until(async () => (await harness.store.inbox.open(handle)).includes(id));
  const shown = await harness.command('inbox', 'show', handle);
  const said = await harness.command('answer', handle, id, choice);
  expect(said.err + said.out, id).not.toContain('refused');
  return shown.out + shown.err;
}

test('a rule refuses the shell to a model in a nested run, and another asks about what it writes', async () => {
  const { harness } = attacked;
  const turns: ToolCall[] = [
    ['code_shell_execute', { command: 'touch by-shell' }],
    ['code_write', { path: 'by-model.txt', content: 'made' }],
    ['code_write', { path: 'sub/../a.locked', content: 'made' }],
    ['code_read', { path: './private/plan.txt' }],
  ];
  const inner: Definition = once('inner', [
    asks('nested-model', turns, ['code/shell/execute', 'code/write', 'code/read']),
    shell('touch by-step'),
  ]);
  const handle = await harness.start(once('outer', [{ type: 'sentinel', definition: inner }]), {
    handle: 'nested-model',
    policies: [POLICY],
  });
  const nested = `${handle}/steps.0@1`;
  const shown = await answer(nested, 'steps.0@1/turn.2/call.0', 'approve');
  expect(shown).toContain('writes-are-asked');
  // Of the rules that fit a path, the first one asks.
  await answer(nested, 'steps.0@1/turn.3/call.0', 'reject');
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  expect(failuresIn(await harness.events(nested))).toMatchObject({
    'steps.0@1/turn.3/call.0': { code: 'APPROVAL_REJECTED' },
    'steps.0@1/turn.4/call.0': refusedBy('no-plans-for-models'),
  });
  expect(['by-shell', 'by-model.txt', 'by-step', 'a.locked'].map(isThere)).toEqual([false, true, true, false]);
});

test('a fork has the policy of the run that it goes on from', async () => {
  const { harness } = attacked;
  const definition = once('forked', [
    shell('true'),
    { ...write('forked.txt'), onError: 'skip' },
    shell('touch x.locked', { onError: 'skip' }),
  ]);
  const handle = await harness.start(definition, { handle: 'to-fork', policies: [POLICY] });
  await answer(handle, 'steps.1@1', 'reject');
  await harness.result(handle);
  const edited = join(harness.project, 'looser.json');
  writeFileSync(
    edited,
    JSON.stringify({ ...definition, escalateOn: [{ condition: 'approval_needed', action: 'notify' }] }),
  );
  const forked = await harness.command(
    'fork',
    handle,
    '--at',
    'steps.1@1',
    '--edit',
    edited,
    '--id',
    'of-fork',
    '--detach',
  );
  expect(forked).toMatchObject({ code: 0 });
  await answer('of-fork', 'steps.1@1', 'reject');
  await harness.result('of-fork');
  expect(isThere('forked.txt')).toBe(false);
  expect(failuresIn(await harness.events('of-fork'))).toMatchObject({ 'steps.2@1': refusedBy('no-keys') });
});

test('what a model starts has it, whatever its definition says', async () => {
  const { harness } = attacked;
  // Starting a run is of the class "shell", too, and no line for a shell.
  const tools = ['sentinel/run', 'code/shell/execute', 'data/list'];
  const step = { type: 'shell', command: 'touch by-started', onError: 'skip' };
  const base = { name: 'brought', loop: { type: 'once' }, steps: [step] };
  const turns: ToolCall[] = [
    ['sentinel_run', { definition: { ...base, policy: [] } }],
    ['sentinel_run', { definition: { ...base, safety: { policy: [] } } }],
    ['sentinel_run', { definition: base }],
  ];
  const { events } = await harness.run(once('starter', [asks('starting', turns, tools)]), {
    handle: 'starting',
    policies: [[{ ...NO_SHELL, match: { kinds: ['shell'], by: 'model' } }]],
  });
  const failed = failuresIn(events);
  expect(failed).toMatchObject({
    'steps.0@1/turn.1/call.0': { code: expect.stringMatching(/RUN_NOT_STARTED|COMMAND_PARAMS_INVALID/) as unknown },
    'steps.0@1/turn.2/call.0': { code: expect.stringMatching(/RUN_NOT_STARTED|COMMAND_PARAMS_INVALID/) as unknown },
  });
  const started = (await harness.store.runs.list({})).find(({ name }) => name === 'brought');
  expect(started).toBeDefined();
  await harness.result(started?.handle ?? '');
  expect(failuresIn(await harness.events(started?.handle ?? ''))).toMatchObject({
    'steps.0@1': refusedBy('no-shell-by-models'),
  });
  expect(isThere('by-started')).toBe(false);
});

test('a step that an edit brings is judged, and an edit of another run is asked about', async () => {
  const { harness } = attacked;
  const waits = shell('while [ ! -e edited-on ]; do sleep 0.1; done');
  const other = await harness.start(once('other', [waits, shell('true')]), { handle: 'other-run' });
  const edits = command('sentinel/step/add', {
    sentinelId: other,
    path: 'steps.1',
    step: { type: 'shell', command: 'touch by-other' },
  });
  const handle = await harness.start(once('edited', [waits, { ...edits, onError: 'skip' }]), {
    handle: 'edited-run',
    policies: [POLICY],
  });
  await harness.untilEvent(handle, ({ type }) => type === 'step-started');
  const added = JSON.stringify({ ...write('by-edit.txt'), onError: 'skip' });
  expect(await harness.command('step', 'add', handle, 'steps.1', '--step', added)).toMatchObject({ code: 0 });
  writeFileSync(join(harness.project, 'edited-on'), '');
  await answer(handle, 'steps.1~1@1', 'reject');
  const shown = await answer(handle, 'steps.2~1@1', 'reject');
  expect(shown).toContain('edits-other-runs');
  await harness.result(handle);
  await harness.result(other);
  expect(['by-edit.txt', 'by-other'].map(isThere)).toEqual([false, false]);
});

test('a schedule, and a run that continues as new, keep the policies that they were made with', async () => {
  const { harness } = attacked;
  const { store, client, taskQueue, project } = harness;
  const parts = { store, client, catalogue: harness.catalogue, taskQueue, policiesOf: () => [POLICY] };
  const steps = [shell('true'), shell('true'), { ...shell('touch of-schedule.locked'), onError: 'skip' as const }];
  const id = `policies-${process.pid}`;
  await createSchedule(parts, {
    definition: once('scheduled', steps),
    inputs: {},
    project,
    persona: 'tester',
    id,
    cron: '@every 1s',
  });
  try {
    await until(async () =>
      (await store.runs.list({})).some(({ name, status }) => name === 'scheduled' && status === 'completed'),
    );
  } finally {
    await client.schedule.getHandle(id).delete();
  }
  const run = (await store.runs.list({})).find(({ name, status }) => name === 'scheduled' && status === 'completed');
  expect(failuresIn(await harness.events(run?.handle ?? ''))).toMatchObject({ 'steps.2@1': refusedBy('no-keys') });
  const continued = await harness.run(once('continued', steps), { continueEvery: 1, policies: [POLICY] });
  expect(failuresIn(continued.events)).toMatchObject({ 'steps.2@1': refusedBy('no-keys') });
  expect(isThere('of-schedule.locked')).toBe(false);
});

test('a step starts a run with rules of its own, which make none of those around looser', async () => {
  const { harness } = attacked;
  const definition = {
    name: 'stricter',
    loop: { type: 'once' },
    steps: [
      { type: 'shell', command: 'touch by-stricter', onError: 'skip' },
      { type: 'command', command: 'data/create', params: { collection: 'stricter', data: {} }, onError: 'skip' },
    ],
  };
  const policy = [
    { ...NO_SHELL, name: 'loose', match: { commands: ['data/*'] }, verdict: 'allow' },
    { ...NO_SHELL, name: 'no-shell', match: { kinds: ['shell'] } },
  ];
  const outer: Policy = [{ ...NO_SHELL, name: 'no-records', match: { commands: ['data/create'] } }];
  await harness.run(once('starts-stricter', [command('sentinel/run', { definition, policy })]), {
    policies: [outer],
  });
  const started = (await harness.store.runs.list({})).find(({ name }) => name === 'stricter');
  await harness.result(started?.handle ?? '');
  expect(failuresIn(await harness.events(started?.handle ?? ''))).toMatchObject({
    'steps.0@1': refusedBy('no-shell'),
    'steps.1@1': refusedBy('no-records'),
  });
});

test('a model is not told of a tool that no rule lets it use, and does nothing with it', async () => {
  const { harness } = attacked;
  const turns: ToolCall[] = [['code_shell_execute', { command: 'touch by-untold' }]];
  const { events } = await harness.run(once('untold', [asks('untold', turns, ['code/shell/execute', 'data/list'])]), {
    policies: [POLICY],
  });
  expect(events).toContainEqual(expect.objectContaining({ type: 'warning', code: 'MODEL_CALLS_WRONG' }));
  expect(isThere('by-untold')).toBe(false);
  const [body] = attacked.model.turnsOf('untold');
  const told = (body?.['tools'] ?? []) as { function: { name: string } }[];
  expect(told.map((tool) => tool.function.name)).toEqual(['data_list']);
});

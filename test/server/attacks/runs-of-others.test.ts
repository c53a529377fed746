/**
 * What a model says to runs of others, and hears of them: a run that a person paused stays so, and a definition of the
 * model hears of no end but those of its own runs. Beside each stands what it may do with what it did itself.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startedHandle } from '../../../systems/runs/commands.ts';
import type { Definition, LlmStep, Step } from '../../../language/model.ts';
import { once, shell } from '../harness/definitions.ts';
import { until } from '../harness/harness.ts';
import type { ToolCall } from './attempts/attempt.ts';
import { useAttacked } from './attempts/run-attempts.ts';

const attacked = useAttacked();

const waits: Step = shell('while [ ! -e gone-on ]; do sleep 0.1; done');
const isHeld = async (handle: string): Promise<boolean> => (await attacked.harness.state(handle)).status === 'paused';
const TOOLS = ['sentinel/run', 'sentinel/pause', 'sentinel/resume'];

const asks = (name: string, turns: readonly ToolCall[], tools = TOOLS): Definition => {
  attacked.scripts.set(name, { handle: name, turns: turns.map((call) => [call]) });
  const step: LlmStep = {
    type: 'llm',
    model: 'openai/some-model',
    prompt: `${name} Go`,
    tools,
    onStuck: 'ignore',
    onError: 'skip',
  };
  return once(`asks-${name}`, [step]);
};

/** With which code each of its calls failed, by turn. */
async function failures(handle: string, turns: number): Promise<(string | undefined)[]> {
  const events = await attacked.harness.events(handle);
  return Array.from(
    { length: turns },
    (_, at) =>
      events.flatMap((event) =>
        event.type === 'step-finished' && event.key.endsWith(`/turn.${at + 1}/call.0`) ? [event.failure?.code] : [],
      )[0],
  );
}

async function underWay(name: string): Promise<string> {
  const handle = await attacked.harness.start(once(name, [waits]), { handle: name });
  await attacked.harness.untilEvent(handle, ({ type }) => type === 'step-started');
  return handle;
}

test('a model lets no run go on that a person or a step paused, and one that it paused itself it does', async () => {
  const byPerson = await underWay('by-person');
  const byStep = await underWay('by-step');
  const byBoth = await underWay('by-both');
  const own = await underWay('own');
  await attacked.harness.say(byPerson, 'pause');
  const pausing: Step = { type: 'command', command: 'sentinel/pause', params: { handle: byStep } };
  expect((await attacked.harness.run(once('holds', [pausing]))).result).toMatchObject({ outcome: 'completed' });
  const first = asks('holder', [['sentinel_pause', { handle: byBoth }]]);
  await attacked.harness.run(first, { handle: 'holder' });
  await attacked.harness.say(byBoth, 'pause');
  const turns: ToolCall[] = [
    ['sentinel_resume', { handle: byPerson }],
    // Holding it once more does not make it the model's.
    ['sentinel_pause', { handle: byPerson }],
    ['sentinel_resume', { handle: byPerson }],
    ['sentinel_resume', { handle: byStep }],
    ['sentinel_resume', { handle: byBoth }],
    ['sentinel_pause', { handle: own }],
    ['sentinel_resume', { handle: own }],
  ];
  await attacked.harness.run(asks('lifter', turns), { handle: 'lifter' });
  const no = 'RIGHTS_EXCEEDED';
  expect(await failures('lifter', turns.length)).toEqual([no, undefined, no, no, no, undefined, undefined]);
  expect(await Promise.all([byPerson, byStep, byBoth, own].map(isHeld))).toEqual([true, true, true, false]);
  // A person's word, and a step's.
  expect((await attacked.harness.command('resume', byPerson)).code).toBe(0);
  const lifting: Step = { type: 'command', command: 'sentinel/resume', params: { handle: byStep } };
  expect((await attacked.harness.run(once('lifts', [lifting]))).result).toMatchObject({ outcome: 'completed' });
  expect(await Promise.all([byPerson, byStep].map(isHeld))).toEqual([false, false]);
});

test('a model has to do with runs of its own project', async () => {
  const elsewhere = mkdtempSync(join(tmpdir(), 'sentinel-elsewhere-'));
  const theirs = await attacked.harness.start(once('of-another-project', [shell('sleep 60')]), {
    handle: 'of-another-project',
    project: elsewhere,
  });
  const ours = await underWay('of-this-project');
  await attacked.harness.untilEvent(theirs, ({ type }) => type === 'step-started');
  const looks = ['sentinel/status', 'sentinel/logs/list', 'sentinel/logs/read', 'sentinel/logs/tail'];
  const steers = ['sentinel/pause', 'sentinel/resume', 'sentinel/stop', 'sentinel/cancel'];
  const tools = [...looks, 'sentinel/step/list', ...steers];
  const calls = (handle: string): ToolCall[] =>
    tools.map((name) => [
      name.replaceAll('/', '_'),
      name === 'sentinel/step/list' ? { sentinelId: handle } : { handle },
    ]);
  const list: ToolCall[] = [['sentinel_list', {}]];
  await attacked.harness.run(
    asks('neighbour', [...calls(theirs), ...list, ...calls(ours)], [...tools, 'sentinel/list']),
    {
      handle: 'neighbour',
    },
  );
  const said = await failures('neighbour', 2 * tools.length + 1);
  expect(said.slice(0, tools.length)).toEqual(tools.map(() => 'RIGHTS_EXCEEDED'));
  expect(said.slice(tools.length)).toEqual([undefined, ...tools.map(() => undefined)]);
  const messages = await attacked.harness.store.conversations.read({ handle: 'neighbour', conversation: 'steps.0@1' });
  const listed = JSON.stringify(messages.filter(({ turn, part }) => turn === tools.length + 1 && part > 0));
  expect([listed.includes(ours), listed.includes(theirs)]).toEqual([true, false]);
  expect((await attacked.harness.state(theirs)).status).toBe('running');
  // What a step of the definition says is its author's word.
  const step: Step = { type: 'command', command: 'sentinel/cancel', params: { handle: theirs } };
  expect((await attacked.harness.run(once('ends-theirs', [step]))).result).toMatchObject({ outcome: 'completed' });
  expect(await attacked.harness.result(theirs)).toMatchObject({ outcome: 'cancelled' });
  rmSync(elsewhere, { recursive: true, force: true });
});

test('nor does the model of a run that was started by the one that a person paused', async () => {
  const starts: Step = {
    type: 'command',
    command: 'sentinel/run',
    params: {
      definition: asks('below', [
        ['sentinel_pause', { handle: 'above' }],
        ['sentinel_resume', { handle: 'above' }],
      ]) as unknown as { name: string },
    },
  };
  await attacked.harness.start(once('above', [waits, starts, shell('true')]), { handle: 'above' });
  await attacked.harness.untilEvent('above', ({ type }) => type === 'step-started');
  await attacked.harness.say('above', 'pause');
  const below = startedHandle('starter', 'steps.0@1');
  await attacked.harness.run(once('starter', [starts]), { handle: 'starter' });
  await until(async () => ((await attacked.harness.store.runs.find(below))?.finishedAt ?? null) !== null);
  expect(await failures(below, 2)).toEqual([undefined, 'RIGHTS_EXCEEDED']);
  expect(await isHeld('above')).toBe(true);
});

const joins = (handles: string[]): ToolCall => [
  'sentinel_run',
  { definition: once('joins', [{ type: 'join', handles, outputTo: 'ends' }]) as never },
];

test('a definition of a model hears of the ends of its own runs, and of others where the model may look at runs', async () => {
  await attacked.harness.run(once('private', [shell('exit 3')]), { handle: 'private' }).catch(() => undefined);
  const nested: Definition = once('nested', [{ type: 'sleep', durationMs: 1 }]);
  const own: ToolCall = [
    'sentinel_run',
    {
      definition: once('joins-own', [
        { type: 'sentinel', definition: nested, await: false, outputTo: 'one' },
        { type: 'join', handles: '$one', outputTo: 'ends' },
      ]) as never,
    },
  ];
  await attacked.harness.run(asks('hears', [joins(['private']), own]), { handle: 'hears' });
  const started = [1, 2].map((turn) => startedHandle('hears', `steps.0@1/turn.${turn}/call.0`));
  const ends = await Promise.all(started.map((handle) => attacked.harness.result(handle)));
  expect(ends[0]).toMatchObject({ outcome: 'failed', failure: { code: 'RIGHTS_EXCEEDED' } });
  expect(ends[1]).toMatchObject({ outcome: 'completed' });
  await attacked.harness.run(asks('looks', [joins(['private'])], ['sentinel/run', 'sentinel/status']), {
    handle: 'looks',
  });
  expect(await attacked.harness.result(startedHandle('looks', 'steps.0@1/turn.1/call.0'))).toMatchObject({
    outcome: 'completed',
  });
});

test('the end of a run is published under a name for what a person saved under it, and else under its id', async () => {
  const saved = once('deploys', [{ type: 'sleep', durationMs: 1 }]);
  await attacked.harness.store.definitions.publish(saved);
  const forged = once('deploys', [{ type: 'sleep', durationMs: 2 }]);
  const around = once('around', [{ type: 'sentinel', definition: forged }]);
  const turns: ToolCall[] = [
    ['sentinel_run', { definition: forged as never }],
    ['sentinel_run', { definition: around as never }],
    ['sentinel_run', { name: 'deploys' }],
  ];
  await attacked.harness.run(asks('forges', turns), { handle: 'forges' });
  const started = turns.map((_call, at) => startedHandle('forges', `steps.0@1/turn.${at + 1}/call.0`));
  for (const handle of started) expect(await attacked.harness.result(handle)).toMatchObject({ outcome: 'completed' });
  const ended = (pattern: string) => attacked.harness.store.signals.kept({ pattern, limit: 10 });
  await until(async () => (await ended('sentinel:finished:deploys')).length > 0);
  expect((await ended('sentinel:finished:deploys')).map(({ handle }) => handle)).toEqual([started[2]]);
  const { definitionHash } = (await attacked.harness.store.runs.find(started[0] ?? '')) ?? { definitionHash: '' };
  const byId = await ended(`sentinel:finished:${definitionHash}`);
  expect(byId.map(({ handle }) => handle)).toEqual([started[0], `${started[1]}/steps.0@1`]);
  expect(byId[0]?.data).toMatchObject({ isBrought: true });
  // A step of a definition starts what its author wrote.
  await attacked.harness.run(
    once('starts', [{ type: 'command', command: 'sentinel/run', params: { definition: forged as never } }]),
  );
  await until(async () => (await ended('sentinel:finished:deploys')).length === 2);
});

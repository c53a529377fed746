/**
 * A run that is held at a limit goes on by a person's word. Steps, models and agents over MCP try to give it more, by
 * every verb that they have; beside each, the same verb lifts a pause.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startedHandle } from '../../../systems/runs/commands.ts';
import type { Definition, Step } from '../../../language/model.ts';
import { buildBundle } from '../../../runs/bundle.ts';
import { counted, create, once, shell } from '../harness/definitions.ts';
import { forkOf } from '../harness/forked.ts';
import { CLI, Harness, until } from '../harness/harness.ts';
import type { ScriptedModel } from '../harness/models/model-runs.ts';
import { openAttacked, type Scripts } from './attempts/run-attempts.ts';

let harness: Harness;
let model: ScriptedModel;
let careful: Client;
let trusting: Client;
const scripts: Scripts = new Map();

/** Writes until its budget is used up, and is held there. */
const spends = (name: string, steps: number, rest: Partial<Definition> = {}): Definition => ({
  ...counted(name, 50, [create(name, { n: 1 })]),
  safety: { onTimeout: 'pause', budget: { steps } },
  ...rest,
});
const written = async (name: string): Promise<number> => (await harness.rows(name)).length;
const isHeld = async (handle: string): Promise<boolean> => (await harness.state(handle)).status === 'paused';
const codes = async (handle: string): Promise<string[]> =>
  (await harness.events(handle)).flatMap((event) =>
    event.type === 'step-finished' && event.failure !== undefined ? [event.failure.code] : [],
  );
const resumes = (handle: string): Step => ({
  type: 'command',
  command: 'sentinel/resume',
  params: { handle },
  onError: 'skip',
});

beforeAll(async () => {
  harness = await Harness.open();
  mkdirSync(join(harness.project, 'sentinels'));
  writeFileSync(join(harness.project, 'sentinels', 'by-agent.json'), JSON.stringify(spends('by-agent', 2)));
  writeFileSync(join(harness.project, 'sentinels', 'waits.json'), JSON.stringify(once('waits', [shell('sleep 60')])));
  model = await openAttacked(scripts);
  await harness.startWorker({ ...model.env, SENTINEL_PROJECT: harness.project });
  [careful, trusting] = await Promise.all([connect('an editor'), connect('another', '--allow-approve')]);
});
afterAll(async () => {
  await Promise.all([careful.close(), trusting.close()]);
  await harness.close();
  await model.close();
});

async function connect(name: string, ...options: string[]): Promise<Client> {
  const client = new Client({ name, version: '1.0.0' });
  const args = [CLI, 'mcp', 'serve', '--project', harness.project, ...options];
  const env = { ...process.env, ...harness.env, USER: 'ada' } as Record<string, string>;
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' }));
  return client;
}

async function steer(client: Client, handle: string, how: string): Promise<string> {
  const { content, isError = false } = await client.callTool({ name: 'steer_run', arguments: { handle, how } });
  return `${isError === true ? 'refused: ' : ''}${JSON.stringify(content)}`;
}

test.each([
  ['that asks', {}],
  ['that asks nobody', { reportTo: 'silent' as const }],
])('a step lets no run go on from a limit %s, and a person does', async (name, rest) => {
  const collection = name.replaceAll(' ', '-');
  const held = await harness.start(spends(collection, 2, rest));
  await until(() => isHeld(held));
  const { handle, result } = await harness.run(once('tries', [resumes(held), resumes(held), resumes(held)]));
  expect(result).toMatchObject({ outcome: 'completed' });
  expect(await codes(handle)).toEqual(['HELD_AT_LIMIT', 'HELD_AT_LIMIT', 'HELD_AT_LIMIT']);
  expect([await isHeld(held), await written(collection)]).toEqual([true, 2]);
  expect((await harness.command('resume', held)).code).toBe(0);
  await until(async () => (await written(collection)) === 4 && (await isHeld(held)));
  await harness.say(held, 'stop');
});

test('a pause that a step lifts extends no limit of the runs nested in it', async () => {
  const nested: Step = { type: 'sentinel', definition: spends('inside', 2) };
  const around = await harness.start(once('around', [nested]));
  const inside = `${around}/steps.0@1`;
  await until(async () => (await written('inside')) === 2 && (await isHeld(inside)));
  await harness.say(around, 'pause');
  const lifts: Step = { type: 'command', command: 'sentinel/resume', params: { handle: around } };
  expect((await harness.run(once('lifts', [lifts]))).result).toMatchObject({ outcome: 'completed' });
  await until(async () => !(await isHeld(around)));
  // What it is told comes a moment later.
  await harness.run(once('later', [shell('sleep 1')]));
  expect([await isHeld(inside), await written('inside')]).toEqual([true, 2]);
  await harness.say(around, 'pause');
  expect((await harness.command('resume', around)).code).toBe(0);
  await until(async () => (await written('inside')) === 4);
  await harness.say(around, 'stop');
});

test('a model gives the run that it started nothing more, however often it says so', async () => {
  await harness.store.definitions.publish(spends('kept', 1));
  const kept = startedHandle('greedy', 'steps.0@1/turn.1/call.0');
  scripts.set('greedy', {
    handle: 'greedy',
    turns: [
      [['sentinel_run', { name: 'kept' }]],
      ...Array.from({ length: 4 }, () => [['sentinel_resume', { handle: kept }] as const]),
    ],
  });
  const asking: Step = {
    type: 'llm',
    model: 'openai/some-model',
    prompt: 'greedy Write',
    tools: ['sentinel/run', 'sentinel/resume'],
    onStuck: 'ignore',
    onError: 'skip',
  };
  const { events } = await harness.run(once('greedy', [asking]), { handle: 'greedy' });
  expect(
    events.filter((event) => event.type === 'step-finished' && event.failure?.code === 'HELD_AT_LIMIT'),
  ).toHaveLength(4);
  expect([await isHeld(kept), await written('kept')]).toEqual([true, 1]);
  expect((await harness.command('answer', kept, 'extend', '--data', '{"steps": 2}')).code).toBe(0);
  await until(async () => (await written('kept')) === 3 && (await isHeld(kept)));
  await harness.say(kept, 'stop');
});

test('an agent over MCP lifts a pause, and a limit only where the server was started for it', async () => {
  await careful.callTool({ name: 'run_sentinel', arguments: { name: 'by-agent', handle: 'by-agent' } });
  await until(async () => (await written('by-agent')) === 2 && (await isHeld('agent:by-agent')));
  for (let times = 0; times < 3; times += 1)
    expect(await steer(careful, 'agent:by-agent', 'resume')).toMatch(/^refused: .*held at a limit/);
  // Holding it once more changes nothing about that.
  await steer(careful, 'agent:by-agent', 'pause');
  expect(await steer(careful, 'agent:by-agent', 'resume')).toMatch(/^refused: /);
  expect([await isHeld('agent:by-agent'), await written('by-agent')]).toEqual([true, 2]);
  expect(await steer(trusting, 'agent:by-agent', 'resume')).not.toContain('refused');
  await until(async () => (await written('by-agent')) === 4 && (await isHeld('agent:by-agent')));
  expect(await steer(careful, 'agent:by-agent', 'stop')).not.toContain('refused');
  await careful.callTool({ name: 'run_sentinel', arguments: { name: 'waits', handle: 'waits' } });
  await until(async () => (await harness.events('agent:waits')).some(({ type }) => type === 'step-started'));
  await steer(careful, 'agent:waits', 'pause');
  expect(await steer(careful, 'agent:waits', 'resume')).not.toContain('refused');
  expect(await isHeld('agent:waits')).toBe(false);
  // What a person paused waits for a person, or for an agent that speaks for one.
  expect((await harness.command('pause', 'agent:waits')).code).toBe(0);
  expect(await steer(careful, 'agent:waits', 'resume')).toMatch(/^refused: .*paused by somebody else/);
  expect(await isHeld('agent:waits')).toBe(true);
  expect(await steer(trusting, 'agent:waits', 'resume')).not.toContain('refused');
  expect(await isHeld('agent:waits')).toBe(false);
  await steer(careful, 'agent:waits', 'cancel');
});

test('a fork of a run that a step started has what was left of its budget', async () => {
  const started = { ...spends('spends-on', 100), durability: 'step', safety: { maxIterations: 50 } };
  const starts: Step = {
    type: 'command',
    command: 'sentinel/run',
    params: { definition: started as unknown as { name: string } },
    outputTo: 'run',
  };
  const { result } = await harness.run(once('gives', [starts], { safety: { budget: { steps: 11 } } }));
  const { handle: of } = result.outputs['run'] as { handle: string };
  // Half of what the step left of eleven; three of them were used before the fork.
  expect(await harness.result(of)).toMatchObject({ outcome: 'stopped', limit: 'budget.steps' });
  expect(await written('spends-on')).toBe(5);
  const fork = await forkOf(harness, { code: await buildBundle() }, { handle: of, at: 'steps.0@4' });
  expect(await harness.result(fork.handle)).toMatchObject({ outcome: 'stopped', limit: 'budget.steps' });
  expect(await written('spends-on')).toBe(7);
});

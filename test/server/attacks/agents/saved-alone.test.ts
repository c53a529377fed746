/**
 * An agent over MCP starts what a person saved, and nothing that a model or a step brought: that is kept by its id, and
 * an agent reads ids among the runs. Beside each attempt stands what a person saved of it.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startedHandle } from '../../../../systems/runs/commands.ts';
import type { Json } from '../../../../language/json.ts';
import type { Definition } from '../../../../language/model.ts';
import { contentHash } from '../../../../prisma/store/values/content-hash.ts';
import { create, once } from '../../harness/definitions.ts';
import { connectAgent, type Agent } from '../attempts/agent.ts';
import { useAttacked } from '../attempts/run-attempts.ts';

const attacked = useAttacked();
let agent: Agent;
beforeAll(async () => {
  agent = await connectAgent(attacked.harness);
});
afterAll(() => agent.close());

/** The store keeps what an earlier run of this file has published: a text of its own each time. */
const writes = (name: string): Definition => once(name, [create(name, { n: randomUUID() })]);
const refers = (name: string, to: string): Definition => once(name, [{ type: 'sentinel', definition: { $ref: to } }]);
const written = async (name: string): Promise<number> => (await attacked.harness.rows(name)).length;

async function broughtByModel(definition: Definition): Promise<void> {
  const { name } = definition;
  const handle = `model-${name}`;
  attacked.scripts.set(handle, {
    handle,
    turns: [[['sentinel_run', { definition: definition as unknown as Json }]]],
  });
  const step = { model: 'openai/some-model', prompt: `${handle} Go`, tools: ['sentinel/run', 'data/create'] };
  await attacked.harness.run(once(handle, [{ type: 'llm', onStuck: 'ignore', onError: 'skip', ...step }]), { handle });
  await attacked.harness.result(startedHandle(handle, 'steps.0@1/turn.1/call.0'));
}

async function broughtByStep(definition: Definition): Promise<void> {
  const params = { definition: definition as unknown as Json };
  const { result } = await attacked.harness.run(
    once('brings', [{ type: 'command', command: 'sentinel/run', params, outputTo: 'run' }]),
  );
  await attacked.harness.result((result.outputs['run'] as { handle: string }).handle);
}

async function startedOf(name: string): Promise<void> {
  const { handle } = JSON.parse(textOf(await agent.call('run_sentinel', { name }))) as { handle: string };
  expect(await attacked.harness.result(handle)).toMatchObject({ outcome: 'completed' });
}

const textOf = (said: string): string => (JSON.parse(said) as { text: string }[]).map(({ text }) => text).join('');

test.each([
  ['a model', 'by-model', broughtByModel],
  ['a step', 'by-step', broughtByStep],
])('what %s brought is started by no agent, neither by its id nor by a reference', async (_who, name, bring) => {
  const definition = writes(name);
  const id = contentHash(definition);
  await bring(definition);
  expect(await written(name)).toBe(1);
  expect(await agent.call('list_runs', {})).toContain(id);
  expect(await agent.call('run_sentinel', { name: id })).toMatch(/^refused: .*no definition/);
  await expect(agent.read(`sentinel://definitions/${id}`)).rejects.toThrow('no saved sentinel');
  await attacked.harness.store.definitions.publish(refers(`refers-${name}`, id));
  expect(await agent.call('run_sentinel', { name: `refers-${name}` })).toMatch(/^refused: .*no definition/);
  const around = refers(`around-${name}`, `refers-${name}`);
  await attacked.harness.store.definitions.publish(around);
  expect(await agent.call('run_sentinel', { name: around.name })).toMatch(/^refused: .*no definition/);
  expect(await written(name)).toBe(1);
  // A person's word makes it anybody's.
  await attacked.harness.store.definitions.publish(definition);
  for (const saved of [name, id, `refers-${name}`, around.name]) await startedOf(saved);
  expect(await written(name)).toBe(5);
  expect(await agent.read(`sentinel://definitions/${id}`)).toContain(name);
  // What a person has forgotten is saved no more.
  await attacked.harness.store.definitions.forget(name);
  for (const forgotten of [name, id])
    expect(await agent.call('run_sentinel', { name: forgotten })).toMatch(/^refused: .*no definition/);
});

test('an agent starts files of the project, and what they refer to', async () => {
  const folder = join(attacked.harness.project, 'sentinels');
  mkdirSync(folder, { recursive: true });
  for (const definition of [writes('in-file'), refers('names-file', 'in-file')])
    writeFileSync(join(folder, `${definition.name}.json`), JSON.stringify(definition));
  await startedOf('in-file');
  await startedOf('names-file');
  expect(await written('in-file')).toBe(2);
});

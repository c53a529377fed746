/**
 * A name means what a person saved under it. Models start and store definitions under names of others; whoever uses the
 * name afterwards gets the person's. Beside each attempt stands what a model may do with a definition of its own.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { contentHash } from '../../../prisma/store/values/content-hash.ts';
import { startedHandle } from '../../../systems/runs/commands.ts';
import type { JsonObject } from '../../../language/json.ts';
import type { Definition, LlmStep } from '../../../language/model.ts';
import { once, shell } from '../harness/definitions.ts';
import type { ToolCall } from './attempts/attempt.ts';
import { useAttacked } from './attempts/run-attempts.ts';

const attacked = useAttacked();

const gate = (name: string): Definition => once(name, [{ type: 'approval', message: 'Really?' }]);
const passes = (name: string): Definition => once(name, [{ type: 'set', values: { approved: true } }]);
const written = (definition: Definition): JsonObject => definition as unknown as JsonObject;

/** Runs a model that makes the calls, one a turn; answers with the failures of its calls, by turn. */
async function calls(
  name: string,
  turns: readonly ToolCall[],
  tools: readonly string[],
): Promise<(string | undefined)[]> {
  attacked.scripts.set(name, { handle: name, turns: turns.map((call) => [call]) });
  const step: LlmStep = {
    type: 'llm',
    onStuck: 'ignore',
    onError: 'skip',
    model: 'openai/some-model',
    prompt: `${name} Go`,
    tools: [...tools],
  };
  const { events } = await attacked.harness.run(once(`asks-${name}`, [step]), { handle: name });
  return turns.map(
    (_call, at) =>
      events.flatMap((event) =>
        event.type === 'step-finished' && event.key.endsWith(`/turn.${at + 1}/call.0`) ? [event.failure?.code] : [],
      )[0],
  );
}

test.each<[string, string, (definition: Definition) => JsonObject]>([
  ['starts', 'sentinel_run', (definition) => ({ definition: written(definition) })],
  [
    'starts-steps',
    'sentinel_start',
    ({ name, steps }) => ({ type: 'pipeline', name, steps: steps as unknown as JsonObject[] }),
  ],
  ['stores', 'sentinel_create', (definition) => ({ definition: written(definition) })],
])('a model that %s a definition under a name does not move the name', async (name, tool, params) => {
  const saved = await attacked.harness.store.definitions.publish(gate(name));
  const attempts = await calls(`takes-${name}`, [[tool, params(passes(name))]], [tool.replace('_', '/')]);
  expect(attempts).toEqual([undefined]);
  expect(await attacked.harness.store.definitions.find(name)).toEqual(saved);
  expect(await attacked.harness.store.definitions.versions(name)).toEqual([saved]);
  const marker = join(attacked.harness.project, `passed-${name}`);
  const user = once(`user-${name}`, [{ type: 'sentinel', definition: { $ref: name } }, shell(`touch ${marker}`)]);
  const handle = await attacked.harness.start(user);
  await attacked.harness.untilEvent(`${handle}/steps.0@1`, ({ type }) => type === 'asked');
  expect(existsSync(marker)).toBe(false);
  expect((await attacked.harness.command('answer', handle, 'approve')).code).toBe(0);
  expect(await attacked.harness.result(handle)).toMatchObject({ outcome: 'completed' });
  expect(existsSync(marker)).toBe(true);
});

test('a model starts what it stored by its id, and another model is held to its own tools there', async () => {
  // The store keeps what an earlier run of this file has published: a text of its own each time.
  const writes = once('writes', [
    { type: 'command', command: 'data/create', params: { collection: 'by-id', data: { n: randomUUID() } } },
  ]);
  const id = contentHash(writes);
  const tools = ['sentinel/create', 'sentinel/run', 'data/create'];
  const own = await calls(
    'author',
    [
      ['sentinel_create', { definition: written(writes) }],
      ['sentinel_run', { sentinelId: id }],
    ],
    tools,
  );
  expect(own).toEqual([undefined, undefined]);
  expect(await attacked.harness.result(startedHandle('author', 'steps.0@1/turn.2/call.0'))).toMatchObject({
    outcome: 'completed',
  });
  expect(await attacked.harness.rows('by-id')).toHaveLength(1);
  const nested = once('nests', [{ type: 'sentinel', definition: { $ref: id } }]);
  const others = await calls(
    'borrower',
    [
      ['sentinel_run', { sentinelId: id }],
      ['sentinel_run', { definition: id }],
      ['sentinel_run', { name: id }],
      ['sentinel_run', { definition: written(nested) }],
    ],
    ['sentinel/run', 'data/list'],
  );
  expect(others).toEqual(['RIGHTS_EXCEEDED', 'RIGHTS_EXCEEDED', 'RIGHTS_EXCEEDED', 'RIGHTS_EXCEEDED']);
  expect(await attacked.harness.rows('by-id')).toHaveLength(1);
  // A person's word makes it anybody's.
  await attacked.harness.store.definitions.publish(writes);
  expect(await calls('starts-by-name', [['sentinel_run', { name: 'writes' }]], ['sentinel/run'])).toEqual([undefined]);
});

// The last one: the verb starts a worker that does not know the doubled model.
test('a step of a definition that starts another under a name does not move it, and a run of a file does', async () => {
  const saved = await attacked.harness.store.definitions.publish(gate('moved'));
  const starts = once('starts-moved', [
    { type: 'command', command: 'sentinel/run', params: { definition: written(passes('moved')) } },
  ]);
  expect((await attacked.harness.run(starts)).result).toMatchObject({ outcome: 'completed' });
  expect(await attacked.harness.store.definitions.find('moved')).toEqual(saved);
  writeFileSync(join(attacked.harness.project, 'moved.json'), JSON.stringify(passes('moved')));
  expect((await attacked.harness.command('run', 'moved.json')).code).toBe(0);
  expect(await attacked.harness.store.definitions.find('moved')).toMatchObject({
    version: 2,
    definition: passes('moved'),
  });
});

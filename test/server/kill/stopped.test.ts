/**
 * A worker that stands still for longer than heartbeats and workflow tasks may is alive: nobody gives its work back as
 * lost, in no kind of step, and once it goes on, each run ends as if nothing had been.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SentinelClient } from '../../../client/client.ts';
import { defined } from '../../../language/defined.ts';
import type { Definition, Step } from '../../../language/model.ts';
import { create, once, shell } from '../harness/definitions.ts';
import { giveBack } from '../harness/give-back.ts';
import { Harness, until } from '../harness/harness.ts';
import { holdTable } from '../harness/held-table.ts';
import { ModelDouble } from '../harness/models/model-double.ts';
import { answers } from '../harness/models/model-runs.ts';

/** A missed heartbeat takes 15 s, a workflow task 10 s. */
const STILL_MS = 25_000;

let harness: Harness;
let client: SentinelClient;
let model: ModelDouble;
beforeAll(async () => {
  harness = await Harness.open();
  client = new SentinelClient({ env: harness.env, startsServices: false });
  model = await new ModelDouble().open();
  writeFileSync(
    join(harness.project, 'sentinel.config.ts'),
    `import { appendFileSync, existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { defineCommand, z } from 'sentinel-engine/commands';
export default {
  commands: [
    defineCommand({
      name: 'own/hold', description: 'Waits.', permission: 'read', speed: 'long',
      params: z.strictObject({}), result: z.null(),
      run: async (_params, { project }) => {
        appendFileSync(project + '/begun', 'command\\n');
        while (!existsSync(project + '/go')) await sleep(100);
        return null;
      },
    }),
  ],
};
`,
  );
});
afterAll(async () => {
  await client.close();
  await harness.close();
  await model.close();
});

const begunIn = (name: string): number => {
  const path = join(harness.project, 'begun');
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
  return lines.filter((line) => line === name).length;
};
const held = (name: string): Step => shell(`echo ${name} >> begun; until [ -e go ]; do sleep 0.2; done`);
const command = (name: string, params: object = {}, outputTo?: string): Step =>
  ({ type: 'command', command: name, params, ...defined({ outputTo }) }) as Step;
const ended = (kind: string): Step => create('ended', { kind });

const runs: { readonly [kind: string]: Step[] } = {
  shell: [held('shell')],
  command: [command('own/hold')],
  model: [{ type: 'llm', model: 'openai/some-model', prompt: 'Say it', onUnknown: 'retry', outputTo: 'answer' }],
  nested: [{ type: 'sentinel', definition: once('inner', [held('nested'), create('inner', { it: 'ended' })]) }],
  branches: [{ type: 'parallel', branches: [[held('branch')], [held('branch')]] }],
  background: [
    command(
      'code/shell/execute',
      { command: `${(held('background') as { command: string }).command}; echo ready; sleep 60`, wait: false },
      'process',
    ),
    {
      type: 'watch',
      executionId: '$process.executionId',
      rules: [{ pattern: 'ready', classification: 'ready' }],
      until: 'match',
      timeoutMs: 300_000,
    } as unknown as Step,
  ],
  watch: [{ type: 'watch', event: 'stopped:go' }],
  sleep: [{ type: 'sleep', durationMs: STILL_MS / 2 }],
  question: [{ type: 'approval', message: 'Go on?' }],
};

/** With the commands of the project. */
const start = async (definition: Definition): Promise<string> =>
  (await client.start(definition, { project: harness.project })).handle;

const definitionOf = (kind: string): Definition => once(kind, [...(runs[kind] ?? []), ended(kind)]);

test('in every kind of step: nothing of it is given back, and each run ends once', async () => {
  const worker = await harness.startWorker({ ...model.env, SENTINEL_PROJECT: harness.project });
  // It comes while the worker stands still; what is asked again is answered at once.
  model.next({ ...answers('Said.'), silentMs: STILL_MS / 2 }, answers('Said.'));
  const handles = new Map<string, string>();
  for (const kind of Object.keys(runs)) handles.set(kind, await start(definitionOf(kind)));
  await until(() => ['shell', 'command', 'nested', 'background'].every((name) => begunIn(name) === 1));
  await until(() => begunIn('branch') === 2 && model.double.asked.length > 0);
  await harness.untilEvent(handles.get('question') ?? '', ({ type }) => type === 'asked');
  const table = await holdTable(harness, 'records');
  handles.set('segment', await start(once('segment', [ended('segment')])));
  await until(() => table.isAwaited());

  worker.signal('SIGSTOP');
  const answered = client.answer(handles.get('question') ?? '', { choice: 'approve', by: 'tester' });
  await client.emit('stopped:go');
  expect(await giveBack(harness)).toEqual([]);
  await sleep(STILL_MS);
  expect(await giveBack(harness)).toEqual([]);
  expect(await giveBack(harness, true)).toEqual([]);
  worker.signal('SIGCONT');
  await table.letGo();
  writeFileSync(join(harness.project, 'go'), '');

  for (const [kind, handle] of handles)
    expect([kind, await harness.result(handle)]).toMatchObject([kind, { outcome: 'completed' }]);
  await answered;
  const rows = await harness.rows('ended');
  expect(rows).toHaveLength(handles.size);
  expect(new Set(rows.map(({ kind }) => kind))).toEqual(new Set(handles.keys()));
  expect(await harness.rows('inner')).toHaveLength(1);
  // A process outlives an attempt: none was begun again.
  expect(['shell', 'nested', 'branch', 'background'].map(begunIn)).toEqual([1, 1, 2, 1]);
  expect(worker.isAlive).toBe(true);
  await worker.stop();
}, 240_000);

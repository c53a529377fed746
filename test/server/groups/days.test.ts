/** A persona's budget of a day on real services: what is spent is waited for, over the death of a worker, and nothing fails. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Definition, Step } from '../../../language/model.ts';
import type { Position } from '../../../interpreter/position.ts';
import type { JsonObject } from '../../../language/json.ts';
import { dayAt } from '../../../language/references/days.ts';
import { perform } from '../../../operations/perform.ts';
import type { RunPort } from '../../../operations/command.ts';
import { runController } from '../../../runs/run-controller.ts';
import { builtInRegistry } from '../../../systems/built-in.ts';
import { QUERIES } from '../../../workflows/messages/messages.ts';
import { once } from '../harness/definitions.ts';
import { Harness, until } from '../harness/harness.ts';
import { answers, calls, ScriptedModel } from '../harness/models/model-runs.ts';
import type { WorkerProcess } from '../harness/worker-process.ts';

let harness: Harness;
let worker: WorkerProcess;
let model: ScriptedModel;
/** Who has been asked; they are answered once as many have. */
const asked: string[] = [];
let together = 1;

beforeAll(async () => {
  harness = await Harness.open();
  model = await new ScriptedModel(({ name, turn }) => {
    asked.push(`${name} ${turn}`);
    const said = turn === 1 ? calls({ id: 'one', name: 'data_list', input: { collection: 'none' } }) : answers('done');
    return { ...said, after: until(() => asked.length >= together) };
  }).open();
  worker = await harness.startWorker(model.env);
});
afterAll(async () => {
  await harness.close();
  await model.close();
});

let count = 0;
async function person(command: string, params: JsonObject): Promise<JsonObject> {
  count += 1;
  const runs = runController(harness.client) as unknown as RunPort;
  const parts = { store: harness.store, registry: builtInRegistry(), runs };
  const call = { command: `persona/${command}`, params, by: 'ada', project: harness.project };
  return (await perform(parts, { ...call, id: `call ${count}`, timeoutMs: 30_000 })) as JsonObject;
}

/** Each line once: a step that is begun twice is two. */
const did = (): string[] => {
  const file = join(harness.project, 'did');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
};
const note = (word: string): Step => ({ type: 'shell', command: `echo ${word} >> did` });

const waiting = async (personaId: string): Promise<string[]> =>
  (await person('show', { personaId }))['waitsForBudget'] as string[];

test('runs of a persona whose steps are spent wait, also nested ones, over a kill, and go on once it has more', async () => {
  await person('create', { personaId: 'day-ai', budgetSteps: 2, timeZone: 'Asia/Kathmandu' });
  const inner: Definition = once('inner', [note('b'), note('c')]);
  const outer = once('outer', [note('a'), { type: 'sentinel', definition: inner }, note('d')]);
  const handle = await harness.start({ ...outer, timeoutMs: 600_000 }, { persona: 'day-ai' });
  await until(async () => (await waiting('day-ai')).length === 1);
  expect(did()).toEqual(['a', 'b']);
  const [nested = ''] = await waiting('day-ai');
  expect(nested.startsWith(`${handle}/`)).toBe(true);
  // The run around stands still with it, and has no wait of its own.
  const around = (): Promise<Position> => harness.workflow(handle).query<Position>(QUERIES.position);
  await until(async () => (await around()).still?.withNested === true);
  expect((await harness.state(handle)).reason).toBe(
    'stands still with a nested run that waits for the budget of day-ai',
  );
  const second = await harness.start(once('second', [note('e')]), { persona: 'day-ai' });
  await until(async () => (await waiting('day-ai')).length === 2);

  const day = dayAt(Date.now(), 'Asia/Kathmandu');
  const moment = new Date(day.until).toISOString();
  expect(await person('show', { personaId: 'day-ai' })).toMatchObject({
    budget: { steps: 2, usd: null, timeZone: 'Asia/Kathmandu', used: { steps: 2 }, until: day.until },
    waitsForBudget: [nested, second],
    text: expect.stringContaining(`budget: 2 of 2 steps used until ${moment} (Asia/Kathmandu)`) as string,
  });
  const status = JSON.parse((await harness.command('status', second, '--json')).out) as { waits: object[] };
  expect(status.waits).toMatchObject([{ for: 'the budget of day-ai', until: moment }]);
  expect((await harness.command('status', second)).out).toContain('waiting for the budget of day-ai until');
  expect((await harness.command('list')).out).toContain(`running, waits for the budget of day-ai until ${moment}`);
  expect((await harness.state(second)).reason).toBe(`waits for the budget of day-ai until ${moment}`);

  await worker.kill9();
  worker = await harness.startWorker(model.env);
  await person('limit', { personaId: 'day-ai', budgetSteps: 3 });
  // One of the two goes on, and the other waits again.
  await until(() => did().length === 3);
  await until(async () => (await waiting('day-ai')).length > 0);
  await person('limit', { personaId: 'day-ai', budgetSteps: 100 });
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  expect(await harness.result(second)).toMatchObject({ outcome: 'completed' });
  expect(did().toSorted()).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(await waiting('day-ai')).toEqual([]);
  const { used } = (await person('show', { personaId: 'day-ai' }))['budget'] as { used: JsonObject };
  expect(used['steps']).toBe(5);
  for (const one of [handle, second, nested]) {
    expect(await harness.store.incidents.find({ handle: one })).toEqual([]);
    expect(await harness.store.events.waits(one, Date.now())).toEqual([]);
  }
});

test('what cleans up is not held back, nor are the runs nested in it', async () => {
  await person('create', { personaId: 'clean-ai', budgetSteps: 1, timeZone: 'UTC' });
  const quick: Step = { type: 'command', command: 'data/list', params: { collection: 'none' } };
  const innermost = once('innermost', [note('tidy'), quick, { type: 'emit', event: 'tidied' }]);
  const inner = once('inner', [note('clean'), { type: 'sentinel', definition: innermost }]);
  const outer = once('cleans-up', [note('work')]);
  const handle = await harness.start(
    { ...outer, always: [{ type: 'sentinel', definition: inner }] },
    { persona: 'clean-ai' },
  );
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  expect(did().slice(-3)).toEqual(['work', 'clean', 'tidy']);
  const { used } = (await person('show', { personaId: 'clean-ai' }))['budget'] as { used: JsonObject };
  expect(used['steps']).toBe(5);
});

const asks = (name: string): Definition =>
  once(name, [{ type: 'llm', model: 'openai/some-model', prompt: 'go', tools: ['data/list'], timeoutMs: 60_000 }]);

test('two runs that race overspend tokens by the turns that are under way, and then wait', async () => {
  await person('create', { personaId: 'token-ai', budgetTokens: 1, timeZone: 'UTC' });
  asked.length = 0;
  together = 2;
  const handles = await Promise.all(
    ['left', 'right'].map((name) => harness.start(asks(name), { persona: 'token-ai' })),
  );
  await until(async () => (await waiting('token-ai')).length === 2);
  expect(asked).toHaveLength(2);
  const { used } = (await person('show', { personaId: 'token-ai' }))['budget'] as { used: { tokens: number } };
  const { total } = await harness.store.spending.sum({ persona: 'token-ai', by: 'run' });
  expect(used.tokens).toBe(total.input + total.output + total.cacheRead + total.cacheWrite);
  expect(total.requests).toBe(2);
  await person('limit', { personaId: 'token-ai', budgetTokens: null });
  for (const handle of handles) expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  expect(asked).toHaveLength(4);
});

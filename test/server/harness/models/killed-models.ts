/**
 * Runs of 20 turns and 20 calls, which lose their worker once, each at another moment of its life: what was
 * paid, what was called, and what was said of it, beside a run that nothing disturbed.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Definition } from '../../../../language/model.ts';
import { create, once } from '../definitions.ts';
import { until, type Harness } from '../harness.ts';
import { answers, calls, ScriptedModel, type Call } from './model-runs.ts';

const turns = 20;
/** What a run takes that nothing disturbs, in milliseconds; kills fall into that time. */
const lifeMs = 6000;

const read = (id: string): Call => ({ id, name: 'code_read', input: { path: 'a.txt' } });

/** Every second turn appends a line, which nobody may do twice without a word; the fifth calls twice, and the last nothing. */
function callsOf(name: string, turn: number): Call[] {
  if (turn === turns) return [];
  const append: Call = {
    id: `append-${turn}`,
    name: 'code_shell_execute',
    input: { command: `echo ${turn} >> ${name}.log; sleep 0.05; echo done` },
  };
  if (turn === 5) return [read('read-5'), read('again-5')];
  return [turn % 2 === 0 ? append : read(`read-${turn}`)];
}

export const openModel = (): Promise<ScriptedModel> =>
  new ScriptedModel(({ name, turn }) => {
    const list = callsOf(name, turn);
    return { ...(list.length === 0 ? answers(`${name.slice(0, 3)} is done`) : calls(...list)), silentMs: 60 };
  }).open();

export const definition = (name: string): Definition =>
  once('killed', [
    {
      type: 'llm',
      model: 'openai/some-model',
      prompt: `${name} Go on until it is done`,
      tools: ['code/read', 'code/shell/execute'],
      onUnknown: 'retry',
      outputTo: 'answer',
    },
    create('ends', { name, turns: '$answer.turns', calls: '$answer.toolCalls', usage: '$answer.usage.tokens' }),
  ]);

interface Ended {
  name: string;
  handle: string;
  /** Turns whose answer was kept before the worker died. */
  answered: Set<number>;
}

const linesOf = (harness: Harness, name: string): number[] =>
  readFileSync(join(harness.project, `${name}.log`), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map(Number);

/** `moments`: of each run's life, from 0 to 1, when the worker that they share is killed. */
export async function killAt(
  harness: Harness,
  model: ScriptedModel,
  batch: string,
  moments: readonly number[],
): Promise<{ repeatedTurns: number; repeatedCalls: number }> {
  writeFileSync(join(harness.project, 'a.txt'), 'what a says');
  const worker = await harness.startWorker(model.env);
  const begun = Date.now();
  const runs = await Promise.all(
    moments
      .toSorted((a, b) => b - a)
      .map(async (moment, index): Promise<Ended> => {
        const name = `run-${batch}-${index}`;
        await sleep((1 - moment) * lifeMs);
        return { name, handle: await harness.start(definition(name)), answered: new Set() };
      }),
  );
  await sleep(Math.max(0, begun + lifeMs - Date.now()));
  await worker.kill9();
  for (const run of runs) {
    const kept = await harness.store.conversations.turns(run.handle);
    run.answered = new Set(kept.filter(({ answer }) => answer !== null).map(({ turn }) => turn));
  }
  const next = await harness.startWorker(model.env);
  let repeatedTurns = 0;
  let repeatedCalls = 0;
  for (const run of runs) {
    const repeated = await heldAgainstUndisturbed(harness, model, run);
    repeatedTurns += repeated.turns;
    repeatedCalls += repeated.calls;
  }
  await next.kill9();
  return { repeatedTurns, repeatedCalls };
}

async function heldAgainstUndisturbed(
  harness: Harness,
  model: ScriptedModel,
  { name, handle, answered }: Ended,
): Promise<{ turns: number; calls: number }> {
  const result = await harness.result(handle);
  expect(result, name).toMatchObject({ outcome: 'completed', outputs: { answer: 'run is done' } });
  const paid = model.paid.get(name) ?? [];
  expect(paid, name).toHaveLength(turns);
  for (const turn of answered) expect(paid[turn - 1], `${name} turn ${turn}`).toBe(1);
  const extra = paid.reduce((sum, count) => sum + count - 1, 0);
  expect(extra, name).toBeLessThanOrEqual(1);
  const lines = linesOf(harness, name);
  const every = Array.from({ length: turns - 1 }, (_, n) => n + 1).filter((turn) => turn % 2 === 0);
  expect(new Set(lines), name).toEqual(new Set(every));
  const twice = lines.length - every.length;
  const said = (await harness.events(handle)).flatMap((event) =>
    event.type === 'warning' && event.code === 'CALL_REPEATED' ? [event.key] : [],
  );
  // The calls that read are repeated together, and do nothing.
  const saidOfAppends = said.filter((key) => Number(/turn\.(\d+)/.exec(key)?.[1]) % 2 === 0);
  expect(twice, `${name}: ${said.join(' ')}`).toBeLessThanOrEqual(saidOfAppends.length);
  expect(new Set(said.map((key) => key.split('/call')[0])).size, said.join(' ')).toBeLessThanOrEqual(1);
  expect(await endOf(harness, name), name).toEqual(await endOf(harness, undisturbed));
  return { turns: extra, calls: twice };
}

/** What the run came to, without its own name. */
async function endOf(harness: Harness, name: string): Promise<unknown> {
  const ends = (await harness.rows('ends')).filter((row) => row['name'] === name);
  expect(ends).toHaveLength(1);
  return JSON.parse(JSON.stringify(ends).replaceAll(name, ''));
}

const undisturbed = 'run-undisturbed';

/** The run that the others are held against; it pays each turn once, too. */
export async function runUndisturbed(harness: Harness, model: ScriptedModel): Promise<void> {
  writeFileSync(join(harness.project, 'a.txt'), 'what a says');
  const worker = await harness.startWorker(model.env);
  const handle = await harness.start(definition(undisturbed));
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed', outputs: { answer: 'run is done' } });
  await until(async () => (await harness.rows('ends')).length === 1);
  expect(model.paid.get(undisturbed)).toEqual(Array.from({ length: turns }, () => 1));
  expect(linesOf(harness, undisturbed)).toHaveLength(9);
  const [end] = await harness.rows('ends');
  expect(end).toMatchObject({ turns: 20 });
  expect(end?.['calls']).toHaveLength(20);
  await worker.kill9();
}

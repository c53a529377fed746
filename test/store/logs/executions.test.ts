/** Executions: who may write them, which lines are kept, and how they change hands. */
import { expect, test } from 'vitest';
import type { ExecutionLine } from '../../../prisma/store/contract/execution-contract.ts';
import { finished, started, useStore } from '../harness/opened.ts';

const opened = useStore();

const lines = (from: number, to: number): ExecutionLine[] =>
  Array.from({ length: to - from + 1 }, (_, index) => ({
    n: from + index,
    stream: 'stdout',
    text: `line ${from + index}`,
    at: 1,
  }));

const numbers = (kept: ExecutionLine[]): number[] => kept.map((line) => line.n);

async function begin(id: string) {
  const { executions } = opened.store;
  return (await executions.begin({ id, handle: 'run', key: 'steps.0@1', request: { command: 'x' }, worker: 'w1' }))
    .execution;
}

test('beginning twice is beginning once', async () => {
  const first = await begin('twice');
  const { isNew, execution } = await opened.store.executions.begin({
    id: 'twice',
    handle: 'run',
    key: 'other',
    request: {},
    worker: 'w2',
  });
  expect(isNew).toBe(false);
  expect(execution).toEqual(first);
  expect(first).toMatchObject({ attempt: 1, isRunning: true, exitCode: null, rules: null, lines: 0 });
});

test('lines are read after any line, and writing them again changes nothing', async () => {
  const { executions } = opened.store;
  const execution = await begin('lines');
  for (const batch of [lines(1, 3), lines(4, 4), lines(4, 4), lines(5, 9)]) await executions.append(execution, batch);
  expect(numbers(await executions.lines('lines', 0))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(numbers(await executions.lines('lines', 6))).toEqual([7, 8, 9]);
  expect((await executions.find('lines'))?.lines).toBe(9);
});

test('of very many lines the first and the latest are kept', async () => {
  const { executions } = opened.store;
  const execution = await begin('many');
  for (let from = 1; from <= 30_000; from += 500) await executions.append(execution, lines(from, from + 499));
  const kept = numbers(await executions.lines('many', 0));
  expect(kept.length).toBeGreaterThanOrEqual(20_000);
  expect(kept.length).toBeLessThan(21_000);
  expect(kept.slice(0, 1000)).toEqual(numbers(lines(1, 1000)));
  expect(kept.slice(-19_000)).toEqual(numbers(lines(11_001, 30_000)));
});

test('who takes over starts from nothing, and who held it before writes no more', async () => {
  const { executions } = opened.store;
  const first = await begin('over');
  await executions.append(first, lines(1, 5));
  const second = await executions.takeOver(first, 'w2');
  expect(second).toMatchObject({ attempt: 2, worker: 'w2', lines: 0, isRunning: true });
  expect(await executions.takeOver(first, 'w3')).toBeNull();
  expect(await executions.append(first, lines(6, 7))).toBeNull();
  expect(await executions.started(first, 1)).toBe(false);
  await executions.finish(first, { exitCode: 1, signal: null });
  expect(await executions.renew([first])).toEqual([]);
  expect(await executions.lines('over', 0)).toEqual([]);
  if (second === null) throw new Error('nobody took over');
  expect(await executions.append(second, lines(1, 2))).toEqual({ rules: [] });
  await executions.finish(second, { exitCode: 0, signal: null });
  expect(await executions.find('over')).toMatchObject({ isRunning: false, exitCode: 0, lines: 2 });
  expect(await executions.takeOver(second, 'w4')).toBeNull();
});

test('rules are told with every write', async () => {
  const { executions } = opened.store;
  const execution = await begin('rules');
  const rules = [{ pattern: 'x', classification: 'error', action: 'Emit' }];
  expect(await executions.setRules('rules', rules)).toMatchObject({ rules });
  expect(await executions.append(execution, lines(1, 1))).toEqual({ rules });
  expect(await executions.setRules('nobody', rules)).toBeNull();
});

test('a listener hears of lines, of the end, and of a new start', async () => {
  const { executions } = opened.store;
  const execution = await begin('heard');
  const subscription = executions.listen('heard');
  const soon = AbortSignal.timeout(4_000);
  // The first announcement may come before the connection listens; then it hears that by itself.
  await executions.append(execution, lines(1, 1));
  await subscription.next(soon);
  await executions.takeOver(execution, 'w2');
  expect(await subscription.next(soon)).toBe('announced');
  await executions.finish({ id: 'heard', attempt: 2 }, { exitCode: 0, signal: null });
  expect(await subscription.next(soon)).toBe('announced');
  expect(soon.aborted).toBe(false);
  subscription.close();
});

test('what runs is listed with its run, and is gone a day after the run has ended', async () => {
  const { executions, events } = opened.store;
  await events.append('ended', [started(1)]);
  const { execution } = await executions.begin({ id: 'ended-1', handle: 'ended', key: 'k', request: {}, worker: 'w' });
  const mine = async () => (await executions.running()).find((running) => running.id === 'ended-1');
  expect(await mine()).toMatchObject({ hasRunEnded: false, worker: 'w' });
  await events.append('ended', [finished(2)]);
  expect(await mine()).toMatchObject({ hasRunEnded: true });
  await executions.release(execution);
  expect((await mine())?.silentMs).toBeGreaterThan(1e12);
  // The run of these tests ended on a day long past.
  await executions.sweep();
  expect(await executions.find('ended-1')).toBeNull();
});

/** What models cost: a row a request, summed in one query, with what is not known beside the sum. */
import { beforeAll, expect, test } from 'vitest';
import type { AnswerTaken } from '../../../prisma/store/contract/models/conversation-contract.ts';
import type { CostGroup, Spent } from '../../../prisma/store/contract/models/spending-contract.ts';
import { useStore } from '../harness/opened.ts';
import { defined } from '../../../language/defined.ts';

const opened = useStore();

const spent = (model: string, input: number, output: number, usd: number | null): Spent => ({
  model,
  tokens: { input, output, cacheRead: 100, cacheWrite: 0, thinking: 1, estimated: false },
  usd,
});

async function run(handle: string, name: string, persona = 'ada'): Promise<void> {
  const created = await opened.store.runs.create({
    handle,
    name,
    definitionHash: 'none',
    project: '/p',
    persona,
    parent: handle.includes('/') ? handle.slice(0, handle.lastIndexOf('/')) : null,
    inputs: {},
    startedAt: 0,
  });
  expect(created).toBe(true);
}

const taken = (attempt: string, cost: Spent): AnswerTaken => ({
  attempt,
  spent: cost,
  asked: { asker: attempt, requests: [] },
});

async function answered(
  handle: string,
  conversation: string,
  turn: number,
  attempt: string,
  cost: Spent,
): Promise<void> {
  const of = { handle, conversation };
  await opened.store.conversations.claim(of, turn, attempt);
  await opened.store.conversations.answer(of, turn, {}, { role: 'assistant', blocks: [] }, taken(attempt, cost));
}

beforeAll(async () => {
  const { store } = opened;
  await run('one', 'review');
  await run('one/steps.2@1', 'lint');
  // Another run whose handle begins alike is none of its tree.
  await run('one-more', 'review', 'ben');
  await answered('one', 'steps.0@1', 1, 'steps.0@1/turn.1 1', spent('a/big', 1000, 10, 0.5));
  await answered('one', 'steps.0@2', 1, 'steps.0@2/turn.1 1', spent('a/big', 1000, 10, 0.25));
  await store.conversations.claim({ handle: 'one', conversation: 'steps.0@2' }, 2, 'first');
  await store.spending.failed(
    { handle: 'one', conversation: 'steps.0@2', turn: 2, attempt: 'first' },
    spent('a/big', 7, 3, 0.125),
  );
  await answered('one', 'steps.0@2', 2, 'second', spent('a/big', 1, 1, 0.125));
  // The first attempt of this one was lost with its worker.
  await store.conversations.claim({ handle: 'one/steps.2@1', conversation: 'steps.0@1' }, 1, 'lost');
  await answered('one/steps.2@1', 'steps.0@1', 1, 'again', spent('b/unknown', 50, 50, null));
  await answered('one-more', 'steps.0@1', 1, 'x', spent('b/small', 5, 5, 0));
  // Under way.
  await store.conversations.claim({ handle: 'one-more', conversation: 'steps.0@1' }, 2, 'y');
});

test('a tree is summed with its nested runs, failed attempts and lost ones', async () => {
  const { total, rows } = await opened.store.spending.sum({ handle: 'one', by: 'run' });
  expect(total).toEqual({
    requests: 6,
    failed: 1,
    lost: 1,
    estimated: 0,
    input: 2058,
    output: 74,
    cacheRead: 500,
    cacheWrite: 0,
    thinking: 5,
    usd: 1,
    unpricedTokens: 200,
  });
  expect(rows.map(({ group, usd, requests }) => [group, usd, requests])).toEqual([
    ['one', 1, 4],
    ['one/steps.2@1', 0, 2],
  ]);
});

async function groups(by: CostGroup, handle?: string): Promise<unknown[]> {
  const { rows, total } = await opened.store.spending.sum({ by, ...defined({ handle }) });
  expect(rows.reduce((sum, { usd }) => sum + usd, 0)).toBe(total.usd);
  expect(rows.reduce((sum, { requests }) => sum + requests, 0)).toBe(total.requests);
  return rows.map(({ group, usd }) => [group, usd]);
}

test('sums by model, sentinel, day, step and persona agree with the total', async () => {
  const today = new Date().toISOString().slice(0, 10);
  expect(await groups('model')).toEqual([
    ['a/big', 1],
    ['b/unknown', 0],
    ['b/small', 0],
    ['', 0],
  ]);
  expect(await groups('sentinel')).toEqual([
    ['review', 1],
    ['lint', 0],
  ]);
  expect(await groups('day')).toEqual([[today, 1]]);
  expect(await groups('persona')).toEqual([
    ['ada', 1],
    ['ben', 0],
  ]);
  expect(await groups('step')).toEqual([
    ['review steps.0', 1],
    ['lint steps.0', 0],
  ]);
  expect(await groups('step', 'one')).toEqual([
    ['steps.0@2', 0.5],
    ['steps.0@1', 0.5],
    ['steps.2@1/steps.0@1', 0],
  ]);
});

test('only what is asked for is summed', async () => {
  const { store } = opened;
  expect((await store.spending.sum({ by: 'model', persona: 'ben' })).total).toMatchObject({ requests: 2, lost: 0 });
  expect(await store.spending.sum({ by: 'model', since: Date.now() + 60_000 })).toMatchObject({
    rows: [],
    total: { requests: 0, usd: 0 },
  });
  expect((await store.spending.sum({ by: 'day', since: Date.now() - 60_000 })).total.requests).toBe(8);
});

test('an answer that came too late was paid for, too', async () => {
  await run('twice', 'review');
  await answered('twice', 'steps.0@1', 1, 'one', spent('a/big', 1, 1, 0.5));
  const of = { handle: 'twice', conversation: 'steps.0@1' };
  await opened.store.conversations.answer(
    of,
    1,
    {},
    { role: 'assistant', blocks: [] },
    taken('two', spent('a/big', 1, 1, 0.5)),
  );
  expect((await opened.store.spending.sum({ handle: 'twice', by: 'model' })).total).toMatchObject({
    requests: 2,
    usd: 1,
  });
});

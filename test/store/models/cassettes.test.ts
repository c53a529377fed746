/** Recorded requests are kept once and come back whole, and a replay gives each of them once. */
import { expect, test } from 'vitest';
import type { JsonObject } from '../../../language/json.ts';
import type { StoredRequest } from '../../../prisma/store/contract/models/cassette-contract.ts';
import type { AskedRequest } from '../../../prisma/store/contract/models/conversation-contract.ts';
import { useStore } from '../harness/opened.ts';

const opened = useStore();

const said = (text: string): JsonObject => ({ role: 'user', blocks: [{ type: 'text', text }] });
const request = (texts: string[], outcome: JsonObject = { reply: { text: 'ok' } }): AskedRequest => ({
  head: { asked: 'auto', settings: { system: 'the same for all' } },
  messages: texts.map(said),
  outcome,
});

async function requestsOf(handle: string): Promise<StoredRequest[]> {
  const found: StoredRequest[] = [];
  for await (const one of opened.store.cassettes.requests(handle)) found.push(one);
  return found;
}

async function count(table: string): Promise<number> {
  const [row] = await opened.database.query<{ count: number }>(`select count(*)::integer as count from ${table}`);
  return row?.count ?? 0;
}

test('requests come back whole and in order, and what a conversation repeats is kept once', async () => {
  const { cassettes } = opened.store;
  const texts = Array.from({ length: 120 }, (_, index) => `message ${index}`);
  const before = await count('request_messages');
  for (let turn = 1; turn <= 60; turn += 1)
    await cassettes.keep({ handle: 'long', conversation: 'steps.0@1', turn, asker: `turn.${turn}` }, [
      request(texts.slice(0, turn * 2)),
    ]);
  expect((await count('request_messages')) - before).toBe(120);
  const found = await requestsOf('long');
  // More than a page of them.
  expect(found).toHaveLength(60);
  expect(found[59]).toEqual({
    handle: 'long',
    conversation: 'steps.0@1',
    turn: 60,
    asker: 'turn.60',
    ...request(texts),
  });
  expect(found.map(({ turn }) => turn)).toEqual(Array.from({ length: 60 }, (_, index) => index + 1));
  expect(await cassettes.head({ handle: 'long', conversation: 'steps.0@1' })).toEqual(request([]).head);
  expect(await cassettes.head({ handle: 'long', conversation: 'steps.1@1' })).toBeNull();
});

test('what another attempt asked under the same key takes the place of what the lost one did', async () => {
  const { cassettes } = opened.store;
  const of = { handle: 'again', conversation: 'steps.0@1', turn: 1, asker: 'turn.1' };
  await cassettes.keep(of, [request(['a'], { failure: { kind: 'overloaded' } })]);
  await cassettes.keep({ ...of, asker: 'turn.1#2' }, [request(['a'], { failure: { kind: 'network' } })]);
  await cassettes.keep(of, [request(['a']), request(['b'])]);
  await cassettes.keep(of, []);
  expect((await requestsOf('again')).map(({ asker, outcome }) => [asker, Object.keys(outcome)[0]])).toEqual([
    ['turn.1#2', 'failure'],
    ['turn.1', 'reply'],
    ['turn.1', 'reply'],
  ]);
});

const taken = (attempt: string, text: string) => ({
  attempt,
  spent: null,
  asked: { asker: 'turn.1', requests: [request([text])] },
});

test('an answer and the requests that it took are kept together, of the attempt that counts', async () => {
  const { conversations } = opened.store;
  const of = { handle: 'answered', conversation: 'steps.0@1' };
  await conversations.claim(of, 1, 'one', { isRequest: false });
  await conversations.answer(of, 1, { by: 'one' }, said('one'), taken('one', 'asked by one'));
  await conversations.answer(of, 1, { by: 'two' }, said('two'), taken('two', 'asked by two'));
  expect((await requestsOf('answered')).map(({ messages }) => messages)).toEqual([[said('asked by one')]]);
  // Nobody was paid.
  expect((await opened.store.spending.sum({ handle: 'answered', by: 'run' })).total.requests).toBe(0);
});

test('a run has the requests of the runs below it, of those that a command started, too, and of no other', async () => {
  const { cassettes } = opened.store;
  const keep = (handle: string): Promise<void> =>
    cassettes.keep({ handle, conversation: 'steps.0@1', turn: 1, asker: 'turn.1' }, [request([handle])]);
  await cassettes.startedBy('run-1', 'tree/steps.2@1');
  await cassettes.startedBy('run-2', 'run-1/steps.0@1');
  const below = ['tree', 'tree/steps.2@1', 'run-1', 'run-2', 'run-2/steps.0@1'];
  for (const handle of [...below, 'tree-2', 'run-3']) await keep(handle);
  expect((await requestsOf('tree')).map(({ handle }) => handle)).toEqual(below);
  expect((await requestsOf('tree-2')).map(({ handle }) => handle)).toEqual(['tree-2']);
});

test('a run that is replayed says so of all that is below it, until its start is made anew', async () => {
  const { cassettes, runs } = opened.store;
  await cassettes.startedBy('run-9', 'replayed/steps.2@1');
  await cassettes.replay('replayed', 'hash');
  const replayed = { root: 'replayed', cassette: 'hash' };
  for (const handle of ['replayed', 'replayed/steps.2@1', 'run-9', 'run-9/steps.0@1'])
    expect(await cassettes.replayed(handle), handle).toEqual(replayed);
  expect(await cassettes.replayed('replayed-2')).toBeNull();
  await cassettes.replay('replayed', null);
  expect(await cassettes.replayed('replayed')).toBeNull();
  await cassettes.replay('replayed', 'hash');
  await runs.discard('replayed');
  expect(await cassettes.replayed('replayed')).toBeNull();
});

test('an entry is given once, and to the same claimant again and again', async () => {
  const { cassettes } = opened.store;
  expect(await cassettes.claim('root', 'one', [4, 2])).toBe(4);
  expect(await cassettes.claim('root', 'one', [2])).toBe(4);
  expect(await cassettes.claim('root', 'two', [4, 2])).toBe(2);
  expect(await cassettes.claim('root', 'three', [4, 2])).toBeNull();
  expect(await cassettes.claim('another', 'one', [4, 2])).toBe(4);
  const all = Array.from({ length: 20 }, (_, index) => index);
  const given = await Promise.all(all.map((one) => cassettes.claim('crowd', `claimant ${one}`, all)));
  expect(given.toSorted((a, b) => Number(a) - Number(b))).toEqual(all);
  const twice = await Promise.all(Array.from({ length: 10 }, () => cassettes.claim('twins', 'one', all)));
  expect(new Set(twice).size).toBe(1);
});

test('evaluations of a file are found, the newest first, and end once', async () => {
  const { evaluations } = opened.store;
  const first = await evaluations.begin('/p/a.json', 'content');
  const second = await evaluations.begin('/p/a.json', 'content');
  await evaluations.begin('/p/b.json', 'content');
  await evaluations.finish(first.id, { passed: 1 });
  await evaluations.finish(first.id, { passed: 2 });
  const found = await evaluations.list('/p/a.json', 10);
  expect(found.map(({ id, result }) => [id, result])).toEqual([
    [second.id, null],
    [first.id, { passed: 1 }],
  ]);
  expect(found.map(({ finishedAt }) => finishedAt !== null)).toEqual([false, true]);
  expect(await evaluations.list('/p/a.json', 1)).toHaveLength(1);
});

/** Conversations: linear in messages, and no turn paid twice. */
import { expect, test } from 'vitest';
import type { JsonObject } from '../../../language/json.ts';
import { besidesPart } from '../../../prisma/store/contract/models/conversation-contract.ts';
import { compactionKey } from '../../../language/models/turn-keys.ts';
import { useStore } from '../harness/opened.ts';

const opened = useStore();

const said = (text: string): JsonObject => ({ role: 'user', blocks: [{ type: 'text', text }] });
const spent = {
  attempt: 'one',
  spent: {
    model: 'openai/some-model',
    tokens: { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, thinking: 0, estimated: false },
    usd: 0.5,
  },
  asked: { asker: 'one', requests: [] },
};
const answered = (text: string): JsonObject => ({ role: 'assistant', blocks: [{ type: 'text', text }] });

async function rows(table: string, where: string): Promise<number> {
  const [row] = await opened.database.query<{ count: string }>(`select count(*) as count from ${table} where ${where}`);
  return Number(row?.count);
}

test('messages come back in the order of their places, byte for byte, up to a turn', async () => {
  const { conversations } = opened.store;
  const of = { handle: 'order', conversation: 'steps.0@1' };
  const odd = { role: 'user', blocks: [{ z: 1, a: '\u0000 and \ud83d\ude00', type: 'opaque' }] };
  await conversations.add(of, [
    { turn: 1, part: 2, message: said('second') },
    { turn: 1, part: 1, message: odd },
    { turn: 0, part: 0, message: said('prompt') },
  ]);
  await conversations.add(of, [{ turn: 2, part: 1, message: said('later') }]);
  const found = await conversations.read(of);
  expect(found.map(({ turn, part }) => [turn, part])).toEqual([
    [0, 0],
    [1, 1],
    [1, 2],
    [2, 1],
  ]);
  expect(JSON.stringify(found[1]?.message)).toBe(JSON.stringify(odd));
  expect(await conversations.read(of, 2)).toHaveLength(3);
  expect(await conversations.read({ ...of, handle: 'another' })).toEqual([]);
});

test('a place keeps what it was given first, and the same content is one row', async () => {
  const { conversations } = opened.store;
  const of = { handle: 'once', conversation: 'steps.0@1' };
  const same = said('the same in both places');
  await conversations.add(of, [
    { turn: 0, part: 0, message: same },
    { turn: 1, part: 1, message: same },
  ]);
  await conversations.add(of, [{ turn: 0, part: 0, message: said('too late') }]);
  const [first, second] = await conversations.read(of);
  expect([first?.message, second?.message]).toEqual([same, same]);
  expect(first?.hash).toBe(second?.hash);
  expect(await rows('messages', `hash = '${first?.hash}'`)).toBe(1);
  await conversations.add(of, []);
});

test('a turn that has an answer gives it to whoever asks again, and keeps it', async () => {
  const { conversations } = opened.store;
  const of = { handle: 'paid', conversation: 'steps.2@1' };
  expect(await conversations.wasAsked(of, 1)).toBe(false);
  expect(await conversations.claim(of, 1, 'one')).toEqual({ answer: null, isFirst: true });
  expect(await conversations.wasAsked(of, 1)).toBe(true);
  expect(await conversations.claim(of, 1, 'two')).toEqual({ answer: null, isFirst: false });
  expect(await conversations.answer(of, 1, { usage: 1 }, answered('first'), spent)).toEqual({ usage: 1 });
  expect(await conversations.answer(of, 1, { usage: 2 }, answered('second'), spent)).toEqual({ usage: 1 });
  expect(await conversations.claim(of, 1, 'three')).toEqual({ answer: { usage: 1 }, isFirst: false });
  expect((await conversations.read(of)).map(({ message }) => message)).toEqual([answered('first')]);
  const [turn] = await conversations.turns('paid');
  expect(turn).toMatchObject({ conversation: 'steps.2@1', turn: 1, attempt: 'two', answer: { usage: 1 } });
  expect(turn?.answeredAt).toBeGreaterThanOrEqual(turn?.begunAt ?? Number.POSITIVE_INFINITY);
});

test('of two answers at the same time one counts, for both', async () => {
  const { conversations } = opened.store;
  const of = { handle: 'race', conversation: 'steps.2@1' };
  await conversations.claim(of, 1, 'one');
  const kept = await Promise.all(
    [1, 2, 3, 4].map((n) => conversations.answer(of, 1, { n }, answered(`answer ${n}`), spent)),
  );
  expect(new Set(kept.map(({ n }) => n)).size).toBe(1);
  expect(await conversations.read(of)).toHaveLength(1);
});

test('an answer to a turn that nobody claimed is refused, and nothing of it is kept', async () => {
  const { conversations } = opened.store;
  const of = { handle: 'unclaimed', conversation: 'steps.2@1' };
  await expect(conversations.answer(of, 1, { usage: 1 }, answered('lost'), spent)).rejects.toThrow(
    'before it was claimed',
  );
  expect(await conversations.read(of)).toEqual([]);
});

test('forty turns with a result each are eighty rows of order, and as many messages', async () => {
  const { conversations } = opened.store;
  const of = { handle: 'long', conversation: 'steps.0@1' };
  for (let turn = 1; turn <= 40; turn += 1) {
    await conversations.claim(of, turn, 'one');
    await conversations.answer(of, turn, { turn }, answered(`long answer ${turn}`), spent);
    await conversations.add(of, [{ turn, part: 1, message: said(`long result ${turn}`) }]);
  }
  expect(await rows('conversation_messages', `handle = 'long'`)).toBe(80);
  expect(await rows('messages', `message::text like '%long answer%' or message::text like '%long result%'`)).toBe(80);
  expect(await conversations.turns('long')).toHaveLength(40);
});

test('another run goes on with the part of a conversation that it is given, without its rows being written again', async () => {
  const { conversations } = opened.store;
  const of = { handle: 'old', conversation: 'steps.0@1' };
  await conversations.add(of, [{ turn: 0, part: 0, message: said('prompt of the copied') }]);
  for (const turn of [1, 2]) {
    await conversations.claim(of, turn, 'one');
    await conversations.answer(of, turn, { turn }, answered(`copied ${turn}`), spent);
    await conversations.add(of, [
      { turn, part: 1, message: said(`result ${turn}`) },
      {
        turn,
        part: besidesPart,
        message: { ...said(`beside ${turn}`), prompt: 'told' },
      },
    ]);
  }
  await conversations.claim(of, 3, 'one');
  for (const turn of [3, 12]) {
    const compaction = { ...of, conversation: compactionKey('steps.0@1', turn, 1) };
    await conversations.claim(compaction, 1, 'one');
    await conversations.answer(compaction, 1, { compaction: turn }, answered(`summary ${turn}`), spent);
  }
  const messages = await rows('messages', 'true');
  const part = { ...of, turns: 2, before: { turn: 2, part: besidesPart } };
  await conversations.copy(part, 'new');
  await conversations.copy(part, 'new');
  expect(await rows('messages', 'true')).toBe(messages);
  const to = { ...of, handle: 'new' };
  const found = await conversations.read(to);
  expect(found).toEqual((await conversations.read(of)).slice(0, 6));
  expect(found.map(({ turn, part: at }) => [turn, at])).toEqual([
    [0, 0],
    [1, 0],
    [1, 1],
    [1, besidesPart],
    [2, 0],
    [2, 1],
  ]);
  // A turn that has no answer is nobody's.
  expect((await conversations.turns('new')).map(({ turn, copiedOf }) => [turn, copiedOf])).toEqual([
    [1, 'old'],
    [2, 'old'],
    // What was shown in its place from the next turn on.
    [1, 'old'],
  ]);
  expect(await conversations.find({ ...to, conversation: compactionKey('steps.0@1', 3, 1) }, 1)).toEqual({
    compaction: 3,
  });
  expect(await conversations.claim(to, 1, 'two')).toMatchObject({ answer: { turn: 1 } });
  await conversations.copy({ ...to, turns: 1, before: { turn: 1, part: 1 } }, 'newest');
  expect((await conversations.turns('newest')).map(({ turn, copiedOf }) => [turn, copiedOf])).toEqual([[1, 'old']]);
  expect(await conversations.read({ ...of, handle: 'newest' })).toHaveLength(2);
});

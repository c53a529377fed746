/** `collaboration/chat` over the real store. */
import { beforeEach, expect, it } from 'vitest';
import type { CommandContext } from '../../../operations/command.ts';
import { builtInRegistry } from '../../../systems/built-in.ts';
import type { Json, JsonObject } from '../../../language/json.ts';
import { useStore } from '../../store/harness/opened.ts';
import { commandContext } from '../harness/command-context.ts';

const registry = builtInRegistry();
const opened = useStore();
let context: CommandContext;
beforeEach(() => {
  context = commandContext('/');
});

let steps = 0;

/** A step of its own, committed, or given up. */
async function run(
  name: string,
  params: JsonObject = {},
  over: { key?: string; givesUp?: boolean } = {},
): Promise<Json> {
  const session = opened.store.session();
  steps += 1;
  const key = over.key ?? `steps.${steps}@1`;
  try {
    const result = await registry.run(`collaboration/chat/${name}`, params, {
      ...context,
      store: opened.store,
      session,
      key,
    });
    if (over.givesUp !== true)
      await session.commit({ handle: context.run.handle, key: `${key} ${steps}`, result, events: [] });
    return result;
  } finally {
    await session.close();
  }
}

const events = (): Promise<{ name: string; data: JsonObject }[]> =>
  opened.database.query('select name, data from published_events where handle = $1 order by seq', [context.run.handle]);

it('says something in a room once, with an event, and reads it', async () => {
  const room = 'reviews';
  expect(await run('send', { room, message: ' First. ' }, { key: 'a' })).toEqual({
    room,
    author: 'tester',
    message: 'First.',
    event: 'chat:reviews:message',
    seq: expect.any(Number) as number,
    replyTo: null,
    thread: null,
    mentions: [],
  });
  await run('send', { room, message: 'First.' }, { key: 'a' });
  await run('send', { room, message: 'lost' }, { givesUp: true });
  await run('send', { room, message: 'Second,\nwith a line more.' });
  const read = (await run('read', { room })) as { messages: { seq: number }[]; text: string };
  expect(read).toMatchObject({
    messages: [
      { author: 'tester', handle: context.run.handle, message: 'First.' },
      { message: 'Second,\nwith a line more.' },
    ],
    text: `tester (run ${context.run.handle}): First.\ntester (run ${context.run.handle}): Second,\nwith a line more.`,
  });
  expect(await run('read', { room, after: read.messages[0]?.seq ?? 0 })).toMatchObject({
    messages: [{ message: expect.stringContaining('Second') as string }],
  });
  expect(await run('read', { room, limit: 1 })).toMatchObject({ text: expect.stringContaining('Second') as string });
  expect(await events()).toEqual([
    {
      name: 'chat:reviews:message',
      data: {
        seq: read.messages[0]?.seq ?? null,
        room,
        message: 'First.',
        author: 'tester',
        handle: context.run.handle,
        replyTo: null,
        thread: null,
        mentions: [],
        source: 'step',
      },
    },
    {
      name: 'chat:reviews:message',
      data: expect.objectContaining({ message: 'Second,\nwith a line more.' }) as JsonObject,
    },
  ]);
});

it('keeps a message with a character that a column cannot hold', async () => {
  await run('send', { room: 'nul', message: 'a\0b' });
  expect(await run('read', { room: 'nul' })).toMatchObject({ messages: [{ message: 'a\u2400b' }] });
});

it('lists rooms, the one with the newest message first', async () => {
  await run('send', { message: 'in general' });
  await run('send', { room: 'Zimmer-2', message: 'later' });
  const rooms = (await run('list')) as { room: string }[];
  expect(rooms.slice(0, 2)).toMatchObject([
    { room: 'Zimmer-2', messages: 1, latest: { message: 'later' } },
    { room: 'general', latest: { message: 'in general' } },
  ]);
  expect(await run('read', { room: 'empty' })).toEqual({ room: 'empty', messages: [], text: '' });
});

interface Said {
  seq: number;
  replyTo: number | null;
  thread: number | null;
  mentions: string[];
}
const say = async (params: JsonObject, over: { key?: string } = {}): Promise<Said> =>
  (await run('send', params, over)) as unknown as Said;

it('keeps a thread together, whichever of its messages is answered', async () => {
  const room = 'threads';
  const first = await say({ room, message: 'Who reviews?' });
  const beside = await say({ room, message: 'Something else.' });
  const reply = await say({ room, message: 'I do.', replyTo: first.seq }, { key: 'reply' });
  const deeper = await say({ room, message: 'Thanks.', replyTo: reply.seq });
  expect([first, reply, deeper].map(({ replyTo, thread }) => [replyTo, thread])).toEqual([
    [null, null],
    [first.seq, first.seq],
    [reply.seq, first.seq],
  ]);
  expect(await say({ room, message: 'I do.', replyTo: first.seq }, { key: 'reply' })).toEqual(reply);
  const thread = (await run('read', { room, thread: first.seq })) as unknown as { messages: Said[] };
  expect(thread.messages.map(({ seq }) => seq)).toEqual([first.seq, reply.seq, deeper.seq]);
  expect(await run('read', { room, thread: first.seq, after: reply.seq })).toMatchObject({
    messages: [{ seq: deeper.seq }],
  });
  for (const [other, seq] of [
    [room, 1_000_000],
    ['elsewhere', beside.seq],
  ])
    await expect(run('send', { room: other ?? '', message: 'x', replyTo: seq ?? 0 })).rejects.toMatchObject({
      code: 'CHAT_MESSAGE_NOT_FOUND',
    });
  expect((await events()).at(-1)?.data).toMatchObject({ seq: deeper.seq, replyTo: reply.seq, thread: first.seq });
});

it('lists in all rooms what addresses somebody', async () => {
  const { mentions } = await say({
    room: 'one',
    message: '@ada: see mail@example.org, @grace-h. (@ada) or @@x, a@b and @Reviewer_2!',
  });
  expect(mentions).toEqual(['ada', 'grace-h', 'Reviewer_2']);
  await say({ room: 'two', message: 'Ask @adam.' });
  const second = await say({ room: 'two', message: 'And @ada too, @tester' });
  const of = async (params: JsonObject): Promise<string[]> =>
    ((await run('mentions', params)) as unknown as { messages: { message: string }[] }).messages.map(
      ({ message }) => message,
    );
  expect(await of({ name: 'ada' })).toEqual([expect.stringContaining('@grace-h'), 'And @ada too, @tester']);
  expect(await of({ name: 'ada', limit: 1 })).toEqual(['And @ada too, @tester']);
  expect(await of({})).toEqual(['And @ada too, @tester']);
  expect(await of({ name: 'ada', after: second.seq })).toEqual([]);
  expect(await of({ name: 'ad' })).toEqual([]);
  await expect(run('mentions', { name: '@ada' })).rejects.toMatchObject({ code: 'COMMAND_PARAMS_INVALID' });
  const many = Array.from({ length: 60 }, (_, at) => `@p${at}`).join(' ');
  expect((await say({ message: many })).mentions).toHaveLength(50);
});

it.each([
  { room: 'a:b', message: 'x' },
  { room: '*', message: 'x' },
  { room: '', message: 'x' },
  { message: ' ' },
  { message: 'x', replyTo: 0 },
  { message: 'x'.repeat(100_001) },
])('refuses a message that is none (%#)', async (params) => {
  await expect(run('send', params)).rejects.toMatchObject({ code: 'COMMAND_PARAMS_INVALID' });
});

it('says of each room how busy and how pressed it is', async () => {
  const of = async (room: string): Promise<JsonObject | undefined> =>
    ((await run('list')) as JsonObject[]).find((one) => one['room'] === room);
  await run('send', { room: 'busy', message: 'Who is there?' });
  expect(await of('busy')).toMatchObject({ messages: 1, lastHour: 1, unanswered: 0 });
  await run('send', { room: 'busy', message: '@noether @tester, please look.' });
  await run('send', { room: 'elsewhere', message: 'said in another room' });
  expect(await of('busy')).toMatchObject({ messages: 2, lastHour: 2, unanswered: 1 });
  await opened.database.query("update chat_messages set at = at - interval '2 hours' where room = 'busy'");
  await run('send', { room: 'busy', message: 'I look.' });
  // Who was addressed has said something since, whatever it was.
  expect(await of('busy')).toMatchObject({ messages: 3, lastHour: 1, unanswered: 0 });
  await run('send', { room: 'busy', message: '@noether, it is yours.' });
  expect(await of('busy')).toMatchObject({ unanswered: 1 });
});

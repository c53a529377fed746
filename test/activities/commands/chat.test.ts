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
    { name: 'chat:reviews:message', data: { room, message: 'First.', author: 'tester', handle: context.run.handle } },
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

it.each([
  { room: 'a:b', message: 'x' },
  { room: '*', message: 'x' },
  { room: '', message: 'x' },
  { message: ' ' },
  { message: 'x'.repeat(100_001) },
])('refuses a message that is none (%#)', async (params) => {
  await expect(run('send', params)).rejects.toMatchObject({ code: 'COMMAND_PARAMS_INVALID' });
});

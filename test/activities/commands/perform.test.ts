/** Commands that a person calls outside of runs: once under an id, whole or not at all. */
import { expect, test } from 'vitest';
import type { JsonObject } from '../../../language/json.ts';
import { perform } from '../../../operations/perform.ts';
import { builtInRegistry } from '../../../systems/built-in.ts';
import { useStore } from '../../store/harness/opened.ts';
import { commandContext } from '../harness/command-context.ts';

const opened = useStore();
const registry = builtInRegistry();

const call = (command: string, params: JsonObject, id: string, by = 'ada') =>
  perform(
    { store: opened.store, registry, runs: commandContext('/').runPort },
    { command, params, project: '/', by, id, timeoutMs: 1000 },
  );

const rows = (collection: string): Promise<object[]> =>
  opened.database.query('select id from records where collection = $1', [collection]);

test('the same call again gives the first result, and does nothing', async () => {
  const params = { collection: 'once', id: 'a', data: { n: 1 } };
  const first = await call('data/create', params, 'x');
  expect(await call('data/create', params, 'x')).toEqual(first);
  // Under an id of its own it is another call.
  await expect(call('data/create', { ...params, data: { n: 2 } }, 'y')).rejects.toMatchObject({
    code: 'RECORD_EXISTS',
  });
  expect(await rows('once')).toHaveLength(1);
});

test('at once, too: one of them does it, and all have its result', async () => {
  const results = await Promise.all(
    Array.from({ length: 8 }, () => call('collaboration/chat/send', { room: 'at-once', message: 'hi' }, 'z')),
  );
  expect(new Set(results.map((result) => JSON.stringify(result))).size).toBe(1);
  const said = await opened.database.query("select 1 from chat_messages where room = 'at-once'");
  const published = await opened.database.query("select 1 from published_events where name = 'chat:at-once:message'");
  expect([said.length, published.length]).toEqual([1, 1]);
});

test.each([
  ['other parameters', 'other', { collection: 'taken', data: { n: 2 } }, 'ada'],
  ['another person', 'another', { collection: 'taken', data: { n: 1 } }, 'grace'],
])('%s under the id of another call are refused', async (_what, id, params, by) => {
  await call('data/create', { collection: 'taken', data: { n: 1 } }, id);
  const before = await rows('taken');
  await expect(call('data/create', params, id, by)).rejects.toMatchObject({
    code: 'COMMAND_PARAMS_INVALID',
    message: expect.stringContaining(`the id "${id}" is that of another call`) as string,
  });
  expect(await rows('taken')).toEqual(before);
});

test('what fails leaves nothing, and may be called again', async () => {
  const bad = { room: 'no room!', message: 'x' };
  await expect(call('collaboration/chat/send', bad, 'w')).rejects.toMatchObject({ code: 'COMMAND_PARAMS_INVALID' });
  expect(await call('collaboration/chat/send', { ...bad, room: 'room' }, 'w')).toMatchObject({
    room: 'room',
    author: 'ada',
  });
});

test('a long command belongs into a run', async () => {
  await expect(call('code/write', { path: 'a', content: 'b' }, 'v')).rejects.toThrow('belongs into a run');
});

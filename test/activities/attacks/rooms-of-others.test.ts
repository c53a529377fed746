/** Rooms are where runs of many projects and people meet: a model takes part for its own project alone. */
import { expect, test } from 'vitest';
import { builtInRegistry } from '../../../systems/built-in.ts';
import type { Json, JsonObject } from '../../../language/json.ts';
import { useStore } from '../../store/harness/opened.ts';
import { perform } from '../../../operations/perform.ts';
import { commandContext } from '../harness/command-context.ts';

const registry = builtInRegistry();
const opened = useStore();

interface Speaker {
  project: string;
  byModel?: true;
}

let steps = 0;

async function run(name: string, params: JsonObject, { project, byModel }: Speaker): Promise<Json> {
  const context = commandContext(project);
  const session = opened.store.session();
  const key = `steps.${(steps += 1)}@1`;
  try {
    const result = await registry.run(`collaboration/chat/${name}`, params, {
      ...context,
      store: opened.store,
      session,
      key,
      ...(byModel === undefined ? {} : { confinement: { byModel } }),
    });
    await session.commit({ handle: context.run.handle, key, result, events: [] });
    return result;
  } finally {
    await session.close();
  }
}

test('a model hears and says what belongs to its project, and what persons say', async () => {
  const room = 'shared';
  const [here, there] = [
    { project: '/here', byModel: true },
    { project: '/there', byModel: true },
  ] as const;
  await run('send', { room, message: 'by a model here' }, here);
  await run('send', { room, message: 'by a step there' }, { project: '/there' });
  await run('send', { room: 'only-there', message: 'by a model there' }, there);
  await perform(
    { store: opened.store, registry, runs: commandContext('/').runPort },
    {
      command: 'collaboration/chat/send',
      params: { room, message: 'by a person' },
      project: '/',
      by: 'ada',
      id: 'p',
      timeoutMs: 1000,
    },
  );
  const heard = async (over: Speaker): Promise<string[]> =>
    ((await run('read', { room }, over)) as { messages: { message: string }[] }).messages.map(({ message }) => message);
  expect(await heard(here)).toEqual(['by a model here', 'by a person']);
  expect(await heard(there)).toEqual(['by a step there', 'by a person']);
  expect(await heard({ project: '/here' })).toEqual(['by a model here', 'by a step there', 'by a person']);
  const rooms = async (over: Speaker): Promise<string[]> =>
    ((await run('list', {}, over)) as { room: string; messages: number }[]).map((one) => `${one.room} ${one.messages}`);
  expect((await rooms(here)).filter((one) => one.includes('there') || one.startsWith('shared'))).toEqual(['shared 2']);
  expect(await rooms(there)).toEqual(expect.arrayContaining(['shared 2', 'only-there 1']));
  const [byStep] = ((await run('read', { room }, there)) as { messages: { seq: number }[] }).messages;
  // A model answers what it hears, and is told of no other message.
  await expect(run('send', { room, message: 'x', replyTo: byStep?.seq ?? 0 }, here)).rejects.toMatchObject({
    code: 'CHAT_MESSAGE_NOT_FOUND',
  });
  await run('send', { room: 'only-there', message: 'for @eve' }, { project: '/there' });
  const toEve = async (over: Speaker): Promise<number> =>
    ((await run('mentions', { name: 'eve' }, over)) as { messages: object[] }).messages.length;
  expect([await toEve(here), await toEve(there)]).toEqual([0, 1]);
  const said = await opened.database.query<{ name: string; project: string | null }>(
    "select name, project from published_events where name in ('chat:shared:message', 'chat:only-there:message') and data->>'message' <> 'for @eve' order by seq",
    [],
  );
  expect(said.map(({ project }) => project)).toEqual(['/here', null, '/there', null]);
});

/** The database goes away and comes back; on a server of its own, because it is killed. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunEvent } from '../../../language/events/run-event.ts';
import type { Store } from '../../../prisma/store/contract/contract.ts';
import { migrate } from '../../../prisma/store/connection/migrate.ts';
import { isUnavailable, openStore } from '../../../prisma/store/open-store.ts';
import { medianMs } from '../../elapsed.ts';
import { freePort, startPostgres } from '../../postgres.ts';
import type { PostgresServer } from '../../postgres.ts';
import { finished, reading, started, warning } from '../harness/opened.ts';

let server: PostgresServer;
let store: Store;

beforeAll(async () => {
  server = await startPostgres([]);
  await migrate(server.url);
  store = openStore({ url: server.url });
});

afterAll(async () => {
  await store.close();
  await server.remove();
});

/** Every method that talks to the database. */
const METHODS: Record<string, (store: Store) => Promise<unknown>> = {
  ping: (it) => it.ping(),
  'definitions.save': (it) => it.definitions.save({ name: 'd', steps: [], loop: { type: 'once' } }),
  'definitions.find': (it) => it.definitions.find('d'),
  'definitions.findSaved': (it) => it.definitions.findSaved('d'),
  'definitions.publish': (it) => it.definitions.publish({ name: 'd', steps: [], loop: { type: 'once' } }),
  'definitions.keep': (it) => it.definitions.keep({ name: 'd', steps: [], loop: { type: 'once' } }),
  'definitions.versions': (it) => it.definitions.versions('d'),
  'definitions.forget': (it) => it.definitions.forget('d'),
  'definitions.list': (it) => it.definitions.list(),
  'runs.create': (it) =>
    it.runs.create({
      handle: 'h',
      name: 'n',
      definitionHash: 'h',
      project: '/p',
      persona: 'a',
      parent: null,
      inputs: {},
      startedAt: 0,
    }),
  'runs.discard': (it) => it.runs.discard('h'),
  'runs.find': (it) => it.runs.find('h'),
  'runs.list': (it) => it.runs.list({}),
  'runs.beginningWith': (it) => it.runs.beginningWith('h', 1),
  'runs.asked': async (it) => {
    for await (const _ of it.runs.asked({})) return;
  },
  'evaluations.begin': (it) => it.evaluations.begin('f', 'c'),
  'evaluations.finish': (it) => it.evaluations.finish('i', {}),
  'evaluations.list': (it) => it.evaluations.list('f', 1),
  'cassettes.head': (it) => it.cassettes.head({ handle: 'h', conversation: 'c' }),
  'runs.context': (it) => it.runs.context('h'),
  'events.append': (it) => it.events.append('h', [warning(1)]),
  'events.after': (it) => it.events.after('h', 0),
  'logs.append': (it) =>
    it.logs.append([{ handle: 'h', key: 'k', stream: 's', attempt: 1, part: 0, text: 't', droppedBytes: 0 }]),
  'logs.streams': (it) => it.logs.streams('h'),
  'logs.read': (it) => it.logs.read('h', 's', 0, 1),
  'logs.tail': (it) => it.logs.tail('h', { stream: 's' }, 1),
  'logs.isOfSeveralSteps': (it) => it.logs.isOfSeveralSteps('h', { stream: 's' }),
  'payloads.put': (it) => it.payloads.put('h', new Uint8Array(1)),
  'payloads.get': (it) => it.payloads.get('h'),
  'records.create': (it) => reading(it, (session) => it.records.create(session, 'c', 'i', {})),
  'records.list': (it) => reading(it, (session) => it.records.list(session, { collection: 'c' })),
  'signals.publish': (it) =>
    reading(it, (session) => it.signals.publish(session, { handle: 'h', key: 'k', name: 'n', data: null })),
  'journal.find': (it) => it.journal.find('h', 'k'),
  'journal.latest': (it) => it.journal.latest('h', 'k'),
  'journal.note': (it) => it.journal.note('h', 'noted'),
  'journal.isBeyond': (it) => it.journal.isBeyond('h', 1),
  'session.read': (it) => reading(it, (session) => session.read('select 1', [])),
  'session.write': (it) => reading(it, (session) => session.write('select 1', [])),
  'session.commit': (it) => it.session().commit({ handle: 'h', key: 'k', result: 1, events: [] }),
};

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'it did not fail',
    (error: unknown) => error,
  );
}

/** As a crash does: the postmaster is killed; its children notice and end. */
async function crash(): Promise<void> {
  const pid = (
    await reading(store, (session) => session.read<{ directory: string }>('show data_directory', []))
  )[0] as unknown as { data_directory: string };
  const [postmaster] = (await readFile(`${pid.data_directory}/postmaster.pid`, 'utf8')).split('\n');
  process.kill(Number(postmaster), 'SIGKILL');
  await expect.poll(() => failureOf(store.ping()), { timeout: 10_000 }).toSatisfy(isUnavailable);
}

async function restart(): Promise<void> {
  // The dead server's children may hold the shared memory for a moment.
  await expect
    .poll(
      () =>
        server.start().then(
          () => 'started',
          (error: unknown) => error,
        ),
      { timeout: 20_000, interval: 300 },
    )
    .toBe('started');
}

describe('while nobody answers', () => {
  test.each(Object.keys(METHODS))('%s rejects as unavailable', async (name) => {
    const away = openStore({ url: `postgres://postgres@127.0.0.1:${await freePort()}/postgres` });
    try {
      expect(await failureOf(METHODS[name]?.(away) ?? Promise.resolve())).toSatisfy(isUnavailable);
    } finally {
      await away.close();
    }
  });

  test('a server that hangs up at once is unavailable too', async () => {
    const rude = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await once(rude, 'listening');
    const address = rude.address();
    const away = openStore({
      url: `postgres://postgres@127.0.0.1:${typeof address === 'object' ? address?.port : 0}/postgres`,
    });
    expect(await failureOf(away.ping())).toSatisfy(isUnavailable);
    await away.close();
    rude.close();
  });

  test('a wrong statement, a wrong password and our own mistakes are something else', async () => {
    expect(isUnavailable(await failureOf(reading(store, (session) => session.read('selec', []))))).toBe(false);
    const stranger = openStore({ url: server.url.replace(':postgres@', ':wrong@') });
    expect(isUnavailable(await failureOf(stranger.ping()))).toBe(false);
    await stranger.close();
    expect(isUnavailable(new Error('bug: Connection'))).toBe(false);
    expect(isUnavailable('ECONNREFUSED')).toBe(false);
  });
});

describe('kill -9 of the server', () => {
  test('breaks what is open, keeps what was committed, and everything works again after the restart', async () => {
    await store.events.append('survivor', [started(1)]);
    const seen: RunEvent[] = [];
    const following = (async () => {
      for await (const event of store.events.follow('survivor', {})) seen.push(event);
    })();
    const open = store.session();
    await store.records.create(open, 'crash', 'lost', {});
    const sleeping = failureOf(reading(store, (session) => session.read('select pg_sleep(30)', [])));
    await sleep(200);
    await crash();
    expect(await sleeping).toSatisfy(isUnavailable);
    expect(await failureOf(open.commit({ handle: 'survivor', key: 'k', result: 1, events: [warning(2)] }))).toSatisfy(
      isUnavailable,
    );
    await open.close();

    await restart();
    for (const method of Object.values(METHODS))
      await method(store).catch((error: unknown) => expect(error).toBeUndefined());
    expect(await reading(store, (session) => store.records.list(session, { collection: 'crash' }))).toEqual([]);
    expect(await store.journal.find('survivor', 'k')).toBeNull();
    await store.events.append('survivor', [warning(3), finished(4)]);
    await following;
    expect(seen.map(({ seq }) => seq)).toEqual([1, 3, 4]);
  });

  test('a follower hears at once again after its listening connection was ended', async () => {
    const following = store.events.follow('relisten', {})[Symbol.asyncIterator]();
    const first = following.next();
    await sleep(200);
    await reading(store, (session) =>
      session.read(
        `select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and application_name = 'sentinel'`,
        [],
      ),
    );
    await store.events.append('relisten', [warning(1)]).catch(() => store.events.append('relisten', [warning(1)]));
    await first;
    await sleep(2_500);
    let seq = 1;
    const hears = async (): Promise<void> => {
      await store.events.append('relisten', [warning((seq += 1))]);
      await following.next();
    };
    expect(await medianMs(hears)).toBeLessThan(250);
    await following.return?.();
  });
});

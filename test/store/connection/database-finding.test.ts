/** A database that cannot be used: through whichever door, the address without its password, what was found, and what to do. */
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { OpenClient } from '../../../client/open-client.ts';
import { databaseFinding } from '../../../prisma/store/connection/database-finding.ts';
import { buildCli, type BuiltCli } from '../../cli/processes/built-cli.ts';
import { createDatabase, freePort, type TestDatabase } from '../../postgres.ts';

let cli: BuiltCli;
let empty: TestDatabase;
beforeAll(async () => {
  [cli, empty] = await Promise.all([buildCli(), createDatabase(inject('postgresUrl'))]);
});
afterAll(async () => {
  cli.remove();
  await empty.drop();
});

function changed(change: (url: URL) => void): string {
  const url = new URL(empty.url);
  change(url);
  return url.href;
}

interface Case {
  title: string;
  url: () => string | Promise<string>;
  says: RegExp;
}

const cases: Case[] = [
  {
    title: 'nobody listens',
    url: async () => `postgres://ada:geheim@127.0.0.1:${await freePort()}/theirs`,
    says: /^The database ada@127\.0\.0\.1:\d+\/theirs does not answer \(ECONNREFUSED.*\): see that its Postgres runs/,
  },
  {
    title: 'the host is not there',
    url: () => 'postgres://ada:geheim@nowhere.invalid/theirs',
    says: /^The database ada@nowhere\.invalid\/theirs does not answer \(there is no host "nowhere\.invalid"\): /,
  },
  {
    title: 'the password is wrong',
    url: () => changed((url) => (url.password = 'geheim')),
    says: /^The database postgres@\S+ refuses "postgres" \(the password is wrong.*\): correct the user and the password in DATABASE_URL/,
  },
  {
    title: 'the role is not there',
    url: () => changed((url) => ([url.username, url.password] = ['nobody', 'geheim'])),
    says: /^The database nobody@\S+ refuses "nobody" \(.*there is no such role\): /,
  },
  {
    title: 'no password is given',
    url: () => changed((url) => (url.password = '')),
    says: /^The database postgres@\S+ (?:wants a password for "postgres"|refuses "postgres")/,
  },
  {
    title: 'the database is not there',
    url: () => changed((url) => (url.pathname = '/theirs')),
    says: /^The database postgres@\S+\/theirs does not exist on that server: create it \("createdb theirs"\)/,
  },
  {
    title: 'it has no tables',
    url: () => empty.url,
    says: /^The database postgres@\S+ lacks Sentinel's tables, or has those of an older version: "sentinel up" makes them/,
  },
  {
    title: 'it speaks no TLS',
    url: () => changed((url) => url.searchParams.set('sslmode', 'verify-full')),
    says: /^The database postgres@\S+ cannot be reached over TLS .*: .*sslmode=disable/,
  },
];

describe('the client', () => {
  test.each(cases)('where $title', async ({ url, says }) => {
    const env = {
      ...process.env,
      DATABASE_URL: await url(),
      TEMPORAL_ADDRESS: '127.0.0.1:9',
      SENTINEL_HOME: cli.folder,
    };
    const client = new OpenClient({ env });
    const doors: [string, () => Promise<unknown>][] = [
      ['a row', () => client.find('x')],
      ['a list', () => client.list()],
      [
        'a session',
        async () => (await client.store()).records.list((await client.store()).session(), { collection: 'x' }),
      ],
    ];
    try {
      for (const [door, open] of doors) {
        const error: unknown = await open().catch((thrown: unknown) => thrown);
        expect({ door, error }).toMatchObject({
          door,
          error: { name: 'ClientError', code: 'STORE_UNAVAILABLE', message: expect.stringMatching(says) as string },
        });
        expect(String(error)).not.toMatch(/geheim|prisma|invocation/i);
      }
    } finally {
      await client.close();
    }
  });
});

test('a stream of events says it too', async () => {
  const env = { ...process.env, DATABASE_URL: empty.url, TEMPORAL_ADDRESS: '127.0.0.1:9', SENTINEL_HOME: cli.folder };
  const client = new OpenClient({ env });
  const events = (await client.store()).events.follow('x', {})[Symbol.asyncIterator]();
  await expect(events.next()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  await client.close();
});

describe('the command line', () => {
  test.each(cases)('where $title', { timeout: 60_000 }, async ({ url, says }) => {
    const env = { DATABASE_URL: await url() };
    const verbs = [['status', 'x'], ['list'], ['inbox'], ['trigger', 'list'], ['emit', 'a'], ['trace', 'x', '--json']];
    const said = await Promise.all(verbs.map((args) => cli.run(args, { env })));
    for (const { code, stdout, stderr } of said) {
      expect(code).toBe(1);
      expect(stderr).toMatch(new RegExp(says.source.replace('^', '^sentinel: '), 'm'));
      expect(stdout + stderr).not.toMatch(/geheim|invocation| {4}at /);
    }
    expect(JSON.parse(said.at(-1)?.stdout ?? '')).toMatchObject({ ok: false, error: { code: 'STORE_UNAVAILABLE' } });
  });

  test('what needs more than the database says it before it starts anything', { timeout: 60_000 }, async () => {
    const url = `postgres://ada:geheim@127.0.0.1:${await freePort()}/theirs`;
    const said = await Promise.all(
      [
        ['run', 'hello'],
        ['schedule', 'list'],
        ['cancel', 'x', '--force'],
      ].map((args) => cli.run(args, { env: { DATABASE_URL: url } })),
    );
    for (const { code, stderr } of said) {
      expect(code).toBe(1);
      expect(stderr).toMatch(/^sentinel: The database ada@\S+ does not answer/);
    }
  });
});

test('a statement that is wrong is no finding about the database', () => {
  expect(databaseFinding(Object.assign(new Error('syntax error'), { code: '42601' }), empty.url)).toBeNull();
  expect(databaseFinding(new Error('bug: something'), empty.url)).toBeNull();
});

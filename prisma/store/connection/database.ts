/**
 * The one pool of connections a store has. Statements are prepared once a connection, by name.
 *
 * Invariants: a connection that dies, idle or in use, never ends the process; the pool drops it and
 * the next query opens another. int8 comes back as a number (ours stay far below 2^53), jsonb
 * through jsonb-text.ts.
 */
import { Pool, types as defaultTypes } from 'pg';
import type { CustomTypesConfig, PoolClient, PoolConfig } from 'pg';
import { fromJsonbText } from './jsonb-text.ts';
import { defined } from '../../../language/defined.ts';
import { crashPoint } from '../../../world/crash-points/crash-point.ts';

const CONNECT_TIMEOUT_MS = 10_000;
/** Statements beyond these (queries composed of filters) are sent unprepared. */
const STATEMENTS_MAX = 500;

const { INT8, JSONB } = defaultTypes.builtins;

const types: CustomTypesConfig = {
  getTypeParser(id, format): unknown {
    if (id === INT8) return Number;
    if (id === JSONB) return (text: string): unknown => JSON.parse(fromJsonbText(text));
    return defaultTypes.getTypeParser(id, format ?? 'text') as unknown;
  },
};

const names = new Map<string, string>();

function statement(text: string, values: readonly unknown[]): { name?: string; text: string; values: unknown[] } {
  let name = names.get(text);
  if (name === undefined && names.size < STATEMENTS_MAX) {
    name = `sentinel_${names.size}`;
    names.set(text, name);
  }
  return { text, values: [...values], ...defined({ name }) };
}

/** A connection outside the pool must look the same: same timeouts, same types. */
export function connectionConfig(url: string): PoolConfig {
  return {
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    application_name: 'sentinel',
    types,
  };
}

export async function queryOn<Row extends object>(
  client: PoolClient,
  text: string,
  values: readonly unknown[],
): Promise<Row[]> {
  const result = await client.query<Row>(statement(text, values));
  return result.rows;
}

export class Database {
  readonly url: string;
  readonly pool: Pool;
  #closing: Promise<void> | undefined;

  constructor(url: string, poolSize: number) {
    this.url = url;
    this.pool = new Pool({ ...connectionConfig(url), max: poolSize });
    // Without these a connection that dies would be an unhandled 'error' event. Nothing is lost by
    // ignoring it: whoever uses the connection has its query rejected.
    this.pool.on('error', () => undefined);
    this.pool.on('connect', (client) => client.on('error', () => undefined));
  }

  async query<Row extends object>(text: string, values: readonly unknown[]): Promise<Row[]> {
    const result = await this.pool.query<Row>(statement(text, values));
    return result.rows;
  }

  /** Runs `work` in one transaction; whatever it throws undoes everything. */
  async transaction<Result>(work: (client: PoolClient) => Promise<Result>): Promise<Result> {
    const client = await this.pool.connect();
    try {
      await client.query('BEGIN');
      const result = await work(client);
      crashPoint('transaction.done');
      await client.query('COMMIT');
      crashPoint('transaction.committed');
      client.release();
      return result;
    } catch (error) {
      await rollback(client);
      throw error;
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.pool.end();
    return this.#closing;
  }
}

/** Gives a connection back after undoing its transaction; one that cannot is thrown away. */
export async function rollback(client: PoolClient): Promise<void> {
  try {
    await client.query('ROLLBACK');
    client.release();
  } catch {
    client.release(true);
  }
}

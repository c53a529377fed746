/**
 * Servers that are somebody else's: asked whether they answer and brought to where Sentinel can use
 * them (migrations, search attributes); never started or stopped.
 */
import type { Connection } from '@temporalio/client';
import { Client } from 'pg';
import { databaseFinding } from '../../prisma/store/connection/database-finding.ts';
import { migrate } from '../../prisma/store/connection/migrate.ts';
import { type Config, connectionOptions } from '../config/config.ts';
import { ensureSearchAttributes } from '../temporal/search-attributes.ts';
import { describeNamespace, serverVersion, withTemporal } from '../temporal/temporal-probe.ts';

const CONNECT_MAX_MS = 10_000;

/** Asks those that the settings name, and changes nothing there; rejects with what to check. */
export async function askExternal(config: Config): Promise<void> {
  const { temporal, database } = config;
  await Promise.all([
    temporal.isExternal ? askTemporal(config, () => Promise.resolve()) : undefined,
    database.isExternal && database.url !== null ? askDatabase(database.url) : undefined,
  ]);
}

/** Rejects with what to check when the server or the namespace is not there. */
export function prepareTemporal(config: Config): Promise<{ version: string; warning: string | null }> {
  const { namespace } = config.temporal;
  return askTemporal(config, async (connection) => ({
    version: await serverVersion(connection),
    warning: await ensureSearchAttributes(connection, namespace),
  }));
}

async function askTemporal<Result>(config: Config, use: (connection: Connection) => Promise<Result>): Promise<Result> {
  const { address, namespace } = config.temporal;
  try {
    return await withTemporal(connectionOptions(config), CONNECT_MAX_MS, async (connection) => {
      await describeNamespace(connection, namespace);
      return use(connection);
    });
  } catch (error) {
    throw new Error(
      `Temporal at ${address} (TEMPORAL_ADDRESS), namespace ${namespace}, does not answer: ${reasonOf(error)}. ` +
        'Check the address, the namespace and the TLS or API-key settings, or unset TEMPORAL_ADDRESS to use the embedded server.',
      { cause: error },
    );
  }
}

/** Applies the migrations; answers with their names. */
export async function prepareDatabase(url: string): Promise<string[]> {
  try {
    return await migrate(url);
  } catch (error) {
    throw notPrepared(url, error);
  }
}

async function askDatabase(url: string): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MAX_MS });
  // A connection that dies rejects the query in flight; the event itself says nothing more.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
  } catch (error) {
    throw notPrepared(url, error);
  } finally {
    void client.end().catch(() => undefined);
  }
}

function notPrepared(url: string, error: unknown): Error {
  const found = databaseFinding(error, url);
  const finding = found === null ? reasonOf(error) : `it ${found.finding}`;
  const remedy = found?.remedy ?? 'check DATABASE_URL and that its Postgres runs';
  return new Error(`The database at ${new URL(url).host} could not be prepared: ${finding}; ${remedy}.`, {
    cause: error,
  });
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const inner = error instanceof AggregateError ? error.errors.map(reasonOf).join(', ') : '';
  return [error.message, inner].filter((text) => text !== '').join(': ') || error.name;
}

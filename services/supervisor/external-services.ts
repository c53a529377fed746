/**
 * Servers that are somebody else's: asked whether they answer and brought to where Sentinel can use
 * them (migrations, search attributes); never started or stopped.
 */
import { databaseFinding } from '../../prisma/store/connection/database-finding.ts';
import { migrate } from '../../prisma/store/connection/migrate.ts';
import { type Config, connectionOptions } from '../config/config.ts';
import { ensureSearchAttributes } from '../temporal/search-attributes.ts';
import { describeNamespace, serverVersion, withTemporal } from '../temporal/temporal-probe.ts';

const CONNECT_MAX_MS = 10_000;

/** Rejects with what to check when the server or the namespace is not there. */
export async function prepareTemporal(config: Config): Promise<{ version: string; warning: string | null }> {
  const { address, namespace } = config.temporal;
  try {
    return await withTemporal(connectionOptions(config), CONNECT_MAX_MS, async (connection) => {
      await describeNamespace(connection, namespace);
      return { version: await serverVersion(connection), warning: await ensureSearchAttributes(connection, namespace) };
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
    const found = databaseFinding(error, url);
    const finding = found === null ? reasonOf(error) : `it ${found.finding}`;
    const remedy = found?.remedy ?? 'check DATABASE_URL and that its Postgres runs';
    throw new Error(`The database at ${new URL(url).host} could not be prepared: ${finding}; ${remedy}.`, {
      cause: error,
    });
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const inner = error instanceof AggregateError ? error.errors.map(reasonOf).join(', ') : '';
  return [error.message, inner].filter((text) => text !== '').join(': ') || error.name;
}

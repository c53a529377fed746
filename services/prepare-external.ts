/**
 * A program for deployments without a supervisor: brings the servers that TEMPORAL_ADDRESS and
 * DATABASE_URL name to where workers can use them. Run it once before the workers of a new version;
 * running it again, or twice at once, changes nothing.
 */
import { constants } from 'node:os';
import { databaseUrl, readConfig } from './config/config.ts';
import { prepareDatabase, prepareTemporal } from './supervisor/external-services.ts';

// Waiting for a server or for a lock ends with the first signal. As the first process of a container it would be
// given none that it does not ask for.
for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.on(signal, () => process.exit(128 + constants.signals[signal]));

try {
  const config = readConfig();
  const [applied, temporal] = await Promise.all([prepareDatabase(databaseUrl(config)), prepareTemporal(config)]);
  process.stdout.write(`${JSON.stringify({ migrationsApplied: applied, temporalVersion: temporal.version })}\n`);
  if (temporal.warning !== null) process.stderr.write(`${temporal.warning}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

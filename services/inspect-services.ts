/**
 * What `doctor` shows: each part Sentinel needs, whether it is there, where, in which version, and
 * what to do when it is not. Looks only; starts, changes and waits for nothing beyond short limits.
 */
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { findSandbox } from '../world/confinement/sandbox.ts';
import { findInit } from '../world/processes/step-init.ts';
import { databaseFinding } from '../prisma/store/connection/database-finding.ts';
import { isUnavailable } from '../prisma/store/connection/unavailable.ts';
import { type Config, type Environment, connectionOptions, readConfig } from './config/config.ts';
import { logFile } from './home/home-files.ts';
import { homeDoubt } from './home/own-home.ts';
import { runToEnd } from './processes/run-to-end.ts';
import { ATTRIBUTE_NAMES, describe, missingSearchAttributes } from './temporal/search-attributes.ts';
import { readServicesState, type ServicesState } from './config/services-state.ts';
import { webhookState } from './webhook-state.ts';
import type { DoctorEntry } from './doctor-entry.ts';
import { askOverSocket, reachOf, inspectProxy } from './inspect-reach.ts';
import { inspectFailing } from './inspect-failing.ts';
import { asked, inspectRows } from './inspect-rows.ts';
import { inspectProjectWorkers, inspectWorker } from './inspect-worker.ts';
import { trainerEntry } from './inspect-trainer.ts';
import { findPresentTemporal, onPath } from './temporal/temporal-binary.ts';

const ANSWER_MAX_MS = 3000;
const NODE_MIN = [20, 19] as const;

export type { DoctorEntry } from './doctor-entry.ts';

export interface DoctorReport {
  ok: boolean;
  entries: DoctorEntry[];
}

/** `workflowIdOf`: what a run is called in Temporal; without it no run is looked at. */
export async function inspectServices(
  env: Environment = process.env,
  workflowIdOf?: (handle: string) => string,
): Promise<DoctorReport> {
  const config = readConfig(env);
  const state = readServicesState(config.home);
  const answers = await Promise.all([
    inspectGit(env),
    inspectSandbox(env),
    inspectTemporalBinary(config, env),
    inspectRunning(config, state, env),
    workflowIdOf === undefined
      ? []
      : asked(config.database.url, (store) => inspectFailing(config, store, workflowIdOf)),
  ]);
  const own = [inspectNode(), inspectDependencies(config), inspectProxy(env), trainerEntry(config.cacheDir)];
  const entries = [...own, await inspectProcesses(), ...answers.flatMap((found) => found ?? [])];
  return { ok: entries.every(({ ok }) => ok), entries };
}

/** The part of it that is started, and may be asked to be there. */
export async function inspectStarted(env: Environment = process.env): Promise<DoctorReport> {
  const config = readConfig(env);
  const entries = await inspectRunning(config, readServicesState(config.home), env);
  return { ok: entries.every(({ ok }) => ok), entries };
}

async function inspectRunning(config: Config, state: ServicesState | null, env: Environment): Promise<DoctorEntry[]> {
  const answers = await Promise.all([
    inspectTemporal(config, state),
    inspectPostgres(config, state),
    inspectWorker(config, state),
    inspectWebhooks(env),
    inspectWebUi(config, state),
    inspectReach(config, state, env),
    inspectRows(config.database.url),
  ]);
  return [...inspectHome(config), ...inspectProjectWorkers(config, state), ...answers.flat()];
}

/** Told only where it is in doubt. */
function inspectHome({ home }: Config): DoctorEntry[] {
  const doubt = homeDoubt(home);
  return doubt === null ? [] : [{ name: 'home', ok: false, where: home, version: null, ...doubt }];
}

function inspectNode(): DoctorEntry {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const ok = major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1]);
  const entry = {
    name: 'node',
    ok,
    found: 'runs this program',
    where: process.execPath,
    version: process.versions.node,
  };
  return ok ? entry : { ...entry, remedy: `Install Node.js ${NODE_MIN.join('.')} or later.` };
}

/** They lie where npm put them: in the checkout, or beside this package in the project that it is installed in. */
function inspectDependencies({ packageRoot }: Config): DoctorEntry {
  const entry = { name: 'npm dependencies', version: null };
  try {
    const found = createRequire(join(packageRoot, 'package.json')).resolve('@temporalio/client/package.json');
    return { ...entry, ok: true, found: 'installed', where: dirname(dirname(dirname(found))) };
  } catch {
    const where = join(packageRoot, 'node_modules');
    const remedy = 'Run `npm ci` in the checkout, or in the project that installed this package.';
    return { ...entry, ok: false, found: 'not installed', where, remedy };
  }
}

async function inspectGit(env: Environment): Promise<DoctorEntry> {
  const where = onPath('git', env);
  const missing = {
    name: 'git',
    ok: false,
    found: 'not on PATH',
    where: null,
    version: null,
    remedy: 'Install git; the code/git commands need it.',
  };
  if (where === null) return missing;
  try {
    const version = /\d+(\.\d+)+/.exec(await runToEnd(where, ['--version'], { timeoutMs: ANSWER_MAX_MS }))?.[0] ?? null;
    return { name: 'git', ok: true, found: 'on PATH', where, version };
  } catch (error) {
    return { ...missing, found: `does not run: ${messageOf(error)}`, where };
  }
}

/** Not having one is no fault: only runs with `mode: sandboxed` need it, and they are refused without. */
async function inspectSandbox(env: Environment): Promise<DoctorEntry> {
  const finding = await findSandbox(env['PATH'] ?? '');
  if (finding.ok)
    return { name: 'sandbox', ok: true, found: 'bubblewrap works', where: finding.path, version: finding.version };
  const remedy = `${finding.remedy} Only runs with "mode": "sandboxed" need it.`;
  return { name: 'sandbox', ok: true, found: `not available: ${finding.reason}`, where: null, version: null, remedy };
}

/** What holds a step's processes together when they leave its group and empty their environment. */
async function inspectProcesses(): Promise<DoctorEntry> {
  const entry = { name: 'processes of a step', ok: true, where: null, version: null };
  const init = await findInit();
  if (init !== null)
    return {
      ...entry,
      found: 'all end with it, below an init; sandboxed ones with their PID namespace',
      where: init.program,
    };
  if (process.platform === 'linux')
    return {
      ...entry,
      found: 'end with it, by a mark that they inherit, unless they take it off',
      remedy:
        'Install perl or python3 where a step must not be able to leave a process behind; sandboxed runs need neither.',
    };
  return {
    ...entry,
    found: 'end with it, unless they leave its group and empty their environment',
    remedy: 'Run the worker on Linux where a step must not be able to leave a process behind.',
  };
}

async function inspectTemporalBinary(config: Config, env: Environment): Promise<DoctorEntry> {
  const name = 'temporal binary';
  if (config.temporal.isExternal) {
    return { name, ok: true, found: 'not needed, TEMPORAL_ADDRESS is set', where: null, version: null };
  }
  const found = await findPresentTemporal({ cacheDir: config.cacheDir, env: { ...env } });
  if (found !== null) return { name, ok: true, found: found.foundAs, where: found.path, version: found.version };
  const remedy =
    'Run `sentinel up`, which downloads it, or builds it where Go is installed; or install the Temporal CLI; or set TEMPORAL_ADDRESS.';
  return { name, ok: false, found: 'neither on PATH nor in the cache', where: null, version: null, remedy };
}

async function inspectTemporal(config: Config, state: ServicesState | null): Promise<DoctorEntry[]> {
  const { address, isExternal, namespace } = config.temporal;
  const attributes = { name: 'search attributes', where: `namespace ${namespace}`, version: null };
  const server = { name: 'temporal server', where: address, ...portOf(address) };
  const remedy = isExternal
    ? 'Check TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and the TLS or API-key settings, or unset TEMPORAL_ADDRESS to use the embedded server.'
    : `Run \`sentinel up\`; its log is ${logFile(config.home, 'temporal')}.`;
  const unknown = {
    ...attributes,
    ok: false,
    found: 'unknown, the server does not answer',
    remedy: 'See temporal server.',
  };
  if (address === null) return [{ ...server, ok: false, found: 'not started', version: null, remedy }, unknown];
  const { withTemporal, serverVersion, describeNamespace } = await import('./temporal/temporal-probe.ts');
  try {
    return await withTemporal(connectionOptions(config), ANSWER_MAX_MS, async (connection) => {
      await describeNamespace(connection, namespace);
      const version = await serverVersion(connection);
      const missing = await missingSearchAttributes(connection, namespace);
      const found = isExternal ? 'TEMPORAL_ADDRESS' : (state?.temporal?.foundAs ?? 'embedded');
      const known = missing?.length === 0;
      return [
        { ...server, ok: true, found: `${found}, answers`, version },
        known
          ? { ...attributes, ok: true, found: ATTRIBUTE_NAMES.join(', ') }
          : {
              ...attributes,
              ok: false,
              found: missing === null ? 'the server does not tell' : `missing: ${missing.join(', ')}`,
              remedy: `Create in namespace ${namespace}: ${describe(missing ?? ATTRIBUTE_NAMES)}; \`sentinel up\` does it where the server allows it.`,
            },
      ];
    });
  } catch (error) {
    return [{ ...server, ok: false, found: `does not answer: ${messageOf(error)}`, version: null, remedy }, unknown];
  }
}

async function inspectPostgres(config: Config, state: ServicesState | null): Promise<DoctorEntry[]> {
  const { url, isExternal } = config.database;
  const remedy = isExternal
    ? 'Check that DATABASE_URL is right and that its Postgres runs, or unset it to use the embedded one; runs wait until it is back.'
    : `Run \`sentinel up\`; its log is ${logFile(config.home, 'postgres')}.`;
  const own = state?.postgres ?? null;
  const port = isExternal && url !== null ? portOf(new URL(url).host) : {};
  const server = { name: 'postgres', where: shownDatabase(url, own), ...port };
  const migrations = { name: 'migrations', where: null, version: null };
  const unknown = { ...migrations, ok: false, found: 'unknown, the database does not answer', remedy: 'See postgres.' };
  if (url === null) return [{ ...server, ok: false, found: 'not started', version: null, remedy }, unknown];
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: ANSWER_MAX_MS,
    query_timeout: ANSWER_MAX_MS,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ server_version: string }>('SHOW server_version');
    const pending = await pendingMigrations(client, config.packageRoot);
    const found = `${isExternal ? 'DATABASE_URL' : (own?.foundAs ?? 'embedded')}, answers`;
    return [
      { ...server, ok: true, found, version: rows[0]?.server_version ?? null },
      pending.length === 0
        ? { ...migrations, ok: true, found: 'all applied' }
        : {
            ...migrations,
            ok: false,
            found: `pending: ${pending.join(', ')}`,
            remedy: 'Run `sentinel up`, which applies them.',
          },
    ];
  } catch (error) {
    const told = isUnavailable(error) ? null : databaseFinding(error, url);
    const why =
      told === null
        ? { found: `does not answer: ${messageOf(error)}`, remedy }
        : { found: told.finding, remedy: told.remedy };
    return [{ ...server, ok: false, version: null, ...why }, unknown];
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function pendingMigrations(client: Client, packageRoot: string): Promise<string[]> {
  const wanted = readdirSync(join(packageRoot, 'prisma', 'migrations'), { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  const books = await client.query<{ exist: boolean }>(`SELECT to_regclass('_prisma_migrations') IS NOT NULL AS exist`);
  const applied = new Set<string>();
  if (books.rows[0]?.exist === true) {
    const { rows } = await client.query<{ name: string }>(
      'SELECT migration_name AS name FROM _prisma_migrations WHERE finished_at IS NOT NULL',
    );
    for (const { name } of rows) applied.add(name);
  }
  return wanted
    .map(({ name }) => name)
    .filter((name) => !applied.has(name))
    .toSorted();
}

function inspectReach(config: Config, state: ServicesState | null, env: Environment): Promise<DoctorEntry> {
  const isUp = state?.temporal?.isExternal === false && state.phase !== 'stopped';
  return reachOf(config.temporal.isExternal ? 'external' : isUp ? state.temporal : null, env);
}

async function inspectWebUi(config: Config, state: ServicesState | null): Promise<DoctorEntry> {
  const url = config.webUrl;
  const socket = config.temporal.isExternal || url !== null ? null : (state?.temporal?.webSocket ?? null);
  const entry = { name: 'web UI', where: url, version: null, ...portOf(url === null ? null : new URL(url).host) };
  const remedy = config.temporal.isExternal
    ? 'Set SENTINEL_WEB_URL to the address of your Temporal Web UI; runs work without it.'
    : 'Run `sentinel up`.';
  if (socket !== null) return { ...entry, where: socket, ...(await webUiBehind(socket, remedy)) };
  if (url === null) return { ...entry, ok: false, found: state === null ? 'not started' : 'no address known', remedy };
  try {
    const { status } = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MAX_MS), redirect: 'manual' });
    return { ...entry, ok: true, found: `answers (HTTP ${status})` };
  } catch (error) {
    return { ...entry, ok: false, found: `does not answer: ${messageOf(error)}`, remedy };
  }
}

async function webUiBehind(socket: string, remedy: string): Promise<Pick<DoctorEntry, 'ok' | 'found' | 'remedy'>> {
  try {
    const status = await askOverSocket(socket, ANSWER_MAX_MS);
    return { ok: true, found: `answers (HTTP ${status}); \`sentinel web\` opens it` };
  } catch (error) {
    return { ok: false, found: `does not answer: ${messageOf(error)}`, remedy };
  }
}

async function inspectWebhooks(env: Environment): Promise<DoctorEntry> {
  const name = 'webhooks';
  const state = await webhookState(env);
  if (state === null)
    return { name, ok: true, found: 'not asked for, SENTINEL_WEBHOOK_SECRET is not set', where: null, version: null };
  const { ok, host, port, found, remedy } = state;
  const entry = { name, ok, found, where: `http://${host}:${port}/events/NAME`, version: null, port };
  return remedy === undefined ? entry : { ...entry, remedy };
}

/** Our own by its data and its socket, somebody else's without the password. */
function shownDatabase(url: string | null, own: ServicesState['postgres']): string | null {
  if (url === null) return own?.dataDir ?? null;
  if (own !== null && own.url === url && own.socket !== null)
    return dirname(own.socket) === own.dataDir ? own.socket : `${own.socket} (${own.dataDir})`;
  const shown = new URL(url);
  shown.password = '';
  return shown.href;
}

function portOf(host: string | null): { port?: number } {
  const port = Number(/:(\d+)$/.exec(host ?? '')?.[1] ?? Number.NaN);
  return Number.isNaN(port) ? {} : { port };
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : '';
  return `${error.message || error.name}${cause}`;
}

/**
 * Where everything is: one settings object, read from the environment and from what the services
 * recorded about themselves (`.sentinel/services.json`). An address in the environment always wins
 * and means that the part is somebody else's: it is used, never started or stopped.
 *
 * Cheap to import (no Temporal, no database driver), because every CLI verb begins here.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import { ConfigError } from '../home/config-error.ts';
import { defaultHome, ownRoot } from '../home/package-root.ts';
import { configFileOf } from './project-file.ts';
import { keysFault } from './seal-key.ts';
import { readServicesState, type ServicesState } from './services-state.ts';
import {
  GRACE_SECONDS,
  PROJECT_IDLE_SECONDS,
  PROJECT_WORKERS_MAX,
  SILENT_SECONDS,
  modelEnvironment,
  proxySettings,
  port,
  webhookAddress,
  webhookSettings,
  WORKER_SETTINGS,
  workerVersion,
  type ModelEnvironment,
  type WebhookAddress,
  type WebhookSettings,
  type WorkerVersion,
} from './worker-settings.ts';
import { PORTS, TO_WEB_UI } from './ports.ts';

export { ConfigError } from '../home/config-error.ts';
export type { ModelEnvironment, WebhookSettings, WorkerVersion } from './worker-settings.ts';
export type Environment = Readonly<Record<string, string | undefined>>;

export interface TlsFiles {
  /** PEM files; the pair `cert`, `key` is the client's own identity (mTLS). */
  cert: string | null;
  key: string | null;
  /** The authority that signed the server's certificate, when it is not a public one. */
  ca: string | null;
  /** The name the server's certificate carries, when it is not the host of the address. */
  serverName: string | null;
}

export interface Config {
  /** The checkout that holds package.json. */
  packageRoot: string;
  /** `SENTINEL_HOME`: data of the embedded services, logs, services.json. */
  home: string;
  /** `SENTINEL_CACHE`: tools that were downloaded or built once. */
  cacheDir: string;
  temporal: {
    /** `host:port`; null while the embedded server has never been started. */
    address: string | null;
    isExternal: boolean;
    namespace: string;
    apiKey: string | null;
    /** Null: no encryption. */
    tls: TlsFiles | null;
  };
  database: {
    /** Null while the embedded Postgres has never been started. */
    url: string | null;
    isExternal: boolean;
  };
  /** `SENTINEL_KEY` or the file of `SENTINEL_KEY_FILE`, as they are written; null: the installation has a key of its own (services/seal/open-keys.ts). */
  seal: { keys: string } | null;
  /** Null: no common secret is set, so only the sources of a project send. */
  webhooks: WebhookSettings | null;
  /** Where the sources of a project are received as well. */
  webhookAddress: WebhookAddress;
  /** Keys and addresses of model providers. */
  models: ModelEnvironment;
  /** The variables that name proxies, as they are set. */
  proxies: Readonly<Record<string, string>>;
  /** The project whose `sentinel.config` this worker loads, and the digest of that file; null: it loads none. */
  project: { folder: string; digest: string } | null;
  /** The version this worker's runs are pinned to; null: every worker of a queue may continue its runs. */
  version: WorkerVersion | null;
  /** Long steps that the worker works on at once, of each queue; null: as many as Temporal's SDK says. */
  stepsAtOnce: number | null;
  /** Whether the worker keeps states of projects, before and after steps that may write. */
  checkpoints: boolean;
  /** From the signal that ends a worker until it has ended; its steps are interrupted a little before. */
  graceMs: number;
  /** A worker whose event loop does not answer for so long is ended, and another begins; 0: never. */
  silentMs: number;
  /** How many projects have a worker of their own at once; one that has nothing to do for so long is ended. */
  projectWorkers: { max: number; idleMs: number };
  /** Queues this machine's worker serves; the first is where runs start by default. */
  taskQueues: [string, ...string[]];
  /** Base address of the Temporal Web UI; null when there is nothing to guess it from. */
  webUrl: string | null;
  /** Ports the embedded services ask for first; another free one is taken when occupied. */
  preferredPorts: { temporal: number; temporalUi: number };
}

const flag = z.stringbool({ error: 'must be true or false' }).optional();
const file = z
  .string()
  .refine((path) => existsSync(path), 'names a file that does not exist; give the path of a PEM file')
  .optional();

const Settings = z.object({
  SENTINEL_HOME: z.string().optional(),
  SENTINEL_CACHE: z.string().optional(),
  XDG_CACHE_HOME: z.string().optional(),
  SENTINEL_TASK_QUEUES: z.string().optional(),
  SENTINEL_KEY: z.string().optional(),
  SENTINEL_KEY_FILE: z
    .string()
    .refine((path) => existsSync(path), 'names a file that does not exist; give the path of a file with a key')
    .optional(),
  SENTINEL_WEB_URL: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' }).optional(),
  SENTINEL_TEMPORAL_PORT: port,
  SENTINEL_TEMPORAL_UI_PORT: port,
  ...WORKER_SETTINGS,
  TEMPORAL_ADDRESS: z
    .string()
    .regex(
      /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(:\d{1,5})?$/,
      'must be host:port without a scheme, such as 127.0.0.1:7233',
    )
    .optional(),
  TEMPORAL_NAMESPACE: z.string().optional(),
  TEMPORAL_API_KEY: z.string().optional(),
  TEMPORAL_TLS: flag,
  TEMPORAL_TLS_CERT: file,
  TEMPORAL_TLS_KEY: file,
  TEMPORAL_TLS_CA: file,
  TEMPORAL_TLS_SERVER_NAME: z.string().optional(),
  DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/, hostname: /.*/, error: 'must be a postgres:// or postgresql:// address' })
    .optional(),
});
type Settings = z.infer<typeof Settings>;

/** Those that are paths, and may be relative to the folder of whoever sets them. */
const PATHS = [
  'SENTINEL_HOME',
  'SENTINEL_CACHE',
  'XDG_CACHE_HOME',
  'SENTINEL_KEY_FILE',
  'TEMPORAL_TLS_CERT',
  'TEMPORAL_TLS_KEY',
  'TEMPORAL_TLS_CA',
] as const satisfies readonly (keyof Settings)[];

/** The environment for a process that runs in another folder. */
export function withAbsolutePaths(env: Environment): Environment {
  const relative = PATHS.filter((name) => (env[name]?.trim() ?? '') !== '');
  return { ...env, ...Object.fromEntries(relative.map((name) => [name, resolve(env[name]?.trim() ?? '')])) };
}

/**
 * Reads the settings; throws `ConfigError`. `env` defaults to the process's own environment.
 */
export function readConfig(env: Environment = process.env): Config {
  const settings = parseSettings(env);
  const home = resolve(settings.SENTINEL_HOME ?? defaultHome());
  const state = readServicesState(home);
  const embedded = state !== null && state.phase !== 'stopped' ? state : null;
  const cacheBase = settings.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  return {
    packageRoot: ownRoot,
    home,
    cacheDir: resolve(settings.SENTINEL_CACHE ?? join(cacheBase, 'sentinel')),
    temporal: {
      address: withPort(settings.TEMPORAL_ADDRESS) ?? ownAddress(embedded),
      isExternal: settings.TEMPORAL_ADDRESS !== undefined,
      namespace: settings.TEMPORAL_NAMESPACE ?? 'default',
      apiKey: settings.TEMPORAL_API_KEY ?? null,
      tls: tlsFiles(settings),
    },
    database: {
      url: settings.DATABASE_URL ?? (embedded?.postgres?.isExternal === false ? embedded.postgres.url : null),
      isExternal: settings.DATABASE_URL !== undefined,
    },
    seal: givenKeys(settings),
    webhooks: webhookSettings(settings),
    webhookAddress: webhookAddress(settings),
    models: modelEnvironment(settings),
    proxies: proxySettings(settings),
    project: projectOf(settings),
    version: workerVersion(settings),
    stepsAtOnce: settings.SENTINEL_STEPS_AT_ONCE ?? null,
    checkpoints: settings.SENTINEL_CHECKPOINTS ?? true,
    graceMs: 1000 * (settings.SENTINEL_GRACE_SECONDS ?? GRACE_SECONDS),
    silentMs: 1000 * (settings.SENTINEL_SILENT_SECONDS ?? SILENT_SECONDS),
    projectWorkers: {
      max: settings.SENTINEL_PROJECT_WORKERS ?? PROJECT_WORKERS_MAX,
      idleMs: 1000 * (settings.SENTINEL_PROJECT_IDLE_SECONDS ?? PROJECT_IDLE_SECONDS),
    },
    taskQueues: taskQueues(settings.SENTINEL_TASK_QUEUES),
    webUrl: webUrl(settings, embedded),
    preferredPorts: {
      temporal: settings.SENTINEL_TEMPORAL_PORT ?? PORTS.temporal,
      temporalUi: settings.SENTINEL_TEMPORAL_UI_PORT ?? (settings.SENTINEL_TEMPORAL_PORT ?? PORTS.temporal) + TO_WEB_UI,
    },
  };
}

/** What both the client's `Connection.connect` and the worker's `NativeConnection.connect` take. */
export interface TemporalConnectionOptions {
  address: string;
  apiKey?: string;
  tls?: {
    serverNameOverride?: string;
    serverRootCACertificate?: Uint8Array;
    clientCertPair?: { crt: Uint8Array; key: Uint8Array };
  };
}

export function connectionOptions(config: Config): TemporalConnectionOptions {
  const { address, apiKey, tls } = config.temporal;
  if (address === null) {
    throw new ConfigError(
      'No Temporal server is known: run `sentinel up`, or set TEMPORAL_ADDRESS to your own server.',
    );
  }
  if (tls === null) return { address };
  return {
    address,
    ...(apiKey === null ? {} : { apiKey }),
    tls: {
      ...(tls.serverName === null ? {} : { serverNameOverride: tls.serverName }),
      ...(tls.ca === null ? {} : { serverRootCACertificate: readFileSync(tls.ca) }),
      ...(tls.cert === null || tls.key === null
        ? {}
        : { clientCertPair: { crt: readFileSync(tls.cert), key: readFileSync(tls.key) } }),
    },
  };
}

/** The database's address, or a sentence on how to get one. */
export function databaseUrl(config: Config): string {
  if (config.database.url === null) {
    throw new ConfigError('No database is known: run `sentinel up`, or set DATABASE_URL to your own Postgres.');
  }
  return config.database.url;
}

/**
 * Changes whenever running services would have to be started differently. Secrets take part, so
 * that a new key is noticed; only the digest is kept.
 */
export function settingsFingerprint(config: Config): string {
  const { temporal, database, taskQueues: queues } = config;
  const parts = [
    temporal.isExternal ? temporal.address : null,
    temporal.namespace,
    temporal.apiKey,
    temporal.tls,
    database.isExternal ? database.url : null,
    queues,
    config.seal,
    config.webhooks,
    config.models,
    config.proxies,
    config.project,
    config.version,
    config.stepsAtOnce,
    config.checkpoints,
    config.graceMs,
    config.silentMs,
    config.projectWorkers,
  ];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}

function parseSettings(env: Environment): Settings {
  const given: Record<string, string> = {};
  for (const name of Object.keys(Settings.shape)) {
    const value = env[name]?.trim();
    if (value !== undefined && value !== '') given[name] = value;
  }
  const parsed = Settings.safeParse(given);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const name = String(issue?.path[0] ?? 'the environment');
    const shown = /KEY$|URL$|HOST$|SECRET$/.test(name) ? '' : ` ("${given[name] ?? ''}")`;
    throw new ConfigError(`${name}${shown} ${issue?.message ?? 'is not usable'}.`);
  }
  return parsed.data;
}

function tlsFiles(settings: Settings): TlsFiles | null {
  const {
    TEMPORAL_TLS_CERT: cert,
    TEMPORAL_TLS_KEY: key,
    TEMPORAL_TLS_CA: ca,
    TEMPORAL_TLS_SERVER_NAME: serverName,
  } = settings;
  if ((cert === undefined) !== (key === undefined)) {
    const [set, missing] =
      cert === undefined ? ['TEMPORAL_TLS_KEY', 'TEMPORAL_TLS_CERT'] : ['TEMPORAL_TLS_CERT', 'TEMPORAL_TLS_KEY'];
    throw new ConfigError(`${set} is set without ${missing}: a client certificate needs both files.`);
  }
  const asksForTls = [cert, ca, serverName, settings.TEMPORAL_API_KEY].some((value) => value !== undefined);
  if (settings.TEMPORAL_TLS === false && asksForTls) {
    throw new ConfigError(
      'TEMPORAL_TLS is false, yet an API key or TLS files are set: remove TEMPORAL_TLS or remove those.',
    );
  }
  const wanted = settings.TEMPORAL_TLS === true || asksForTls;
  if (wanted && settings.TEMPORAL_ADDRESS === undefined) {
    throw new ConfigError(
      'TLS or API-key settings for Temporal are set without TEMPORAL_ADDRESS: set it to the server they belong to.',
    );
  }
  if (!wanted) return null;
  return { cert: cert ?? null, key: key ?? null, ca: ca ?? null, serverName: serverName ?? null };
}

function givenKeys({ SENTINEL_KEY: given, SENTINEL_KEY_FILE: path }: Settings): Config['seal'] {
  if (given !== undefined && path !== undefined)
    throw new ConfigError('SENTINEL_KEY and SENTINEL_KEY_FILE are both set: keep the one that holds your keys.');
  const keys = given ?? (path === undefined ? undefined : readFileSync(path, 'utf8'));
  if (keys === undefined) return null;
  const fault = keysFault(keys);
  if (fault !== null) throw new ConfigError(`${given === undefined ? 'SENTINEL_KEY_FILE' : 'SENTINEL_KEY'} ${fault}.`);
  return { keys };
}

function projectOf({ SENTINEL_PROJECT: folder }: Settings): Config['project'] {
  const found = folder === undefined ? null : configFileOf(folder);
  return folder === undefined || found === null ? null : { folder, digest: found.digest };
}

function taskQueues(text: string | undefined): [string, ...string[]] {
  const names = (text ?? 'sentinel')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const [first, ...rest] = [...new Set(names)];
  if (first === undefined) {
    throw new ConfigError(
      'SENTINEL_TASK_QUEUES names no queue: write names separated by commas, such as sentinel,sentinel@gpu-1.',
    );
  }
  return [first, ...rest];
}

function withPort(address: string | undefined): string | null {
  if (address === undefined) return null;
  return /:\d+$/.test(address) ? address : `${address}:${PORTS.temporal}`;
}

function ownAddress(state: ServicesState | null): string | null {
  return state?.temporal?.isExternal === false ? state.temporal.address : null;
}

/** Temporal Cloud has one Web UI; a server elsewhere usually serves its own a thousand ports up. */
function webUrl(settings: Settings, state: ServicesState | null): string | null {
  if (settings.SENTINEL_WEB_URL !== undefined) return settings.SENTINEL_WEB_URL.replace(/\/+$/, '');
  const address = withPort(settings.TEMPORAL_ADDRESS);
  if (address === null) return state?.temporal?.isExternal === false ? state.temporal.webUrl : null;
  const at = address.lastIndexOf(':');
  const host = address.slice(0, at);
  if (/\.(tmprl\.cloud|temporal\.io)$/.test(host)) return 'https://cloud.temporal.io';
  return `http://${host}:${Number(address.slice(at + 1)) + 1000}`;
}

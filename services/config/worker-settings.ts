/** What a worker does, as read from the environment (config.ts): how much at once, receive events, be a version, end. */
import { isAbsolute } from 'node:path';
import * as z from 'zod';
import { SECRET_LENGTH_MIN } from './webhook-config.ts';
import { PORTS } from './ports.ts';

/** Where events from other systems are received. */
export interface WebhookAddress {
  host: string;
  port: number;
}

/** What whoever sends events by the common secret signs with. */
export interface WebhookSettings extends WebhookAddress {
  /** Each is valid, so that one can be replaced without a gap. */
  secrets: [string, ...string[]];
}

/** Which build a worker is of, and of what. */
export interface WorkerVersion {
  deploymentName: string;
  buildId: string;
}

/** What a worker is of when nothing else is said. */
export const DEPLOYMENT = 'sentinel';

/**
 * From the signal that ends a process of ours until it has ended, unless SENTINEL_GRACE_SECONDS says otherwise:
 * what docker-compose.yml and docs/deployment.md give a worker.
 */
export const GRACE_SECONDS = 60;

/** A worker whose event loop is silent for so long is ended, unless SENTINEL_SILENT_SECONDS says otherwise. */
export const SILENT_SECONDS = 30;

/** How many projects may have a worker at once, unless SENTINEL_PROJECT_WORKERS says otherwise: each takes some 300 MB. */
export const PROJECT_WORKERS_MAX = 8;

/** A project's worker that has had nothing to do for so long is ended, unless SENTINEL_PROJECT_IDLE_SECONDS says otherwise. */
export const PROJECT_IDLE_SECONDS = 600;

/** The names that users have in their shells; a key is never logged, and never goes into a history. */
export interface ModelEnvironment {
  ANTHROPIC_API_KEY?: string;
  ANTHROPIC_BASE_URL?: string;
  OLLAMA_HOST?: string;
  OPENAI_API_KEY?: string;
  OPENAI_BASE_URL?: string;
}

const MODEL_SETTINGS = {
  ANTHROPIC_API_KEY: z.string().optional(),
  ANTHROPIC_BASE_URL: z.string().optional(),
  OLLAMA_HOST: z.string().optional(),
  OPENAI_API_KEY: z.string().optional(),
  OPENAI_BASE_URL: z.string().optional(),
};

/** Through which proxies servers elsewhere are asked (world/http/proxy.ts), by either spelling. */
const PROXY_SETTINGS = {
  http_proxy: z.string().optional(),
  HTTP_PROXY: z.string().optional(),
  https_proxy: z.string().optional(),
  HTTPS_PROXY: z.string().optional(),
  all_proxy: z.string().optional(),
  ALL_PROXY: z.string().optional(),
  no_proxy: z.string().optional(),
  NO_PROXY: z.string().optional(),
};

export const port = z.coerce
  .number({ error: 'must be a port number' })
  .int('must be a whole number')
  .min(1, 'must be between 1 and 65535')
  .max(65_535, 'must be between 1 and 65535')
  .optional();

export const WORKER_SETTINGS = {
  ...MODEL_SETTINGS,
  ...PROXY_SETTINGS,
  /** The project whose `sentinel.config` is loaded. */
  SENTINEL_PROJECT: z.string().refine(isAbsolute, 'must be the absolute path of a folder').optional(),
  SENTINEL_WEBHOOK_SECRET: z
    .string()
    .refine(isUsable, `must be a text of at least ${SECRET_LENGTH_MIN} characters, or several with commas between`)
    .optional(),
  SENTINEL_WEBHOOK_HOST: z.string().optional(),
  SENTINEL_WEBHOOK_PORT: port,
  SENTINEL_DEPLOYMENT: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,100}$/, 'must be 1 to 100 letters, digits, _ and -')
    .optional(),
  /** Digests of code of projects that may run, or "all". */
  SENTINEL_TRUST: z.string().optional(),
  SENTINEL_STEP_ENV: z
    .string()
    .regex(/^[\s,\w]*$/, 'must name variables, separated by commas')
    .optional(),
  SENTINEL_STEPS_AT_ONCE: z.coerce
    .number({ error: 'must be a number' })
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .max(10_000, 'must be at most 10000')
    .optional(),
  /** False: steps write without a state of the project before, so nothing can be undone. */
  SENTINEL_CHECKPOINTS: z.stringbool({ error: 'must be true or false' }).optional(),
  SENTINEL_GRACE_SECONDS: z.coerce
    .number({ error: 'must be a number of seconds' })
    .int('must be a whole number of seconds')
    .min(1, 'must be at least 1')
    .max(86_400, 'must be at most 86400')
    .optional(),
  /** 0: nobody watches over the event loop. */
  SENTINEL_SILENT_SECONDS: z.coerce
    .number({ error: 'must be a number of seconds' })
    .int('must be a whole number of seconds')
    .min(0, 'must be at least 0')
    .max(86_400, 'must be at most 86400')
    .optional(),
  SENTINEL_PROJECT_WORKERS: z.coerce
    .number({ error: 'must be a number' })
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .max(1000, 'must be at most 1000')
    .optional(),
  SENTINEL_PROJECT_IDLE_SECONDS: z.coerce
    .number({ error: 'must be a number of seconds' })
    .int('must be a whole number of seconds')
    .min(10, 'must be at least 10')
    .max(604_800, 'must be at most 604800')
    .optional(),
  SENTINEL_BUILD_ID: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,100}$/, 'must be 1 to 100 letters, digits, and . _ -')
    .optional(),
};

const Settings = z.object(WORKER_SETTINGS);
type Settings = z.infer<typeof Settings>;

export function webhookSettings(settings: Settings): WebhookSettings | null {
  const [first, ...rest] = secretsIn(settings.SENTINEL_WEBHOOK_SECRET ?? '');
  if (first === undefined) return null;
  return { ...webhookAddress(settings), secrets: [first, ...rest] };
}

export const webhookAddress = (settings: Settings): WebhookAddress => ({
  host: settings.SENTINEL_WEBHOOK_HOST ?? '127.0.0.1',
  port: settings.SENTINEL_WEBHOOK_PORT ?? PORTS.webhooks,
});

export function modelEnvironment(settings: Settings): ModelEnvironment {
  const names = Object.keys(MODEL_SETTINGS) as (keyof ModelEnvironment)[];
  return Object.fromEntries(names.flatMap((name) => (settings[name] === undefined ? [] : [[name, settings[name]]])));
}

export function proxySettings(settings: Settings): Record<string, string> {
  const names = Object.keys(PROXY_SETTINGS) as (keyof typeof PROXY_SETTINGS)[];
  return Object.fromEntries(names.flatMap((name) => (settings[name] === undefined ? [] : [[name, settings[name]]])));
}

export function workerVersion({
  SENTINEL_DEPLOYMENT: deploymentName = DEPLOYMENT,
  SENTINEL_BUILD_ID: buildId,
}: Settings): WorkerVersion | null {
  return buildId === undefined ? null : { deploymentName, buildId };
}

function secretsIn(text: string): string[] {
  return text
    .split(',')
    .map((secret) => secret.trim())
    .filter((secret) => secret !== '');
}

function isUsable(text: string): boolean {
  const secrets = secretsIn(text);
  return secrets.length > 0 && secrets.every((secret) => secret.length >= SECRET_LENGTH_MIN);
}

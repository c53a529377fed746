/** Whether webhooks are received where the worker was told to receive them, and by whom. Looks only. */
import { Client } from 'pg';
import { type Environment, readConfig } from './config/config.ts';
import type { PortHolder } from './processes/port-holder.ts';
import { withKeptSettings } from './supervisor/kept-settings.ts';
import { awaitListener, findListener, troubleOf } from './webhooks/webhook-listener.ts';

const ANSWER_MAX_MS = 3000;

export interface WebhookState {
  ok: boolean;
  host: string;
  port: number;
  found: string;
  /** Of a port that is somebody else's, as far as the system tells. */
  holder: PortHolder | null;
  /** There whenever `ok` is false. */
  remedy?: string;
}

/**
 * Null where none are asked for: by the settings that the services keep, else by the environment. `isPatient`: a
 * worker that has just started is given the time to listen.
 */
export async function webhookState(env: Environment, isPatient = false): Promise<WebhookState | null> {
  const { webhooks, database } = readConfig(withKeptSettings(readConfig(env).home, env));
  if (webhooks === null) return null;
  const { host, port } = webhooks;
  const installation = database.url === null ? null : await installationOf(database.url);
  if (installation === null) {
    const found = 'unknown, the database does not say whose this is';
    return { ok: false, host, port, found, holder: null, remedy: 'See postgres and migrations in `sentinel doctor`.' };
  }
  const listener = await (isPatient ? awaitListener : findListener)(webhooks, installation);
  if (listener.is === 'ours') return { ok: true, host, port, found: 'received by this installation', holder: null };
  return {
    ok: false,
    host,
    port,
    holder: listener.is === 'stranger' ? listener.holder : null,
    ...troubleOf(listener, webhooks),
  };
}

/** Null where the database does not answer, or has not the tables of this version. */
async function installationOf(url: string): Promise<string | null> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: ANSWER_MAX_MS,
    query_timeout: ANSWER_MAX_MS,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ id: string }>('select id from installation');
    return rows[0]?.id ?? null;
  } catch {
    return null;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/**
 * Who answers where webhooks are to be received: a worker of this installation, which proves it, somebody else, or
 * nobody. Looks only.
 */
import { randomBytes } from 'node:crypto';
import { get } from 'node:http';
import type { WebhookAddress } from '../config/worker-settings.ts';
import { LOOPBACK } from '../processes/ports.ts';
import { portHolder, type PortHolder } from '../processes/port-holder.ts';
import { HEALTH_PATH, isProof } from './listener-proof.ts';

const ANSWER_MAX_MS = 2000;
const ANSWER_CHARS_MAX = 10_000;
const LOOK_MS = 250;
/** A worker that found the port taken tries it again every five seconds. */
const COMES_WITHIN_MS = 8000;
/** An earlier worker of ours lets go of the port before it has ended. */
const GOES_WITHIN_MS = 2000;

/** With the secrets of which any may prove it. */
export type ProvenAddress = WebhookAddress & { secrets: readonly string[] };

export type Listener = { is: 'ours' } | { is: 'nobody' } | { is: 'stranger'; holder: PortHolder | null };

/** `installation`: of the database that the events are to be in. */
export async function findListener(settings: ProvenAddress, installation: string): Promise<Listener> {
  const nonce = randomBytes(16).toString('hex');
  const { host, port, secrets } = settings;
  const answer = await ask(host, port, `${HEALTH_PATH}?nonce=${nonce}`);
  if (answer === null) return { is: 'nobody' };
  if (isProof(proofIn(answer), secrets, installation, nonce)) return { is: 'ours' };
  return { is: 'stranger', holder: await portHolder(host, port) };
}

/** The text of an answer: null where nobody listens, empty where whoever does speaks no HTTP, or not in time. */
function ask(host: string, port: number, path: string): Promise<string | null> {
  return new Promise((resolve) => {
    let isConnected = false;
    let text = '';
    const asking = get({ host: connectable(host), port, path, agent: false }, (response) => {
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
        if (text.length > ANSWER_CHARS_MAX) asking.destroy();
      });
      response.on('close', () => resolve(text));
    });
    const timer = setTimeout(() => asking.destroy(), ANSWER_MAX_MS);
    asking.on('socket', (socket) => socket.once('connect', () => (isConnected = true)));
    asking.on('error', () => resolve(isConnected ? '' : null));
    asking.on('close', () => clearTimeout(timer));
  });
}

function proofIn(answer: string): unknown {
  try {
    return (JSON.parse(answer) as { proof?: unknown } | null)?.proof;
  } catch {
    // Not ours: ours answers with JSON.
    return undefined;
  }
}

/** The same, once a worker that has just started has had the time to listen. */
export async function awaitListener(settings: ProvenAddress, installation: string): Promise<Listener> {
  const began = Date.now();
  for (;;) {
    const listener = await findListener(settings, installation);
    const waited = Date.now() - began;
    const isSettled = listener.is === 'ours' || waited > (listener.is === 'nobody' ? COMES_WITHIN_MS : GOES_WITHIN_MS);
    if (isSettled) return listener;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

/** What to say where it is not ours, and what to do. */
export function troubleOf(
  listener: Exclude<Listener, { is: 'ours' }>,
  { host, port }: WebhookAddress,
): { found: string; remedy: string } {
  if (listener.is === 'nobody') {
    return {
      found: `nobody listens on port ${port} of ${host}`,
      remedy:
        'Run `sentinel up` or `sentinel worker` with SENTINEL_WEBHOOK_SECRET set, or with `webhooks` in sentinel.config; a worker that cannot listen says why in its log.',
    };
  }
  const { holder } = listener;
  const who = holder === null ? 'a process that the system does not name' : `pid ${holder.pid} (${holder.program})`;
  return {
    found: `port ${port} of ${host} is held by ${who}, which is not of this installation`,
    remedy:
      'End that process, and a worker takes the port within seconds; or set SENTINEL_WEBHOOK_PORT to a free port and run `sentinel up`.',
  };
}

/** Whoever listens on all addresses is asked on this machine. */
export function connectable(host: string): string {
  if (host === '0.0.0.0') return LOOPBACK;
  return host === '::' ? '::1' : host;
}

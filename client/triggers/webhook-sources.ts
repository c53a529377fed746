/** Sources of webhooks as a person sets them up: where they send to, which secret they have, and a request that proves it. */
import { randomBytes, randomUUID } from 'node:crypto';
import type { WebhookKind, WebhookSource } from '../../services/config/webhook-config.ts';
import { readConfig, type Environment } from '../../services/config/config.ts';
import { withKeptSettings } from '../../services/supervisor/kept-settings.ts';
import type { SignedRequest } from '../../services/webhooks/senders/sender.ts';
import { SENDERS, sourcePath } from '../../services/webhooks/senders/senders.ts';
import { connectable } from '../../services/webhooks/webhook-listener.ts';
import { ClientError } from '../../runs/client-error.ts';

const ANSWER_MAX_MS = 10_000;

/** Headers that hold the secret itself. */
const SHOWN_SECRETS = ['authorization', 'x-gitlab-token'];

/** Where the worker listens, from this machine; `base`: as senders reach it. */
export function sourceAddress(name: string, env: Environment, base?: string): string {
  const { host, port } = readConfig(withKeptSettings(readConfig(env).home, env)).webhookAddress;
  const reached = connectable(host);
  const own = `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`;
  return `${(base ?? own).replace(/\/+$/, '')}${sourcePath(name)}`;
}

export const variableOf = (name: string): string => `${name.toUpperCase().replaceAll('-', '_')}_WEBHOOK_SECRET`;

/** Null: the sender makes it. */
export const newSecret = (kind: WebhookKind): string | null =>
  kind === 'stripe' || kind === 'slack' || kind === 'standard' ? null : randomBytes(32).toString('hex');

/** What a person does at the sender. */
export const AT_SENDER: Readonly<Record<WebhookKind, string>> = {
  github: 'Settings, Webhooks, Add webhook: this address, content type application/json, and the secret.',
  gitlab: 'Settings, Webhooks: this address, and the secret as the secret token, or a signing token (whsec_…).',
  stripe: 'Developers, Webhooks, Add endpoint: this address. Its signing secret (whsec_…) is the secret.',
  slack:
    'Event Subscriptions (also Slash Commands, Interactivity): this address. The Signing Secret of Basic Information is the secret.',
  standard: 'This address. The signing secret that the sender shows (whsec_…) is the secret.',
  token: 'This address, and the header Authorization: Bearer SECRET; X-Event-Id tells one message from another.',
};

export interface Proof {
  url: string;
  request: SignedRequest;
  curl: string;
}

/** Without `kind` a request that publishes nothing. */
export async function proofOfSource(
  source: WebhookSource,
  url: string,
  event?: { kind: string; data: Readonly<Record<string, unknown>> },
): Promise<Proof> {
  const [secret] = source.secrets;
  if (source.fault !== null || secret === undefined)
    throw new ClientError('USAGE', `the webhook source "${source.name}" cannot be tried: ${source.fault ?? ''}.`);
  const sender = SENDERS[source.kind];
  const request =
    event === undefined ? await sender.proof(secret) : await sender.event(secret, { ...event, id: randomUUID() });
  return { url, request, curl: curlOf(url, shown(request, source)) };
}

/** Without the secret: the variable stands for it. */
export function shown(request: SignedRequest, { variables: [variable] }: WebhookSource): SignedRequest {
  const held = variable === undefined ? 'SECRET' : `$${variable}`;
  const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [
    name,
    SHOWN_SECRETS.includes(name) ? value.replace(/\S+$/, held) : value,
  ]);
  return { ...request, headers: Object.fromEntries(headers) };
}

/** Headers stand in double quotes, in which a shell puts a variable's value. */
function curlOf(url: string, { headers, body }: SignedRequest): string {
  const given = Object.entries(headers).map(([name, value]) => `-H "${name}: ${value}"`);
  return `curl -i ${given.join(' ')} -d '${body.replaceAll("'", String.raw`'\''`)}' '${url}'`;
}

export interface ProofAnswer {
  status: number;
  text: string;
}

/** Null where nobody answers there. */
export async function sendProof({ url, request: { headers, body } }: Proof): Promise<ProofAnswer | null> {
  try {
    const answer = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(ANSWER_MAX_MS) });
    return { status: answer.status, text: (await answer.text()).trim() };
  } catch {
    return null;
  }
}

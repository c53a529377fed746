/**
 * Messages of webhooks on Postgres. An id is kept with the digest of its message for a day, far longer than a
 * signature is valid: whoever sends it again within that time sends the same message, or is refused.
 */
import type { PoolClient } from 'pg';
import { queryOn, type Database } from '../connection/database.ts';
import { withoutNul } from '../connection/jsonb-text.ts';
import type { MessageVerdict, WebhookMessage, WebhookStore } from '../contract/webhook-contract.ts';
import { EVENT_CHANNEL, type Announcer } from './wakeups.ts';

const SOURCE = '@webhook';
const KEPT = `interval '1 day'`;
const ONCE_KEPT = `interval '30 days'`;
/** Stands for the digest of a message that its id tells from any other. */
const BY_ID = 'id';

export function webhooks(database: Database, announcer: Announcer): WebhookStore {
  return {
    async receive(message) {
      const verdict = await database.transaction((client) => receive(client, message));
      if (verdict === 'new') announcer.announce(EVENT_CHANNEL, '');
      return verdict;
    },
    async sweep() {
      await database.query('delete from webhook_messages where expires_at < now()', []);
    },
  };
}

async function receive(client: PoolClient, message: WebhookMessage): Promise<MessageVerdict> {
  const { digest, source, once } = message;
  // No id of whoever has the common secret holds a blank.
  const id = source === undefined ? message.id : withoutNul(`${source} ${message.id}`);
  if (!(await take(client, id, digest ?? BY_ID, KEPT))) {
    const known = await digestOf(client, id);
    return known === (digest ?? BY_ID) ? 'again' : 'other';
  }
  if (once !== undefined && !(await take(client, `${source ?? ''} body ${once}`, id, ONCE_KEPT))) {
    if ((await digestOf(client, `${source ?? ''} body ${once}`)) !== id) {
      await queryOn(client, 'delete from webhook_messages where id = $1', [id]);
      return 'replayed';
    }
  }
  const verdict = await publish(client, message);
  if (verdict === 'other') await queryOn(client, 'delete from webhook_messages where id = $1', [id]);
  return verdict;
}

/** False where it is in use. Waits for a transaction that is using the same id, and sees what came of it. */
async function take(client: PoolClient, id: string, digest: string, kept: string): Promise<boolean> {
  const [taken] = await queryOn(
    client,
    `insert into webhook_messages as m (id, digest, expires_at) values ($1, $2, now() + ${kept})
     on conflict (id) do update set digest = excluded.digest, expires_at = excluded.expires_at where m.expires_at < now()
     returning 1`,
    [id, digest],
  );
  return taken !== undefined;
}

async function digestOf(client: PoolClient, id: string): Promise<string | undefined> {
  const [known] = await queryOn<{ digest: string }>(client, 'select digest from webhook_messages where id = $1', [id]);
  return known?.digest;
}

/** An event outlives the id of its message. */
async function publish(
  client: PoolClient,
  { id, name, data, digest, source }: WebhookMessage,
): Promise<MessageVerdict> {
  const handle = source === undefined ? SOURCE : `${SOURCE}:${source}`;
  const key = withoutNul(`${name}/${id}`);
  const text = JSON.stringify(data);
  const [published] = await queryOn(
    client,
    `insert into published_events (handle, key, name, data) values ($1, $2, $3, $4::json)
     on conflict (handle, key) do nothing returning 1`,
    [handle, key, withoutNul(name), text],
  );
  if (published !== undefined) return 'new';
  if (digest === null) return 'again';
  const [before] = await queryOn<{ same: boolean }>(
    client,
    'select data::text = $3 as same from published_events where handle = $1 and key = $2',
    [handle, key, text],
  );
  return before?.same === true ? 'again' : 'other';
}

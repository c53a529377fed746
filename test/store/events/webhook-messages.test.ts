/** Ids of webhooks' messages: one transaction with their event, kept until they expire, shared by all workers. */
import { expect, test } from 'vitest';
import { openStore } from '../../../prisma/store/open-store.ts';
import type { WebhookMessage } from '../../../prisma/store/contract/webhook-contract.ts';
import { useStore } from '../harness/opened.ts';

const opened = useStore();

const message = (id: string, more: Partial<WebhookMessage> = {}): WebhookMessage => ({
  id,
  name: 'order:paid',
  data: { sum: 1 },
  digest: 'one',
  ...more,
});

async function events(id: string): Promise<{ name: string; data: unknown }[]> {
  return opened.database.query<{ name: string; data: unknown }>(
    `select name, data from published_events where handle = '@webhook' and key like '%/' || $1 order by seq`,
    [id],
  );
}

/** Everything that was used so far was used so many hours earlier. */
async function pass(hours: number): Promise<void> {
  await opened.database.query(`update webhook_messages set expires_at = expires_at - $1 * interval '1 hour'`, [hours]);
}

test('a message becomes an event once, and another one under its id none', async () => {
  const { webhooks } = opened.store;
  expect(await webhooks.receive(message('a'))).toBe('new');
  expect(await webhooks.receive(message('a'))).toBe('again');
  expect(await webhooks.receive(message('a', { digest: 'two', data: { sum: 2 } }))).toBe('other');
  expect(await webhooks.receive(message('a', { digest: 'three', name: 'order:refunded' }))).toBe('other');
  expect(await webhooks.receive(message('a'))).toBe('again');
  expect(await events('a')).toEqual([{ name: 'order:paid', data: { sum: 1 } }]);
});

test('two stores know the same ids, and so does one that is opened later', async () => {
  const others = [openStore({ url: opened.database.url }), openStore({ url: opened.database.url })];
  const stores = [opened.store, ...others, opened.store, ...others].flatMap((store) =>
    Array<typeof store>(5).fill(store),
  );
  const verdicts = await Promise.all(
    stores.map((store, n) =>
      store.webhooks.receive(message('b', n % 2 === 0 ? {} : { digest: 'two', data: { sum: 2 } })),
    ),
  );
  const counted = (verdict: string): number => verdicts.filter((one) => one === verdict).length;
  expect([counted('new'), counted('again'), counted('other')]).toEqual([1, 14, 15]);
  expect(await events('b')).toHaveLength(1);
  await Promise.all(others.map((store) => store.close()));
  const later = openStore({ url: opened.database.url });
  const [first] = await events('b');
  const isFirst = JSON.stringify(first?.data) === '{"sum":1}';
  expect(await later.webhooks.receive(message('b'))).toBe(isFirst ? 'again' : 'other');
  await later.close();
});

test('an id whose event could not be published was not used', async () => {
  const { webhooks } = opened.store;
  const { database } = opened;
  await database.query(`alter table published_events add constraint no_trouble check (name <> 'trouble') not valid`);
  await expect(webhooks.receive(message('c', { name: 'trouble' }))).rejects.toThrow(/no_trouble/);
  expect(await webhooks.receive(message('c'))).toBe('new');
  await database.query('alter table published_events drop constraint no_trouble');
});

test('an id is forgotten after a day, and its event stays', async () => {
  const { webhooks } = opened.store;
  const ids = async (): Promise<string[]> =>
    (await opened.database.query<{ id: string }>('select id from webhook_messages order by id')).map(({ id }) => id);
  await webhooks.receive(message('d'));
  await pass(23);
  await webhooks.sweep();
  expect(await ids()).toContain('d');
  expect(await webhooks.receive(message('d', { digest: 'two' }))).toBe('other');
  await pass(2);
  await webhooks.sweep();
  expect(await ids()).not.toContain('d');
  expect(await webhooks.receive(message('d', { digest: 'new spelling' }))).toBe('again');
  await pass(25);
  // An event outlives its id: the same name and id with other data are still not that event.
  expect(await webhooks.receive(message('d', { digest: 'two', data: { sum: 2 } }))).toBe('other');
  expect(await webhooks.receive(message('d', { digest: 'two', data: { sum: 2 } }))).toBe('other');
  expect(await webhooks.receive(message('d', { digest: 'three', name: 'order:refunded' }))).toBe('new');
  expect(await events('d')).toHaveLength(2);
});

test('an id that has expired and was not swept yet is free, too', async () => {
  const { webhooks } = opened.store;
  await webhooks.receive(message('e'));
  await pass(25);
  expect(await webhooks.receive(message('e', { digest: 'two', name: 'order:sent' }))).toBe('new');
  expect(await webhooks.receive(message('e'))).toBe('other');
});

test('every database has an id of its own, and keeps it', async () => {
  const id = await opened.store.installation();
  expect(id).toMatch(/^[\da-f-]{36}$/);
  const again = openStore({ url: opened.database.url });
  expect(await again.installation()).toBe(id);
  await again.close();
});

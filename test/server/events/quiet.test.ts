/** Triggers with a filter and triggers that wait for quiet, from the command line, over events of files and of webhooks. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signatureHeader } from '../../../worker/triggers/signature.ts';
import type { Json } from '../../../language/json.ts';
import type { Definition } from '../../../language/model.ts';
import { create, once } from '../harness/definitions.ts';
import { Harness, until } from '../harness/harness.ts';
import { freePort } from '../../postgres.ts';

const SECRET = 'a-secret-for-webhooks';

let harness: Harness;
let port = 0;
beforeAll(async () => {
  harness = await Harness.open();
  port = await freePort();
  await harness.startWorker({ SENTINEL_WEBHOOK_SECRET: SECRET, SENTINEL_WEBHOOK_PORT: String(port) });
});
afterAll(() => harness.close());

async function register(definition: Definition): Promise<string> {
  const file = join(harness.project, `${definition.name}.json`);
  writeFileSync(file, JSON.stringify(definition));
  const added = await harness.command('trigger', 'add', file, '--project', harness.project);
  expect(added).toMatchObject({ code: 0 });
  return added.out;
}

const take = (name: string, filter: string): Promise<string> =>
  register(once(name, [create(name, { n: '$event.n' })], { trigger: { type: 'event', event: 'paid', filter } }));

interface Shown {
  starts: { state: string; reason: string | null; event: { data: Json } }[];
}

const shown = async (name: string): Promise<Shown> =>
  JSON.parse((await harness.command('trigger', 'show', name, '--json')).out) as Shown;

const stored = async (name: string): Promise<string[]> => {
  const trigger = (await harness.store.triggers.list()).find((each) => each.name === name);
  return (await harness.store.triggers.starts(trigger?.id ?? '', 100)).map(({ state }) => state);
};

async function post(name: string, data: Json, id: string): Promise<number> {
  const body = Buffer.from(JSON.stringify(data));
  const signature = signatureHeader(SECRET, Math.floor(Date.now() / 1000), { id, name, body });
  const answer = await fetch(`http://127.0.0.1:${port}/events/${name}`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', 'x-event-id': id, 'x-sentinel-signature': signature },
  });
  return answer.status;
}

test('of changed files that come one after the other, the last one that the filter takes starts a run', async () => {
  const definition = once('sources', [create('sources', { path: '$event.path' })], {
    trigger: { type: 'event', event: 'file:changed', filter: "$event.path.endsWith('.ts')", debounceMs: 2_000 },
  });
  expect(await register(definition)).toContain(
    `sources starts 2.0 s after the last event file:changed for which $event.path.endsWith('.ts') is true, in ${harness.project}.`,
  );
  for (const name of ['a.ts', 'b.ts', 'c.ts', 'd.md']) {
    writeFileSync(join(harness.project, name), name);
    await new Promise((resolve) => setTimeout(resolve, 400));
  }
  await until(async () => (await harness.rows('sources')).length > 0);
  expect(await harness.rows('sources')).toMatchObject([{ path: 'c.ts' }]);
  const { starts } = await shown('sources');
  expect(starts.map(({ state, event }) => [state, (event.data as { path: string }).path])).toEqual([
    ['started', 'c.ts'],
    ['superseded', 'b.ts'],
    ['superseded', 'a.ts'],
  ]);
});

test('a webhook is filtered by its body, and a filter that fails is told', async () => {
  await take('large', '$event.n >= 100');
  await take('broken', '$event.n.includes(1)');
  expect(await post('paid', { n: 1, text: 'x' }, 'one')).toBe(202);
  expect(await post('paid', { n: 100, text: 'x' }, 'two')).toBe(202);
  await until(async () => (await harness.rows('large')).length > 0);
  await until(async () => (await stored('broken')).length === 2);
  expect(await harness.rows('large')).toMatchObject([{ n: 100 }]);
  expect((await shown('large')).starts).toHaveLength(1);
  const { starts } = await shown('broken');
  expect(starts.map(({ state }) => state)).toEqual(['refused', 'refused']);
  expect(starts[0]?.reason).toContain('its filter $event.n.includes(1) failed: ');
  expect((await harness.command('trigger', 'show', 'broken')).out).toContain('refused');
  expect(await harness.rows('broken')).toEqual([]);
});

/** When workers of projects end and come again, how many there may be, and webhooks for several projects on one port. */
import { createHmac, randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OpenClient } from '../../client/open-client.ts';
import { createSchedule, steerSchedule } from '../../runs/schedules.ts';
import type { Definition, Step } from '../../language/model.ts';
import { readServicesState } from '../../services/config/services-state.ts';
import { ensureServices } from '../../services/ensure-services.ts';
import { stopServices } from '../../services/stop-services.ts';
import { choosePort } from '../../services/processes/ports.ts';
import { freshServices } from './harness/fresh-services.ts';

let home: string;
let env: NodeJS.ProcessEnv;
let client: OpenClient;
let port: number;
const folders: string[] = [];

function projectOf(name: string, more = ''): string {
  const folder = mkdtempSync(join(tmpdir(), `sentinel-${name}-`));
  chmodSync(folder, 0o755);
  folders.push(folder);
  writeFileSync(
    join(folder, 'sentinel.config.mjs'),
    `import { defineCommand, z } from 'sentinel-engine/commands';
export default { commands: [defineCommand({
  name: 'own/say', permission: 'read', speed: 'quick', params: z.strictObject({}), result: z.string(), run: () => '${name}',
})], ${more} };
`,
  );
  return folder;
}

beforeAll(async () => {
  const fresh = await freshServices();
  home = fresh.home;
  port = await choosePort([]);
  env = {
    ...fresh.options.env,
    SENTINEL_PROJECT_WORKERS: '2',
    SENTINEL_PROJECT_IDLE_SECONDS: '10',
    SENTINEL_WEBHOOK_PORT: String(port),
  };
  client = new OpenClient({ env });
});
afterAll(async () => {
  await client.close();
  await stopServices({ env });
  for (const folder of [home, ...folders]) rmSync(folder, { recursive: true, force: true });
});

const say: Step = { type: 'command', command: 'own/say', params: {}, outputTo: 'said' };
const waitFor = (event: string): Step => ({ type: 'watch', event, timeoutMs: 600_000 });
const once = (name: string, steps: Step[]): Definition => ({ name, loop: { type: 'once' }, steps });
const saidBy = async (handle: string): Promise<unknown> => (await client.result(handle)).outputs?.['said'];
const pidOf = (project: string): number | null =>
  readServicesState(home)?.workers.find((worker) => worker.project === project)?.process?.pid ?? null;
async function ended(project: string): Promise<void> {
  await expect.poll(() => pidOf(project), { timeout: 60_000 }).toBe(null);
}

test('one that has nothing to do ends, one with a run that waits stays, and a schedule gets its worker', async () => {
  const [idle, waiting] = [projectOf('idle'), projectOf('waiting')];
  const { handle: held } = await client.start(once('held', [waitFor('go:on'), say]), { project: waiting });
  const pid = pidOf(waiting);
  await createSchedule(await client.parts(undefined, idle), {
    id: 'yearly',
    cron: '0 3 1 1 *',
    definition: once('scheduled', [say]),
    inputs: {},
    project: idle,
    persona: 'tester',
  });
  await ended(idle);
  await sleep(11_000);
  expect(pidOf(waiting)).toBe(pid);
  // The server starts it, and asks nobody.
  await steerSchedule(await client.parts(), 'yearly', 'trigger');
  const scheduled = async () => (await client.list({ limit: 5 })).find(({ name }) => name === 'scheduled');
  await expect.poll(scheduled, { timeout: 60_000 }).toMatchObject({ status: 'completed', project: idle });
  await client.emit('go:on', {});
  expect(await saidBy(held)).toBe('waiting');
  await Promise.all([ended(idle), ended(waiting)]);
});

test('as many as may be: the next is refused with the names of the others, and comes when one has ended', async () => {
  const [first, second, third] = [projectOf('first'), projectOf('second'), projectOf('third')];
  const held = await Promise.all(
    [first, second].map((project) => client.start(once('held', [waitFor('go:away'), say]), { project })),
  );
  await expect(client.start(once('says', [say]), { project: third })).rejects.toMatchObject({
    code: 'SERVICES',
    message: expect.stringMatching(
      new RegExp(`^${third} has no worker: 2 projects have one.*SENTINEL_PROJECT_WORKERS.*${first}`),
    ) as string,
  });
  await client.emit('go:away', {});
  expect(await Promise.all(held.map(({ handle }) => saidBy(handle)))).toEqual(['first', 'second']);
  await ended(first);
  const { handle } = await client.start(once('says', [say]), { project: third });
  expect(await saidBy(handle)).toBe('third');
  await Promise.all([ended(second), ended(third)]);
});

async function push(secret: string): Promise<number> {
  const body = JSON.stringify({ ref: 'refs/heads/main', after: randomUUID() });
  const answer = await fetch(`http://127.0.0.1:${port}/hooks/github`, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'x-github-event': 'push',
      'x-github-delivery': randomUUID(),
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    },
  }).catch(() => null);
  await answer?.text();
  return answer?.status ?? 0;
}

test('two projects receive webhooks on one port, each by its own secret, and their workers stay', async () => {
  const secrets = ['a secret of the one project', 'a secret of the other one'] as const;
  const [one, other] = secrets.map((secret) => projectOf('hooked', `webhooks: { github: { secret: '${secret}' } },`));
  for (const project of [one ?? '', other ?? '']) await ensureServices({ env, project });
  for (const secret of secrets) await expect.poll(() => push(secret), { timeout: 20_000 }).toBe(202);
  expect(await push('a secret of nobody at all')).toBe(401);
  const unknown = await fetch(`http://127.0.0.1:${port}/hooks/nobody`, { method: 'POST', body: '{}' });
  expect([unknown.status, await unknown.json()]).toEqual([
    404,
    expect.objectContaining({ code: 'WEBHOOK_SOURCE_UNKNOWN' }),
  ]);
  const pids = [pidOf(one ?? ''), pidOf(other ?? '')];
  await sleep(11_000);
  expect([pidOf(one ?? ''), pidOf(other ?? '')]).toEqual(pids);
  // They come again without anybody who asks.
  await client.close();
  await stopServices({ env });
  await ensureServices({ env });
  client = new OpenClient({ env });
  for (const secret of secrets) await expect.poll(() => push(secret), { timeout: 60_000 }).toBe(202);
});

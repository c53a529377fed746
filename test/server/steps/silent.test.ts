/** A command that says nothing for longer than a worker may be silent: it is performed once, and has the time that its step gives it. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SentinelClient } from '../../../client/client.ts';
import { once } from '../harness/definitions.ts';
import { Harness } from '../harness/harness.ts';

let harness: Harness;
let client: SentinelClient;
beforeAll(async () => {
  harness = await Harness.open();
  client = new SentinelClient({ env: harness.env, startsServices: false });
  writeFileSync(
    join(harness.project, 'sentinel.config.ts'),
    `
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { defineCommand, z } from 'sentinel-engine/commands';

export default {
  commands: [
    defineCommand({
      name: 'own/silent', description: 'Waits.', permission: 'read', speed: 'long',
      params: z.strictObject({ name: z.string(), seconds: z.number() }), result: z.null(),
      run: async ({ name, seconds }, { project }) => {
        appendFileSync(join(project, name), 'one ');
        await sleep(1000 * seconds);
        return null;
      },
    }),
  ],
};
`,
  );
  await harness.startWorker({ SENTINEL_PROJECT: harness.project });
});
afterAll(async () => {
  await client.close();
  await harness.close();
});

async function run(name: string, seconds: number, timeoutMs: number) {
  const step = { type: 'command', command: 'own/silent', params: { name, seconds }, timeoutMs } as const;
  const { handle } = await client.start(once(name, [step]), { project: harness.project });
  const { outcome, failure } = await harness.result(handle);
  return { outcome, code: failure?.code, begun: readFileSync(join(harness.project, name), 'utf8').trim() };
}

test('it ends after 20 s, and is told of its time limit after 17', async () => {
  const [ended, late] = await Promise.all([run('silent', 20, 60_000), run('late', 60, 17_000)]);
  expect(ended).toEqual({ outcome: 'completed', code: undefined, begun: 'one' });
  expect(late).toEqual({ outcome: 'failed', code: 'STEP_TIMEOUT', begun: 'one' });
}, 120_000);

test('a search that waits for a named pipe is told of its time limit, and not begun again', async () => {
  mkdirSync(join(harness.project, 'sub'));
  execFileSync('mkfifo', [join(harness.project, 'sub', 'pipe')]);
  // What a link leads to is not woken (world/files/wake-pipes.ts).
  symlinkSync('pipe', join(harness.project, 'sub', '.gitignore'));
  const step = { type: 'command', command: 'code/search', params: { pattern: 'text' }, timeoutMs: 17_000 } as const;
  const { handle } = await client.start(once('search', [step]), { project: harness.project });
  expect(await harness.result(handle)).toMatchObject({ outcome: 'failed', failure: { code: 'STEP_TIMEOUT' } });
}, 60_000);

/** What the shell that started a worker had open is not open in its steps: through a folder a sandboxed one would leave its view. */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findSandbox } from '../../../../world/confinement/sandbox.ts';
import { root } from '../../../project/tree.ts';
import { once, shell } from '../../harness/definitions.ts';
import { Harness, until } from '../../harness/harness.ts';

const { ok } = await findSandbox();
let harness: Harness;
let folder: string;
beforeAll(async () => {
  harness = await Harness.open();
  folder = mkdtempSync(join(tmpdir(), 'sentinel-open-'));
  mkdirSync(join(folder, 'inner'));
  writeFileSync(join(folder, 'secret'), 's3cret');
});
afterAll(async () => {
  await harness.close();
  rmSync(folder, { recursive: true, force: true });
});

test.runIf(ok)(
  'a folder that is open in the shell of the worker',
  async () => {
    const line = 'exec 200<"$1" 201>"$1/lock" 202<"$1/../secret"; exec "$2" "$3"';
    const program = join(root, 'dist', 'worker', 'main.js');
    const worker = spawn('bash', ['-c', line, 'bash', join(folder, 'inner'), process.execPath, program], {
      env: { ...process.env, ...harness.env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    worker.stdout.on('data', (text: Buffer) => (said += text.toString('utf8')));
    try {
      await until(() => said.includes('"ready":true'), 60_000);
      const look = 'cat /proc/self/fd/200/../secret; ls -l /proc/self/fd; echo made > /proc/self/fd/200/made';
      for (const mode of ['sandboxed', 'full'] as const) {
        const handle = await harness.start({ ...once('looks', [shell(look, { outputTo: 'seen' })]), mode });
        const seen = JSON.stringify((await harness.result(handle)).outputs['seen']);
        expect(seen).not.toContain('s3cret');
        expect(seen).not.toMatch(/ 20[0-2] ->/);
        expect(seen).toMatch(/ 1 -> /);
      }
    } finally {
      worker.kill('SIGTERM');
    }
  },
  120_000,
);

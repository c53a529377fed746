/** Real processes in a sandbox that outlive the worker that started them. */
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Confinement } from '../../../language/permissions.ts';
import { runShell } from '../../../operations/shell/run-shell.ts';
import { KeptProcesses } from '../../../world/processes/kept/kept-processes.ts';
import { workerMarker } from '../../../world/processes/orphans.ts';
import { shellContext, temporaryFolder } from '../harness/step-context.ts';

import { appears, begun, counted, folderOf, lines, ofAttempt } from '../harness/kept-steps.ts';

describe('a shell step in a sandbox whose worker is killed', { timeout: 60_000 }, () => {
  const confinement: Confinement = { mode: 'sandboxed' };

  it('goes on with the same process, which does everything once', async () => {
    const step = await begun(counted, {}, { confinement });
    await appears(join(step.project, 'effects'));
    await sleep(250);
    await step.kill();
    await sleep(200);
    const { context, result } = await step.next();
    expect(await result).toMatchObject({ exitCode: 0, stdout: lines('line'), stderr: lines('odd'), success: true });
    expect(await readFile(join(step.project, 'effects'), 'utf8')).toBe('1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n');
    expect(ofAttempt(context, 1, 'stdout')).toBe(lines('line'));
  });

  it('has the outcome of a process that ended while nobody watched', async () => {
    const step = await begun('echo > begun; sleep 0.4; echo after; exit 7', {}, { confinement });
    await appears(join(step.project, 'begun'));
    await step.kill();
    await sleep(1_000);
    expect(await (await step.next()).result).toMatchObject({ exitCode: 7, stdout: 'after\n' });
  });

  it('has all that it printed, also by the names of its streams', async () => {
    const step = await begun(
      'echo > begun; sleep 0.5; echo a > /dev/stdout; echo b | tee /dev/stderr',
      {},
      { confinement },
    );
    await appears(join(step.project, 'begun'));
    await step.kill();
    expect(await (await step.next()).result).toMatchObject({ exitCode: 0, stdout: 'a\nb\n', stderr: 'b\n' });
  });

  it('cannot say itself what came of it, or of another', async () => {
    const forge =
      'mkdir -p "$SENTINEL_KEPT"; echo "exit 0 1.00 closed" > "$SENTINEL_KEPT/outcome"; ls "$SENTINEL_KEPT/.."';
    const step = await begun(`echo > begun; sleep 0.3; ${forge}; exit 5`, {}, { confinement });
    await appears(join(step.project, 'begun'));
    await step.kill();
    const { exitCode, stdout } = await (await step.next()).result;
    expect(exitCode).toBe(5);
    expect(stdout.trim().split('\n')).toHaveLength(1);
  });

  it('ends all that is in it when it is cancelled', async () => {
    const step = await begun(
      'setsid sh -c "while :; do echo alive > beat; sleep 0.05; done" & echo > begun; sleep 300',
      {},
      { confinement },
    );
    await appears(join(step.project, 'begun'));
    await step.kill();
    const ending = new AbortController();
    const { result } = await step.next({ signal: ending.signal });
    setTimeout(() => ending.abort(new Error('enough')), 300);
    await expect(result).rejects.toThrow('enough');
    await rm(join(step.project, 'beat'), { force: true });
    await sleep(300);
    expect(existsSync(join(step.project, 'beat'))).toBe(false);
  });

  it('is made anew where its worker was lost before its program might run', async () => {
    const step = await begun('echo once >> effects; echo > begun; [ -e second ] || sleep 300', {}, { confinement });
    await appears(join(step.project, 'begun'));
    await step.kill();
    await rm(join(folderOf(step).path, 'begun'));
    await rm(join(step.project, 'effects'));
    await writeFile(join(step.project, 'second'), '');
    expect(await (await step.next({ request: { onUnknown: 'tell' } })).result).toMatchObject({ exitCode: 0 });
    expect(await readFile(join(step.project, 'effects'), 'utf8')).toBe('once\n');
  });
});

it.each([
  ['as it is', {}],
  ['in a sandbox', { mode: 'sandboxed' } as const],
])('a value that is too large for a variable reaches a process that is to be kept, %s', async (_how, confinement) => {
  const project = await temporaryFolder();
  const processes = new KeptProcesses(join(await temporaryFolder(), 'processes'), await workerMarker());
  const context = shellContext(project, { confinement, keeping: { processes, ends: () => true } });
  const request = { command: 'wc -c < "$LARGE_FILE"', files: { LARGE: 'x'.repeat(200_000) } };
  const { stdout } = await runShell({ ...request, timeoutMs: 30_000, isKept: true }, context);
  expect(Number(stdout)).toBe(200_000);
});

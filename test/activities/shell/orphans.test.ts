/** Real processes: a worker that is killed in the middle of a shell step, and its successor. */
import { readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { build } from 'esbuild';
import { execa } from 'execa';
import { describe, expect, it, onTestFinished } from 'vitest';
import { endStep, sweepOrphans, workerMarker } from '../../../world/processes/orphans.ts';
import { STEP_MARKER, WORKER_MARKER } from '../../../world/processes/processes.ts';
import { runShell } from '../../../operations/shell/run-shell.ts';
import { isAlive, isGroupAlive, shellContext, temporaryFolder } from '../harness/step-context.ts';
import { pidOf } from '../../pids.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** A worker process that runs one shell step, which writes its process id and lives on. */
async function startWorker(project: string, handle: string) {
  const entry = join(project, 'worker.ts');
  await writeFile(
    entry,
    `import { runShell } from '${root}operations/shell/run-shell.ts';
     await runShell({ command: 'echo $$ > pid; while :; do echo alive > beat; sleep 0.05; done', timeoutMs: 600_000 }, {
       run: { handle: '${handle}', project: '${project}', persona: 'p', definitionHash: 'd' },
       key: 'steps.0@1', attempt: 1, signal: new AbortController().signal,
       store: { logs: { append: async () => undefined } }, heartbeat() {}, now: () => Date.now(),
     });`,
  );
  const outfile = join(project, 'worker.mjs');
  const banner = { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" };
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    banner,
    logLevel: 'error',
  });
  const worker = execa('node', [outfile], { reject: false, cleanup: true });
  const pid = await readPid(join(project, 'pid'));
  onTestFinished(() => {
    if (isAlive(pid)) process.kill(-pid, 'SIGKILL');
  });
  return { worker, pid };
}

async function readPid(file: string): Promise<number> {
  for (;;) {
    const text = await readFile(file, 'utf8').catch(() => '');
    if (text.endsWith('\n')) return Number(text);
    await sleep(20);
  }
}

describe('a shell whose worker died', { timeout: 60_000 }, () => {
  it('lives on, and is ended before the step runs again', async () => {
    const project = await temporaryFolder();
    const context = shellContext(project, { attempt: 2 });
    const { worker, pid } = await startWorker(project, context.run.handle);
    worker.kill('SIGKILL');
    await worker;
    expect(await isGroupAlive(pid)).toBe(true);
    const result = await runShell(
      { command: 'rm -f beat; sleep 0.4; test -e beat && echo beside || echo alone', timeoutMs: 30_000 },
      context,
    );
    expect(result.stdout).toBe('alone\n');
    expect(await isGroupAlive(pid)).toBe(false);
  });

  it('is left alone by another step, and by a first attempt', async () => {
    const project = await temporaryFolder();
    const { worker, pid } = await startWorker(project, 'run-a');
    await endStep('run-a', 'steps.1@1');
    await endStep('run-b', 'steps.0@1');
    expect(await isGroupAlive(pid)).toBe(true);
    worker.kill('SIGKILL');
    await endStep('run-a', 'steps.0@1');
    expect(await isGroupAlive(pid)).toBe(false);
  });

  it("is swept by the next worker of the host; a living worker's step is not", async () => {
    const [dead, living] = [await temporaryFolder(), await temporaryFolder()];
    const first = await startWorker(dead, 'run-dead');
    const second = await startWorker(living, 'run-living');
    first.worker.kill('SIGKILL');
    await first.worker;
    const swept = await sweepOrphans();
    expect(swept).toContain('run-dead:steps.0@1');
    expect(swept).not.toContain('run-living:steps.0@1');
    expect(await isGroupAlive(first.pid)).toBe(false);
    expect(await isGroupAlive(second.pid)).toBe(true);
    second.worker.kill('SIGKILL');
  });

  it.each([
    [
      'a worker of another host, whose processes cannot be seen here',
      (own: string) => `${own.replace(hostname(), 'elsewhere')}0`,
      false,
    ],
    ['a worker whose process id was given to another process', (own: string) => `${own}0`, true],
    ['this worker', (own: string) => own, false],
  ])('tells whose it is: %s', async (_name, change, isSwept) => {
    const env = { [STEP_MARKER]: 'run-x:steps.0@1', [WORKER_MARKER]: change(await workerMarker()) };
    const child = execa('sleep', ['60'], { env, detached: true, reject: false });
    onTestFinished(() => void child.kill('SIGKILL'));
    await sleep(50);
    const swept = await sweepOrphans(200);
    expect(swept.includes('run-x:steps.0@1')).toBe(isSwept);
    expect(await isGroupAlive(pidOf(child))).toBe(!isSwept);
  });
});

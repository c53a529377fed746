/** `safety.maxMemoryMb`, with processes that really allocate. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Confinement } from '../../../language/permissions.ts';
import { processStart } from '../../../world/processes/processes.ts';
import type { ShellRequest } from '../../../operations/shell/request.ts';
import { runShell } from '../../../operations/shell/run-shell.ts';
import { findSandbox } from '../../../world/confinement/sandbox.ts';
import { shellContext, temporaryFolder } from '../harness/step-context.ts';

const finding = await findSandbox();

async function run(request: Partial<ShellRequest>, confinement: Confinement, project?: string) {
  return runShell(
    { command: 'true', timeoutMs: 60_000, ...request },
    shellContext(project ?? (await temporaryFolder()), { confinement }),
  );
}

/** Grows by 5 MB every 10 ms, and touches what it holds. */
const grow = (untilMb: number): string =>
  `const held = []; console.log('begun'); const timer = setInterval(() => { if (held.length >= ${untilMb / 5}) { console.log('done'); clearInterval(timer); } else held.push(Buffer.alloc(5e6, 1)); }, 10);`;

describe('a step with a bound on memory', () => {
  it('runs as it is below it', async () => {
    expect(await run({ command: 'node', args: ['-e', grow(20)] }, { memoryMb: 300 })).toMatchObject({
      exitCode: 0,
      stdout: 'begun\ndone\n',
    });
    expect(await run({ command: 'exit 7' }, { memoryMb: 300 })).toMatchObject({ exitCode: 7 });
    expect(await run({ command: 'printf', args: ['%s|', 'a b', '$x'] }, { memoryMb: 300 })).toMatchObject({
      stdout: 'a b|$x|',
    });
  });

  it('is ended above it, with what it said', async () => {
    const failed = run({ command: 'node', args: ['-e', grow(2000)] }, { memoryMb: 150 });
    await expect(failed).rejects.toMatchObject({
      code: 'MEMORY_LIMIT',
      details: { maxMemoryMb: 150, stdout: 'begun\n' },
    });
  });

  it('counts all its processes together', async () => {
    const project = await temporaryFolder();
    const one = `node -e "require('fs').writeFileSync('pid' + process.argv[1], String(process.pid)); const held = Buffer.alloc(9e7, 1); setInterval(() => held.length, 1000)"`;
    const failed = run({ command: `setsid ${one} 1 & ${one} 2 & wait` }, { memoryMb: 180 }, project);
    await expect(failed).rejects.toMatchObject({ code: 'MEMORY_LIMIT' });
    for (const name of ['pid1', 'pid2'])
      expect(await processStart(Number(await readFile(join(project, name), 'utf8')))).toBeNull();
  });

  it('is refused by the system when it asks for far more at once', async () => {
    const all = await run({ command: 'node', args: ['-e', 'Buffer.alloc(3e9)'] }, { memoryMb: 100 });
    expect(all).toMatchObject({ success: false });
  });

  it('says that a program is missing', async () => {
    await expect(run({ command: 'no-such-program', args: [] }, { memoryMb: 100 })).rejects.toMatchObject({
      code: 'SHELL_NOT_STARTED',
    });
  });

  it.runIf(finding.ok)('holds in a sandbox too', async () => {
    const failed = run({ command: 'node', args: ['-e', grow(2000)] }, { memoryMb: 150, mode: 'sandboxed' });
    await expect(failed).rejects.toMatchObject({ code: 'MEMORY_LIMIT', details: { stdout: 'begun\n' } });
  });
});

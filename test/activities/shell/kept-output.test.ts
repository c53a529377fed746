/** What a kept process prints, whatever it does with its streams, and wherever they are kept. */
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runShell } from '../../../operations/shell/run-shell.ts';
import { KeptProcesses } from '../../../world/processes/kept/kept-processes.ts';
import { workerMarker } from '../../../world/processes/orphans.ts';
import { appears, begun, folderOf, ofAttempt, type Step } from '../harness/kept-steps.ts';
import { shellContext, temporaryFolder } from '../harness/step-context.ts';

async function takenOver(step: Step) {
  await appears(join(step.project, 'begun'));
  await step.kill();
  const { context, result } = await step.next();
  return { context, ...(await result) };
}

it.each([{}, { mode: 'sandboxed' as const }])(
  'a process that ends with its worker has pipes, too: %o',
  async (confinement) => {
    const context = shellContext(await temporaryFolder(), { confinement });
    const command =
      'read a < /dev/stdin; read b < /dev/stdin; echo $a $b; wc -c; echo c > /dev/stderr; echo d | tee /dev/stderr; seq 1 100000';
    const stdin = `one\ntwo\n${'three\n'.repeat(100_000)}`;
    const { stdout, stderr } = await runShell({ command, stdin, timeoutMs: 20_000 }, context);
    const counted = Array.from({ length: 100_000 }, (_, i) => i + 1).join('\n');
    expect(stdout).toBe(`one two\n600000\nd\n${counted}\n`);
    expect(stderr).toBe('c\nd\n');
  },
);

async function smallDisk(): Promise<string> {
  const disk = await temporaryFolder();
  await execa('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk]);
  onTestFinished(async () => {
    await execa('umount', ['-l', disk], { reject: false });
  });
  return disk;
}

describe('what a kept process prints', { timeout: 60_000 }, () => {
  it.each([
    [
      'names its streams',
      'echo a > /dev/stderr; echo b > /dev/stdout; echo c > /dev/stdout; echo d > /dev/stderr',
      'b\nc\n',
      'a\nd\n',
    ],
    ['copies what passes', 'echo a >&2; echo b; echo c | tee /dev/stderr | cat', 'b\nc\n', 'a\nc\n'],
    [
      'may write only small files',
      'ulimit -f 1; seq 1 500',
      `${Array.from({ length: 500 }, (_, i) => i + 1).join('\n')}\n`,
      '',
    ],
    ['seeks in them', 'echo a; perl -e "seek STDOUT, 0, 0; print qq(b\\n)"', 'a\nb\n', ''],
  ])('is whole where it %s', async (_name, command, stdout, stderr) => {
    for (const pause of ['', 'sleep 0.5; ']) {
      const step = await begun(`echo > begun; ${pause}${command}`);
      expect(await takenOver(step)).toMatchObject({ exitCode: 0, stdout, stderr });
    }
  });

  it('is not found by a search through the project that holds it', async () => {
    const project = await temporaryFolder();
    await writeFile(join(project, 'file'), 'needle\n');
    const search = 'grep -rn needle . | cat; grep -rn needle .; echo $?';
    const step = await begun(`echo > begun; echo a needle; sleep 0.5; ${search}`, { timeoutMs: 20_000 }, { project });
    const { exitCode, stdout } = await takenOver(step);
    expect(exitCode).toBe(0);
    expect(stdout.split('\n').filter((line) => line.startsWith('./file'))).toHaveLength(2);
    expect(stdout.split('\n').length).toBeLessThan(10);
  });

  it('has an end where a child in the background goes on to print', async () => {
    const step = await begun('echo > begun; sleep 0.5; (sleep 0.05; echo late) & echo early');
    expect(await takenOver(step)).toMatchObject({ exitCode: 0, stdout: 'early\nlate\n' });
  });

  const isRoot = process.getuid?.() === 0;

  it.runIf(isRoot)('is the reason why it is not started, where there is no room for what it is given', async () => {
    const disk = await smallDisk();
    const processes = new KeptProcesses(join(disk, 'processes'), await workerMarker());
    const context = shellContext(await temporaryFolder(), { keeping: { processes, ends: () => true } });
    const line = { command: 'echo > begun', timeoutMs: 5_000, isKept: true };
    const large = 'x'.repeat(2 ** 21);
    for (const given of [{ stdin: large }, { files: { LARGE: large } }])
      await expect(runShell({ ...line, ...given }, context)).rejects.toMatchObject({
        code: 'SHELL_NOT_STARTED',
        message: expect.stringContaining('make room there') as string,
      });
    expect(existsSync(join(context.run.project, 'begun'))).toBe(false);
    expect(processes.find(context.run.handle, context.key)).toBeNull();
    await expect(runShell(line, context)).resolves.toMatchObject({ exitCode: 0 });
  });

  it.runIf(isRoot)('waits for room on a full disk, and is whole', async () => {
    const disk = await smallDisk();
    const step = await begun(
      'echo > begun; while [ ! -e go ]; do sleep 0.05; done; seq 1 100000; echo $? > status',
      {},
      { kept: join(disk, 'processes') },
    );
    await appears(join(step.project, 'begun'));
    await writeFile(join(disk, 'full'), Buffer.alloc(2 ** 21)).catch(() => undefined);
    await step.kill();
    await writeFile(join(step.project, 'go'), '');
    await sleep(1_000);
    expect(folderOf(step).outcome).toBeNull();
    const { context, result } = await step.next();
    await sleep(300);
    await rm(join(disk, 'full'));
    const all = `${Array.from({ length: 100_000 }, (_, i) => i + 1).join('\n')}\n`;
    expect((await result).stdout).toBe(all);
    expect(ofAttempt(context, 1, 'stdout')).toBe(all);
    expect(await appears(join(step.project, 'status'))).toBe('0\n');
  });
});

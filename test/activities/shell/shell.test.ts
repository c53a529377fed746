import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { outputBytesMax, valueBytesMax } from '../../../language/limits.ts';
import { SHELL_BOUNDS } from '../../../world/processes/bounds.ts';
import type { ShellRequest } from '../../../operations/shell/request.ts';
import { runShell } from '../../../operations/shell/run-shell.ts';
import { isGroupAlive, shellContext, temporaryFolder, type TestContext } from '../harness/step-context.ts';

async function run(request: Partial<ShellRequest>, context?: TestContext) {
  const used = context ?? shellContext(await temporaryFolder());
  return runShell({ command: 'true', timeoutMs: 60_000, ...request }, used);
}

const pidIn = async (folder: string): Promise<number> => {
  for (;;) {
    const text = await readFile(join(folder, 'pid'), 'utf8').catch(() => '');
    if (text.endsWith('\n')) return Number(text);
    await sleep(10);
  }
};

describe('a shell step', () => {
  it.each<[string, Partial<ShellRequest>, object]>([
    [
      'runs a line',
      { command: 'echo a; echo b >&2; exit 3' },
      { exitCode: 3, exit_code: 3, stdout: 'a\n', stderr: 'b\n', success: false },
    ],
    [
      'runs a program',
      { command: 'printf', args: ['%s|', '$HOME; id', 'b c'] },
      { exitCode: 0, stdout: '$HOME; id|b c|', success: true },
    ],
    ['gives it stdin', { command: 'cat', stdin: 'line ü\n' }, { stdout: 'line ü\n' }],
    ['closes stdin when there is none', { command: 'cat; echo end' }, { stdout: 'end\n' }],
    [
      'survives a program that does not read its stdin',
      { command: 'true', stdin: 'x'.repeat(2_000_000) },
      { exitCode: 0 },
    ],
    ['gives it variables', { command: 'echo "$A"', env: { A: 'x"y$z' } }, { stdout: 'x"y$z\n' }],
    ['tells a signal', { command: 'kill -9 $$' }, { exitCode: 137, signal: 'SIGKILL', success: false }],
    ['replaces NUL', { command: String.raw`printf 'a\0b'` }, { stdout: 'a\uFFFDb' }],
    ['keeps escape sequences', { command: String.raw`printf '\033[1mx'` }, { stdout: '\u001b[1mx' }],
  ])('%s', async (_name, request, expected) => {
    expect(await run(request)).toMatchObject(expected);
  });
});

describe('what a shell step starts with', () => {
  it('starts in the project, or in a folder of it', async () => {
    const project = await temporaryFolder();
    await mkdir(join(project, 'sub'));
    expect((await run({ command: 'pwd' }, shellContext(project))).stdout).toBe(`${project}\n`);
    expect((await run({ command: 'pwd', cwd: 'sub' }, shellContext(project))).stdout).toBe(`${project}/sub\n`);
  });

  it('reads a script of the project', async () => {
    const project = await temporaryFolder();
    await writeFile(join(project, 'say'), '#!/bin/sh\necho "$1"\n', { mode: 0o755 });
    expect((await run({ command: './say', args: ['hi there'] }, shellContext(project))).stdout).toBe('hi there\n');
  });
});

describe('a shell step that cannot start', () => {
  it.each<[string, Partial<ShellRequest>, string]>([
    ['a program that does not exist', { command: 'no-such-program', args: [] }, 'SHELL_NOT_STARTED'],
    ['a folder that does not exist', { cwd: 'nowhere' }, 'SHELL_NOT_STARTED'],
    ['a NUL in an argument', { command: 'echo', args: ['a\0b'] }, 'SHELL_NOT_STARTED'],
    ['a folder outside the project', { cwd: '..' }, 'PATH_OUTSIDE_PROJECT'],
    [
      'a variable past the bound',
      { env: { SENTINEL_1: 'x'.repeat(SHELL_BOUNDS.argumentBytesMax) } },
      'SHELL_ARGUMENT_TOO_LARGE',
    ],
    [
      'an argument past the bound',
      { command: 'echo', args: ['x'.repeat(SHELL_BOUNDS.argumentBytesMax + 1)] },
      'SHELL_ARGUMENT_TOO_LARGE',
    ],
    [
      'many large arguments',
      { command: 'echo', args: Array.from({ length: 10 }, () => 'x'.repeat(SHELL_BOUNDS.argumentBytesMax)) },
      'SHELL_ARGUMENT_TOO_LARGE',
    ],
  ])('refuses %s', async (_name, request, code) => {
    await expect(run(request)).rejects.toMatchObject({ code });
  });

  it('takes an argument at the bound', async () => {
    const args = ['%s', 'x'.repeat(SHELL_BOUNDS.argumentBytesMax)];
    expect(await run({ command: 'printf', args })).toMatchObject({ exitCode: 0, stdout: args[1] });
  });

  it.each([
    [outputBytesMax, {}],
    [outputBytesMax + 1, { truncated: true }],
  ])('of %d bytes keeps whole what may be, and says what it does not', async (bytes, more) => {
    const { truncated, stdout, output } = await run({ command: `head -c ${bytes} /dev/zero | tr '\\0' x` });
    expect(truncated === undefined ? {} : { truncated }).toEqual(more);
    expect(output).toBe(stdout);
    expect(stdout.includes('1 bytes dropped')).toBe(truncated === true);
  });

  it('keeps no more than a value may have, whatever its characters are', async () => {
    const result = await run({ command: String.raw`head -c 900000 /dev/zero | tr '\0' '\033'` });
    expect(result).toMatchObject({ exitCode: 0, truncated: true });
    expect(JSON.stringify(result).length).toBeLessThan(valueBytesMax);
  });
});

describe('the environment of a shell step', () => {
  it("does not hand the worker's secrets to the process", async () => {
    const secrets = {
      DATABASE_URL: 's3cret',
      NPM_TOKEN: 's3cret',
      ANTHROPIC_API_KEY: 's3cret',
      SENTINEL_INNER: 's3cret',
    };
    Object.assign(process.env, secrets, { PLAIN_NAME: 'plain' });
    const { stdout } = await run({ command: 'env', env: { DEPLOY_TOKEN: 'given' } });
    for (const name of Object.keys(secrets)) Reflect.deleteProperty(process.env, name);
    expect(stdout).not.toContain('s3cret');
    expect(stdout).toContain('PLAIN_NAME=plain');
    expect(stdout).toContain('DEPLOY_TOKEN=given');
  });
});

describe('the end of a shell step', () => {
  it('does not wait for what it left in the background', async () => {
    const project = await temporaryFolder();
    const startedAt = performance.now();
    const result = await run({ command: 'sleep 30 & echo $! > pid; echo done' }, shellContext(project));
    expect(result.stdout).toBe('done\n');
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    expect(await isGroupAlive(await pidIn(project))).toBe(false);
  });

  it('ends the whole group on timeout and says what was printed last', async () => {
    const project = await temporaryFolder();
    const command =
      'trap "" TERM; sh -c \'trap "" TERM; while :; do sleep 0.1; done\' & echo $$ > pid; echo working; while :; do sleep 0.1; done';
    const failure = await run({ command, timeoutMs: 300, graceMs: 300 }, shellContext(project)).catch(
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({ code: 'STEP_TIMEOUT', details: { stdout: 'working\n', stderr: '' } });
    expect(await isGroupAlive(await pidIn(project))).toBe(false);
  });

  it('ends even what left the group, by its marker', async () => {
    const project = await temporaryFolder();
    const command = "setsid sh -c 'echo $$ > pid; sleep 60' & sleep 60";
    await expect(run({ command, timeoutMs: 500, graceMs: 500 }, shellContext(project))).rejects.toMatchObject({
      code: 'STEP_TIMEOUT',
    });
    expect(await isGroupAlive(await pidIn(project))).toBe(false);
  });

  it('lets the process clean up on cancellation, then rethrows the reason', async () => {
    const project = await temporaryFolder();
    const stop = new AbortController();
    const context = shellContext(project, { signal: stop.signal });
    const command = 'trap "echo cleaned > left; exit 0" TERM; echo $$ > pid; while :; do sleep 0.05; done';
    const running = run({ command }, context);
    const pid = await pidIn(project);
    stop.abort(new Error('cancelled by the test'));
    await expect(running).rejects.toThrow('cancelled by the test');
    expect(await isGroupAlive(pid)).toBe(false);
    expect(await readFile(join(project, 'left'), 'utf8')).toBe('cleaned\n');
  });

  it('starts nothing when it is cancelled already', async () => {
    const project = await temporaryFolder();
    const context = shellContext(project, { signal: AbortSignal.abort(new Error('before')) });
    await expect(run({ command: 'touch started' }, context)).rejects.toThrow('before');
    await expect(readFile(join(project, 'started'))).rejects.toThrow('ENOENT');
  });

  it('beats while it runs', async () => {
    const context = shellContext(await temporaryFolder());
    await run({ command: 'sleep 2.5' }, context);
    expect(context.beats).toBeGreaterThanOrEqual(1);
  });
});

/** Steps of a sandboxed run, in a real sandbox; where the host cannot make one, that they are refused. */
import { chmod, chown, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ShellRequest } from '../../../operations/shell/request.ts';
import { runShell } from '../../../operations/shell/run-shell.ts';
import { findSandbox } from '../../../world/confinement/sandbox.ts';
import { withValueFiles } from '../../../operations/shell/value-files.ts';
import { shellContext, temporaryFolder } from '../harness/step-context.ts';

const finding = await findSandbox();
const confinement = { mode: 'sandboxed' } as const;

async function inside(request: Partial<ShellRequest>, project?: string) {
  return runShell(
    { command: 'true', timeoutMs: 30_000, ...request },
    shellContext(project ?? (await temporaryFolder()), { confinement }),
  );
}

describe.runIf(finding.ok)('a sandboxed step', () => {
  it('writes in the project', async () => {
    const project = await temporaryFolder();
    await mkdir(join(project, 'sub'));
    expect(await inside({ command: 'echo made > new; pwd', cwd: 'sub' }, project)).toMatchObject({
      exitCode: 0,
      stdout: `${project}/sub\n`,
    });
    expect(await readFile(join(project, 'sub/new'), 'utf8')).toBe('made\n');
  });

  it.each(['/usr/intruder', '/etc/intruder', '/intruder', `${homedir()}/intruder`])('cannot write %s', async (path) => {
    const { success, stderr } = await inside({ command: `echo x > ${path}` });
    expect(success).toBe(false);
    expect(stderr).toMatch(/Read-only|nonexistent|No such|cannot create/);
    await expect(readFile(path)).rejects.toThrow('ENOENT');
  });

  it('has a /tmp of its own', async () => {
    const outside = await mkdtemp('/tmp/sentinel-outside-');
    onTestFinished(() => rm(outside, { recursive: true }));
    await writeFile(join(outside, 'secret'), 'x');
    const { exitCode, stdout } = await inside({
      command: `cat ${outside}/secret; echo x > /tmp/mine && cat /tmp/mine`,
    });
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'x\n' });
    await expect(readFile('/tmp/mine')).rejects.toThrow('ENOENT');
  });

  it('does not see the home folder', async () => {
    const hidden = await mkdtemp(join(homedir(), '.sentinel-hidden-'));
    onTestFinished(() => rm(hidden, { recursive: true }));
    await writeFile(join(hidden, 'token'), 's3cret');
    expect((await inside({ command: `cat ${hidden}/token; ls -A "$HOME"` })).stdout).toBe('');
    // Only folders of PATH are to be seen there.
    expect((await inside({ command: `ls -A ${homedir()}` })).stdout).not.toContain('.sentinel-hidden');
  });

  it('does not see the home folder through a link in the project', async () => {
    const project = await temporaryFolder();
    const hidden = await mkdtemp(join(homedir(), '.sentinel-hidden-'));
    onTestFinished(() => rm(hidden, { recursive: true }));
    await writeFile(join(hidden, 'token'), 's3cret');
    await symlink(hidden, join(project, 'link'));
    expect((await inside({ command: 'cat link/token' }, project)).success).toBe(false);
  });
});

describe.runIf(finding.ok)('what a sandboxed step sees', () => {
  it("does not see the data of Sentinel's own services", async () => {
    const project = await temporaryFolder();
    await mkdir(join(project, '.sentinel'));
    await writeFile(join(project, '.sentinel/services.json'), 's3cret');
    expect((await inside({ command: 'ls -A .sentinel' }, project)).stdout).toBe('');
  });

  it("does not see the system's secrets", async () => {
    expect(await inside({ command: 'cat /etc/shadow; ls /run /var/run' })).toMatchObject({ stdout: '' });
  });

  it('reaches no network, not even this host', async () => {
    const server = createServer((socket) => socket.end('hello'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const line = `node -e "require('net').connect(${port}, '127.0.0.1').on('data', (d) => { console.log(String(d)); process.exit() }).on('error', (e) => { console.log(e.code); process.exit(3) })"`;
    expect(await runShell({ command: line, timeoutMs: 30_000 }, shellContext(await temporaryFolder()))).toMatchObject({
      stdout: 'hello\n',
    });
    expect(await inside({ command: line })).toMatchObject({ exitCode: 3, stdout: 'ECONNREFUSED\n' });
    expect((await inside({ command: 'cat /proc/net/dev | grep -c :' })).stdout).toBe('1\n');
  });

  it('sees no process of the host', async () => {
    expect(Number((await inside({ command: 'ls -d /proc/[0-9]* | wc -l' })).stdout)).toBeLessThan(6);
  });
});

describe.runIf(finding.ok)('a sandboxed step, seen from outside', () => {
  it('passes code, streams and stdin as they are', async () => {
    expect(await inside({ command: 'cat; echo err >&2; exit 7', stdin: 'in' })).toMatchObject({
      exitCode: 7,
      stdout: 'in',
      stderr: 'err\n',
    });
    expect(await inside({ command: 'printf', args: ['%s|', '$HOME; id', 'b c'] })).toMatchObject({
      stdout: '$HOME; id|b c|',
    });
    expect(await inside({ command: 'kill -9 $$' })).toMatchObject({ exitCode: 137, success: false });
  });

  it('reads values that came as files', async () => {
    const project = await temporaryFolder();
    const result = await withValueFiles({ SENTINEL_1: 'large' }, (env, folder) =>
      inside(
        { command: 'cat "$SENTINEL_1_FILE"', env, sandbox: { readable: folder === undefined ? [] : [folder] } },
        project,
      ),
    );
    expect(result.stdout).toBe('large');
  });

  it('says that a program is missing', async () => {
    await expect(inside({ command: 'no-such-program', args: [] })).rejects.toMatchObject({ code: 'SHELL_NOT_STARTED' });
    await expect(inside({ command: '/bin/sh', args: ['-c', 'true'], cwd: 'nowhere' })).rejects.toMatchObject({
      code: 'SHELL_NOT_STARTED',
    });
  });

  it('refuses a project that holds what has to be hidden', async () => {
    await expect(inside({}, homedir())).rejects.toMatchObject({ code: 'SANDBOX_NOT_AVAILABLE' });
    await expect(inside({}, '/')).rejects.toMatchObject({ code: 'SANDBOX_NOT_AVAILABLE' });
  });

  it.runIf(process.getuid?.() === 0)(
    'enters the project of another user only where that user lets others in',
    async () => {
      const project = await temporaryFolder();
      await writeFile(join(project, 'text'), 'x');
      await chown(project, 65_534, 65_534);
      await chmod(project, 0o755);
      expect(await inside({ command: 'cat text' }, project)).toMatchObject({ exitCode: 0, stdout: 'x' });
      await chmod(project, 0o700);
      await expect(inside({ command: 'cat text' }, project)).rejects.toMatchObject({
        code: 'SANDBOX_NOT_AVAILABLE',
        message: expect.stringContaining('belongs to user 65534, who lets nobody else in') as string,
      });
    },
  );

  it('ends with everything it started', async () => {
    const project = await temporaryFolder();
    const command = 'setsid sh -c "while :; do echo alive > beat; sleep 0.05; done" & while :; do sleep 1; done';
    const started = inside({ command, timeoutMs: 700, graceMs: 300 }, project);
    await expect(started).rejects.toMatchObject({ code: 'STEP_TIMEOUT' });
    await writeFile(join(project, 'beat'), 'quiet');
    await sleep(300);
    expect(await readFile(join(project, 'beat'), 'utf8')).toBe('quiet');
  });
});

it('where there is no bubblewrap, a sandboxed step is refused, and says what to do', async () => {
  const empty = await temporaryFolder();
  expect(await findSandbox(empty)).toMatchObject({
    ok: false,
    reason: expect.stringContaining('not on PATH') as string,
    remedy: expect.stringContaining('bubblewrap') as string,
  });
});

it('where bubblewrap does not work, its complaint is told', async () => {
  const folder = await temporaryFolder();
  await writeFile(
    join(folder, 'bwrap'),
    '#!/bin/sh\necho "bwrap: No permissions to create new namespace" >&2\nexit 1\n',
    { mode: 0o755 },
  );
  expect(await findSandbox(folder)).toMatchObject({
    ok: false,
    reason: expect.stringContaining('No permissions') as string,
  });
});

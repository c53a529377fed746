/** A step's variables, its folder, its arguments and its input reach the step alone: never what starts it, and never what it is shown. */
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../activities/harness/step-context.ts';
import { hasSandbox, homeFolder, shell } from './inside.ts';

describe.runIf(hasSandbox)("a sandboxed step's variables do not reach what starts it", () => {
  it.each(['shell line', 'program', 'program under a bound on memory'])(
    'the loader writes nothing: %s',
    async (how) => {
      const project = await temporaryFolder();
      const outside = await temporaryFolder();
      const env = { LD_DEBUG: 'all', LD_DEBUG_OUTPUT: join(outside, 'loader') };
      if (how === 'shell line') await shell(project, { command: 'true', env });
      else if (how === 'program') await shell(project, { command: 'true', args: [], env });
      else await shell(project, { command: 'true', args: [], env }, 'boundedSandbox');
      expect(await readdir(outside)).toEqual([]);
    },
  );

  const source =
    '#include <stdio.h>\n__attribute__((constructor)) static void out(void) { FILE *f = fopen(OUT, "w"); if (f) fclose(f); }\nunsigned la_version(unsigned v) { return v; }\n';
  const compiler = (['cc', 'gcc', 'clang'] as const).find((name) =>
    (process.env['PATH'] ?? '').split(delimiter).some((folder) => folder !== '' && existsSync(join(folder, name))),
  );
  it.runIf(compiler !== undefined).each(['LD_PRELOAD', 'LD_AUDIT'])(
    'no library of its choice is loaded: %s',
    async (name) => {
      const project = await temporaryFolder();
      const outside = await temporaryFolder();
      await writeFile(join(project, 'evil.c'), source);
      await execa(compiler ?? '', ['-shared', '-fPIC', `-DOUT="${outside}/out"`, '-o', 'evil.so', 'evil.c'], {
        cwd: project,
      });
      await shell(project, { command: 'true', env: { [name]: join(project, 'evil.so') } });
      expect(await readdir(outside)).toEqual([]);
    },
  );

  it('its values are not among the arguments that everyone sees', async () => {
    const project = await temporaryFolder();
    const running = shell(project, { command: 'echo up > up; sleep 2', env: { TOKEN_VALUE: 'hunter2-in-ps' } });
    await expect.poll(() => readFile(join(project, 'up'), 'utf8').catch(() => ''), { timeout: 10_000 }).toBe('up\n');
    const { stdout } = await execa('ps', ['-A', '-ww', '-o', 'args=']);
    await running;
    expect(stdout).not.toContain('hunter2-in-ps');
  });

  it('still reach the step', async () => {
    const project = await temporaryFolder();
    const env = { PLAIN: 'a "b"\n$c', EMPTY: '', LARGE: 'x'.repeat(90_000) };
    const { stdout } = await shell(project, {
      command: 'printf "%s|%s|%s" "$PLAIN" "${EMPTY-unset}" "${#LARGE}"',
      env,
    });
    expect(stdout).toBe('a "b"\n$c||90000');
  });
});

describe.runIf(hasSandbox)("a sandboxed step's PATH mounts nothing", () => {
  it('no folder of the home', async () => {
    const hidden = await homeFolder();
    const { stdout } = await shell(await temporaryFolder(), {
      command: `cat ${hidden}/key`,
      env: { PATH: `/usr/bin:/bin:${hidden}` },
    });
    expect(stdout).toBe('');
  });

  it('no socket of the host', async () => {
    const folder = await homeFolder();
    const socket = join(folder, 'socket');
    const server = createServer((connection) => connection.end('answered'));
    await new Promise<void>((resolve) => server.listen(socket, resolve));
    onTestFinished(() => void server.close());
    const line = `node -e "require('net').connect('${socket}').on('data', (d) => console.log(String(d))).on('error', (e) => console.log(e.code))"`;
    const { stdout } = await shell(await temporaryFolder(), {
      command: line,
      env: { PATH: `${process.env['PATH'] ?? ''}:${folder}` },
    });
    expect(stdout).toBe('ENOENT\n');
  });

  it.each(['/proc', '/proc/1', '/run', '/dev', '/sys', '/var', '/'])('nothing of %s', async (folder) => {
    const project = await temporaryFolder();
    const line = `ls /run /var /sys 2>/dev/null; ls -d /proc/${process.pid}; ls /dev | wc -l`;
    const plain = await shell(project, { command: line, env: { PATH: '/usr/bin:/bin' } });
    const widened = await shell(project, { command: line, env: { PATH: `/usr/bin:/bin:${folder}` } });
    expect(widened.stdout).toBe(plain.stdout);
  });
});

describe.runIf(hasSandbox)("a sandboxed step's folder, arguments and input", () => {
  it.each(['--bind', '--ro-bind', '--dev-bind'])('an argument is no option of the sandbox: %s', async (option) => {
    const hidden = await homeFolder();
    const project = await temporaryFolder();
    await expect(
      shell(project, { command: option, args: [hidden, hidden, '/bin/cat', `${hidden}/key`] }),
    ).rejects.toMatchObject({
      code: 'SHELL_NOT_STARTED',
    });
    const { stdout } = await shell(project, { command: '/bin/echo', args: ['--', option, hidden, hidden] });
    expect(stdout).toBe(`-- ${option} ${hidden} ${hidden}\n`);
  });

  it('a folder that becomes a link leads nowhere', async () => {
    const hidden = await homeFolder();
    const project = await temporaryFolder();
    await symlink(hidden, join(project, 'sub'));
    await expect(shell(project, { command: 'cat key', cwd: 'sub' })).rejects.toMatchObject({
      code: 'PATH_OUTSIDE_PROJECT',
    });
  });

  it('input holds no options either', async () => {
    const hidden = await homeFolder();
    const stdin = ['--ro-bind', hidden, hidden, ''].join('\0');
    const { stdout } = await shell(await temporaryFolder(), {
      command: `cat > /dev/null; cat ${hidden}/key`,
      stdin,
    });
    expect(stdout).toBe('');
  });
});

describe.runIf(hasSandbox)('a NUL byte begins no option of the sandbox', () => {
  it.each([
    ['in a value', (hidden: string) => ({ A: `x\0--ro-bind\0${hidden}\0${hidden}` })],
    ['in a name', (hidden: string) => ({ [`A\0x\0--ro-bind\0${hidden}\0${hidden}\0--setenv\0B`]: 'x' })],
    ['at the end', (hidden: string) => ({ A: 'x\0', B: `--ro-bind\0${hidden}\0${hidden}` })],
  ])('%s', async (_where, env) => {
    const hidden = await homeFolder();
    const started = shell(await temporaryFolder(), { command: `cat ${hidden}/key`, env: env(hidden) });
    await expect(started).rejects.toMatchObject({ code: 'SHELL_NOT_STARTED' });
  });
});

describe.runIf(hasSandbox)('what starts a sandbox', () => {
  it.each(['node_modules/.bin', 'bin', '.'])('is no program of the project: %s', async (folder) => {
    const project = await temporaryFolder();
    const outside = await temporaryFolder();
    await mkdir(join(project, folder), { recursive: true });
    for (const name of ['bwrap', 'git', 'sh', 'ps']) {
      const file = join(project, folder, name);
      await writeFile(file, `#!/bin/sh\ntouch ${outside}/${name}\n`);
      await chmod(file, 0o755);
    }
    const before = process.env['PATH'];
    process.env['PATH'] = `${join(project, folder)}${delimiter}${before ?? ''}`;
    onTestFinished(() => void (process.env['PATH'] = before));
    expect((await shell(project, { command: '/bin/echo', args: ['in'] })).stdout).toBe('in\n');
    expect(await readdir(outside)).toEqual([]);
  });
});

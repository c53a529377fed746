/** Who listens on a socket does what is asked outside of the sandbox: a step reaches none but its own. */
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../../activities/harness/step-context.ts';
import { hasSandbox, shell } from '../inside.ts';

async function listening(socket: string): Promise<void> {
  await mkdir(dirname(socket), { recursive: true });
  const server = createServer((connection) => connection.end('answered'));
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  onTestFinished(() => void server.close());
}

const asks = (socket: string): string =>
  `node -e "require('net').connect('${socket}').on('data', (d) => console.log(String(d))).on('error', (e) => console.log(e.code))"`;

describe.runIf(hasSandbox)('a sandboxed step', () => {
  it.each(['service.sock', 'deep/er/.s.PGSQL.5432', 'node_modules/.run/a b'])(
    'reaches no service on a socket of the project: %s',
    async (name) => {
      const project = await temporaryFolder();
      const socket = join(project, name);
      await listening(socket);
      const away = `mv '${socket}' moved; mv '${dirname(socket)}' ../moved; ln '${socket}' linked; rm -f '${socket}'; `;
      const { stdout } = await shell(project, { command: `(${away}) 2>/dev/null; ${asks(socket)}` });
      expect(stdout).toMatch(/^(?:ENOTSOCK|ECONNREFUSED)\n$/);
      expect((await shell(project, { command: asks(socket) }, 'full')).stdout).toBe('answered\n');
    },
  );

  it('reaches none in a folder of programs', async () => {
    const folder = await realpath(await mkdtemp(join(homedir(), '.sentinel-programs-')));
    onTestFinished(() => rm(folder, { recursive: true }));
    const socket = join(folder, 'run', 'daemon.sock');
    await listening(socket);
    vi.stubEnv('PATH', `${process.env['PATH'] ?? ''}:${folder}`);
    onTestFinished(() => void vi.unstubAllEnvs());
    const { stdout } = await shell(await temporaryFolder(), { command: `ls ${folder}; ${asks(socket)}` });
    expect(stdout).toMatch(/^run\n(?:ENOTSOCK|ECONNREFUSED)\n$/);
  });

  it('makes one anew that a process left behind which has ended', async () => {
    const project = await temporaryFolder();
    const held = `node -e "require('net').createServer().listen('left.sock', () => process.kill(process.pid, 'SIGKILL'))"`;
    await shell(project, { command: held });
    expect((await shell(project, { command: 'test -S left.sock && rm left.sock && echo removed' })).stdout).toBe(
      'removed\n',
    );
  });

  it('listens on its own, and asks there', async () => {
    const line = `node -e "const n = require('net'); const s = n.createServer((c) => c.end('answered')).listen('own.sock', () => n.connect('own.sock').on('data', (d) => { console.log(String(d)); s.close(); }))"`;
    const project = await temporaryFolder();
    for (const round of [1, 2])
      expect((await shell(project, { command: `: ${round}; ${line}` })).stdout).toBe('answered\n');
  });
});

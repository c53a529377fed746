/** What only asks for the user's id: a worker of root has that, and its sandboxed steps have it too. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findHelper } from '../../../world/own-programs/helper-programs.ts';
import { findSandbox, sandboxDoubt } from '../../../world/confinement/sandbox.ts';
import { trySandbox } from '../../../world/confinement/sandbox-probe.ts';
import { temporaryFolder } from '../../activities/harness/step-context.ts';
import { hasSandbox, shell } from '../inside.ts';

const isRoot = process.getuid?.() === 0;
const bwrap = findHelper('bwrap') ?? '';

describe.runIf(hasSandbox)('a sandboxed step writes no setting of the kernel', () => {
  it.each([
    '/proc/sys/kernel/core_pattern',
    '/proc/sys/kernel/modprobe',
    '/proc/sys/vm/drop_caches',
    '/proc/sysrq-trigger',
    '/sys/kernel/uevent_helper',
    '/dev/kmsg',
    '/dev/mem',
  ])('%s', async (place) => {
    // Opened, and nothing is written.
    const { exitCode, stdout } = await shell(await temporaryFolder(), {
      command: `[ -e ${place} ] || exit 3; ( : >> ${place} ) && echo OPENED || exit 3`,
    });
    expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: '' });
  });

  it.runIf(isRoot)('nor anything else of /proc but of its own processes', async () => {
    const { stdout } = await shell(await temporaryFolder(), {
      command: `find /proc -path '/proc/[0-9]*' -prune -o -type f -writable -print 2>/dev/null`,
    });
    expect(stdout).toBe('');
  });

  it('nor through a /proc or a mount of its own', async () => {
    const { stdout } = await shell(await temporaryFolder(), {
      command: `
        unshare -Urmpf sh -c 'mount -t proc proc /tmp && ( : >> /tmp/sys/kernel/core_pattern ) && echo OPENED'
        unshare -Urm sh -c 'mount -o remount,rw,bind /proc; umount /proc; ( : >> /proc/sys/kernel/core_pattern ) && echo OPENED'
      `,
    });
    expect(stdout).toBe('');
  });
});

describe.runIf(hasSandbox)('what reads the settings works', () => {
  it('reads them, and runs programs', async () => {
    const { stdout } = await shell(await temporaryFolder(), {
      command: 'cat /proc/sys/kernel/pid_max /proc/self/comm && node -p "os.cpus().length > 0"',
    });
    expect(stdout).toMatch(/^\d+\ncat\ntrue\n$/);
  });
});

describe.runIf(hasSandbox)('a sandbox that does not hold is found out before a step runs in it', () => {
  const usual = ['--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev'];

  it('it has a network', async () => {
    const { leaks } = await trySandbox(bwrap, ['--unshare-all', '--share-net', ...usual]);
    expect(leaks).toContainEqual(expect.stringContaining('network interface'));
  });

  it.runIf(isRoot)('root may write settings: the sandbox without our own mount', async () => {
    const { leaks } = await trySandbox(bwrap, ['--unshare-all', '--cap-drop', 'ALL', ...usual]);
    expect(leaks).toContainEqual(expect.stringContaining('a process in it can write /proc/'));
  });

  it.runIf(isRoot)('a process has capabilities', async () => {
    const { leaks } = await trySandbox(bwrap, ['--unshare-all', '--cap-add', 'ALL', ...usual, '--remount-ro', '/proc']);
    expect(leaks).toContain('a process in it has capabilities');
  });

  it.runIf(isRoot)('the worker cannot see what is in it', async () => {
    const folder = await temporaryFolder();
    // Its processes are in a list that is not the worker's.
    await writeFile(join(folder, 'bwrap'), `#!/bin/sh\nexec unshare --pid --fork ${bwrap} "$@"\n`, { mode: 0o755 });
    expect(await findSandbox(`${folder}:${process.env['PATH'] ?? ''}`)).toMatchObject({
      ok: false,
      reason: expect.stringContaining('cannot examine') as string,
    });
  });

  it('its bubblewrap leaves the filter of system calls out, which a worker says when it starts', async () => {
    const folder = await temporaryFolder();
    const without = `#!/bin/sh\n[ "$1" = --seccomp ] && shift 2\nexec ${bwrap} "$@"\n`;
    await writeFile(join(folder, 'bwrap'), without, { mode: 0o755 });
    expect(await sandboxDoubt(`${folder}:${process.env['PATH'] ?? ''}`)).toMatch(
      /"sandboxed" runs are refused here: .*can make a program that runs as the user of the worker/,
    );
  });

  it('and the usual one is found to hold', async () => {
    expect(await findSandbox()).toMatchObject({ ok: true });
    expect(await sandboxDoubt()).toBeNull();
    expect(await sandboxDoubt(await temporaryFolder())).toBeNull();
  });
});

/** Programs that wait for somebody: nobody is there at a step, unless somebody says so; what a step waited for is named. */
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it, test } from 'vitest';
import type { ShellRequest } from '../../../operations/shell/request.ts';
import { childEnvironment } from '../../../world/processes/child-environment.ts';
import { runShell } from '../../../operations/shell/run-shell.ts';
import { shellContext, temporaryFolder } from '../harness/step-context.ts';

/** The user's own configuration has an editor that never ends, for messages and for lists of commits. */
async function repository(): Promise<(request: Partial<ShellRequest>) => ReturnType<typeof runShell>> {
  const project = await temporaryFolder();
  const home = join(project, 'home');
  const bin = join(project, 'bin');
  await mkdir(home);
  await mkdir(bin);
  for (const name of ['vi', 'pinentry-tty']) {
    await writeFile(join(bin, name), `#!/bin/bash\nexec -a ${name} sleep 60\n`);
    await chmod(join(bin, name), 0o755);
  }
  await writeFile(
    join(home, '.gitconfig'),
    `[core]\n editor = ${join(bin, 'vi')}\n[sequence]\n editor = ${join(bin, 'vi')}\n[user]\n name = a\n email = a@b.c\n`,
  );
  const context = shellContext(project);
  const env = { HOME: home, PATH: `${bin}:${process.env['PATH'] ?? ''}` };
  const run = (request: Partial<ShellRequest>): ReturnType<typeof runShell> =>
    runShell({ command: 'true', timeoutMs: 30_000, ...request, env: { ...env, ...request.env } }, context);
  await run({ command: 'git init -q . && echo a > a && git add a && git commit -qm one && echo b > a && git add a' });
  return run;
}

const last = '; git log -1 --format=%s';

describe('git', () => {
  it.each([
    ['commit', 'git commit'],
    ['commit --amend', 'git commit --amend'],
    ['rebase -i', 'git commit -qm two; git rebase -i HEAD~1'],
    ['tag -a', 'git tag -a v1'],
  ])('fails at once where it would open an editor: %s', async (_name, command) => {
    const run = await repository();
    const { exitCode, stderr } = await run({ command });
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain('nobody is there to edit');
  });

  it.each<[string, Partial<ShellRequest>]>([
    ['the line sets EDITOR', { command: `EDITOR=./edit git commit -q${last}` }],
    ['the line sets GIT_EDITOR', { command: `GIT_EDITOR=./edit git commit -q${last}` }],
    ['the line configures it', { command: `git -c core.editor=./edit commit -q${last}` }],
    ['the step sets EDITOR', { command: `git commit -q${last}`, env: { EDITOR: './edit' } }],
    ['the step sets VISUAL', { command: `git commit -q${last}`, env: { VISUAL: './edit' } }],
    ['the step sets GIT_EDITOR', { command: `git commit -q${last}`, env: { GIT_EDITOR: './edit' } }],
  ])('takes an editor that is meant: %s', async (_name, request) => {
    const run = await repository();
    await run({ command: `printf '#!/bin/sh\\necho written > "$1"\\n' > edit; chmod +x edit` });
    expect(await run(request)).toMatchObject({ stdout: 'written\n' });
  });

  it('takes an editor for a list of commits that is meant', async () => {
    const run = await repository();
    const drop = 'sed -i s/^pick/drop/';
    const begun = 'git commit -qm two; git commit -q --allow-empty -m three';
    expect(
      await run({ command: `${begun}; GIT_SEQUENCE_EDITOR="${drop}" git rebase -qi HEAD~1${last}` }),
    ).toMatchObject({
      stdout: 'two\n',
    });
    expect(await run({ command: `EDITOR="${drop}" git rebase -qi HEAD~1${last}` })).toMatchObject({ stdout: 'one\n' });
  });
});

const environmentOf = (own: NodeJS.ProcessEnv, step: Record<string, string> = {}): Record<string, string> =>
  childEnvironment(own, step, { mode: undefined, markers: {} });

describe("the worker's own environment", () => {
  it.each([
    ['vim', 'false'],
    ['/usr/bin/nano -w', 'false'],
    ['code --wait', 'false'],
    ['emacsclient -t', 'false'],
    ['', 'false'],
    ['/opt/edit-by-program', '/opt/edit-by-program'],
  ])('EDITOR=%j is %j in a step', (own, seen) => {
    expect(environmentOf({ EDITOR: own })['EDITOR']).toBe(seen);
  });

  it('stands where it says otherwise, or where it is passed on by name', () => {
    expect(
      environmentOf({ DEBIAN_FRONTEND: 'dialog', VISUAL: 'vim', PAGER: 'less -R', GPG_TTY: '/dev/pts/1' }),
    ).toMatchObject({
      DEBIAN_FRONTEND: 'dialog',
      EDITOR: 'false',
      PAGER: 'cat',
    });
    expect(environmentOf({ VISUAL: 'vim', GPG_TTY: '/dev/pts/1' })).not.toHaveProperty('VISUAL');
    expect(environmentOf({ GPG_TTY: '/dev/pts/1' })).not.toHaveProperty('GPG_TTY');
    const named = { EDITOR: 'vim', GPG_TTY: '/dev/pts/1', GIT_TERMINAL_PROMPT: '1' };
    expect(environmentOf({ ...named, SENTINEL_STEP_ENV: 'EDITOR,GPG_TTY,GIT_TERMINAL_PROMPT' })).toMatchObject(named);
    expect(environmentOf({ EDITOR: 'vim' }, { EDITOR: 'vim' })['EDITOR']).toBe('vim');
  });

  afterEach(() => {
    delete process.env['EDITOR'];
  });
  it('names no editor that waits', async () => {
    process.env['EDITOR'] = 'vi';
    const run = await repository();
    expect((await run({ command: 'git -c core.editor= commit || git commit' })).stderr).toContain('nobody is there');
  });
});

test.each([
  ['git -c core.editor=vi commit', /"vi 60" waited for somebody, and nobody is there/],
  ['(pinentry-tty); true', /"pinentry-tty 60" waited for somebody/],
  ['sleep 50; true', /and was ended; it was at "sleep 50"; raise timeoutMs/],
  ['sleep 50', /and was ended; raise timeoutMs or make it faster$/],
])('%s: the failure after its time limit says what it was at', async (command, message) => {
  const run = await repository();
  await expect(run({ command, timeoutMs: 1_500, graceMs: 100 })).rejects.toMatchObject({
    code: 'STEP_TIMEOUT',
    message: expect.stringMatching(message) as string,
  });
});

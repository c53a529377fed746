/** Who is inside a step is known, whatever it has taken off: what is left to a person is refused to it. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import type { ShellRequest } from '../../operations/shell/request.ts';
import { runShell } from '../../operations/shell/run-shell.ts';
import { shellContext, temporaryFolder } from '../activities/harness/step-context.ts';

const dist = fileURLToPath(new URL('../../dist/', import.meta.url));
const asks = `import('${dist}world/processes/step-mark.js').then(async ({ isWithinStep }) => console.log(await isWithinStep()))`;

const run = (project: string, request: Partial<ShellRequest>) =>
  runShell({ command: 'true', timeoutMs: 60_000, ...request }, shellContext(project));

describe('a process knows that it is inside a step', () => {
  it.each([
    ['as it is', 'exec'],
    ['without its variables', 'exec env -i'],
    ['in a session of its own, without its variables', 'exec setsid -w env -i'],
    ['without the bound that marks it', `ulimit -S -w unlimited; exec env -i`],
    ['without any mark', `prlimit --pid $$ --locks=unlimited:unlimited; exec setsid -w env -i`],
    ['in a namespace of processes of its own', 'ulimit -S -w unlimited; exec unshare -rpf --mount-proc env -i'],
  ])('%s', async (_how, by) => {
    const request = { command: `${by} "$NODE" -e "$ASKS"`, env: { NODE: process.execPath, ASKS: asks } };
    expect(await run(await temporaryFolder(), request)).toMatchObject({ stdout: 'true\n' });
  });

  it('when the one that started it has ended', async () => {
    const command = `(setsid env -i sh -c 'prlimit --pid $$ --locks=unlimited:unlimited; sleep 0.1; "$0" -e "$1" > said; : > end' "$NODE" "$ASKS" &); while [ ! -e end ]; do sleep 0.05; done`;
    const project = await temporaryFolder();
    await run(project, { command, env: { NODE: process.execPath, ASKS: asks, PATH: process.env['PATH'] ?? '' } });
    expect(await readFile(join(project, 'said'), 'utf8')).toBe('true\n');
  });

  it('and one that no step has started knows that, too', async () => {
    expect((await execa(process.execPath, ['-e', asks])).stdout).toBe('false');
  });
});

describe('what is left to a person is refused inside a step', () => {
  it.each([
    'answer nightly approve',
    'answer nightly steps.1@1 extend',
    'resume nightly',
    'step skip nightly steps.2',
    'undo nightly --force',
    'mcp accept github 0123456789abcdef',
    'trust',
  ])('sentinel %s', async (verb) => {
    const project = await temporaryFolder();
    const command = `exec setsid -w env -i PATH="$PATH" HOME="$PWD" SENTINEL_HOME="$PWD/home" "$NODE" ${dist}cli/main.js ${verb} --json`;
    const result = await run(project, { command, env: { NODE: process.execPath } });
    expect(result).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('ANSWER_REFUSED') });
  });

  it.each(['explain it.json', 'schema', 'undo --help', 'doctor'])('and sentinel %s is not', async (verb) => {
    const project = await temporaryFolder();
    const command = `echo '{"name": "it", "steps": [{"type": "shell", "command": "true"}]}' > it.json; HOME="$PWD" SENTINEL_HOME="$PWD/home" "$NODE" ${dist}cli/main.js ${verb}`;
    const result = await run(project, { command, env: { NODE: process.execPath } });
    expect(result.output).not.toContain('ANSWER_REFUSED');
    expect(result.stdout.length).toBeGreaterThan(20);
  });
});

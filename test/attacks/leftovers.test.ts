/** What a step starts ends with it, however it hides; what `wait: false` starts ends with the run. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { processStart } from '../../world/processes/processes.ts';
import { temporaryFolder } from '../activities/harness/step-context.ts';
import { shell } from './inside.ts';

const sleeper = 'sh -c "echo \\$\\$ > pid; exec sleep 600"';
const isHere = async (project: string): Promise<boolean> =>
  (await processStart(Number(await readFile(join(project, 'pid'), 'utf8')))) !== null;

describe('a step leaves no process behind', () => {
  it.each([
    ['nohup', `nohup ${sleeper} > /dev/null 2>&1 &`],
    ['setsid', `setsid ${sleeper} > /dev/null 2>&1 &`],
    ['with its pipes held', `${sleeper} &`],
    ['without its environment', `env -i setsid ${sleeper} > /dev/null 2>&1 &`],
    [
      'forked twice, without its environment',
      `printf 'echo $$ > pid; exec sleep 600' > it; (env -i setsid sh -c '(sh it &)' > /dev/null 2>&1 &);`,
    ],
    ['deaf to SIGTERM', `setsid sh -c 'trap "" TERM; echo $$ > pid; while :; do sleep 1; done' > /dev/null 2>&1 &`],
  ])('%s', async (_how, line) => {
    const project = await temporaryFolder();
    const result = await shell(
      project,
      { command: `${line} while [ ! -s pid ]; do sleep 0.02; done; echo done`, graceMs: 500 },
      'full',
    );
    expect(result).toMatchObject({ success: true, stdout: 'done\n' });
    expect(await isHere(project)).toBe(false);
  });

  it('and lets what is about to end come to its end', async () => {
    const project = await temporaryFolder();
    await shell(project, { command: '(sleep 0.05; echo whole > file) > /dev/null 2>&1 &' }, 'full');
    expect(await readFile(join(project, 'file'), 'utf8')).toBe('whole\n');
  });
});

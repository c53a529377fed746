/** What starts the keepers of a worker: many at once, and whatever becomes of it, each says how it ended. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { defined } from '../../../language/defined.ts';
import { type Begun, Starter } from '../../../world/processes/kept/starter.ts';
import { LeftBehind } from '../../../world/processes/overtaken.ts';
import { listProcesses } from '../../../world/processes/process-table.ts';
import { findInit, underInit } from '../../../world/processes/step-init.ts';
import { appears } from '../harness/kept-steps.ts';

const folders: string[] = [];
const opened: Starter[] = [];
afterEach(() => {
  for (const starter of opened.splice(0)) starter.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const made = (): Starter => {
  const starter = new Starter();
  opened.push(starter);
  return starter;
};

async function start(
  starter: Starter,
  line: string,
  { cwd, env = {}, input = null }: { cwd?: string; env?: Record<string, string>; input?: string | null } = {},
): Promise<{ folder: string; begun: Begun | Error }> {
  const init = await findInit();
  if (init === null) throw new Error('this machine has no init');
  const folder = mkdtempSync(join(tmpdir(), 'sentinel-starter-'));
  folders.push(folder);
  const tag = starter.nextTag();
  const bounds = { folder, timeoutMs: 60_000, graceMs: 1000, outputBytes: 1 << 20, tag };
  const program = { file: '/bin/sh', args: ['-c', line], cwd: cwd ?? folder, env: { PATH: '/usr/bin:/bin', ...env } };
  const launch = underInit(program, init, { mark: { own: 0, most: 0 }, ...defined({ kept: bounds }) });
  const begun = await starter.start(launch, tag, { input, folder });
  if (begun === null) throw new Error('this machine has no Perl');
  return { folder, begun };
}

const told = (begun: Begun | Error): Begun => {
  if (begun instanceof Error) throw begun;
  return begun;
};

const starters = async (): Promise<number[]> => {
  const own = (await listProcesses()).filter(({ parent }) => parent === process.pid);
  return own
    .filter(({ pid }) => readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('sentinel-starter'))
    .map(({ pid }) => pid);
};

describe('a starter', () => {
  it('starts many at once, each with its own folder, variables and end', async () => {
    const starter = made();
    const each = Array.from({ length: 24 }, async (_, nth) => {
      const { folder, begun } = await start(starter, `echo "$OWN"; echo ${nth} >&2; pwd; exit ${nth}`, {
        env: { OWN: `${nth}\nand 'more' "of" it=${'x'.repeat(nth * 4000)}` },
      });
      const { pid, exit, gone } = told(begun);
      expect(pid).toBeGreaterThan(0);
      expect(await exit).toEqual({ code: nth, signal: null });
      expect(await gone).toEqual({ wasKilled: false });
      const own = `${nth}\nand 'more' "of" it=${'x'.repeat(nth * 4000)}`;
      expect(readFileSync(join(folder, 'out'), 'utf8')).toBe(`\0${own}\n${folder}\n`);
      expect(readFileSync(join(folder, 'err'), 'utf8')).toBe(`\0${nth}\n`);
    });
    await Promise.all(each);
    expect(await starters()).toHaveLength(1);
  });

  it('says that a keeper was killed, and what it was told to end with', async () => {
    const { begun } = await start(made(), 'sleep 60');
    const { leader, exit, gone } = told(begun);
    process.kill(leader, 'SIGKILL');
    expect(await exit).toEqual({ code: null, signal: 'SIGKILL' });
    expect(await gone).toEqual({ wasKilled: true });
  });

  it('says why nothing was started', async () => {
    const starter = made();
    expect((await start(starter, 'true', { cwd: '/there/is/none' })).begun).toMatchObject({
      message: expect.stringContaining('No such file') as string,
    });
    expect((await start(starter, 'true', { env: { A: 'a\0b' } })).begun).toBeInstanceOf(Error);
    expect(await told((await start(starter, 'exit 3')).begun).exit).toEqual({ code: 3, signal: null });
  });

  it('that is killed is replaced, and what it had started still says how it ends', async () => {
    const starter = made();
    const { folder, begun } = await start(starter, 'echo > begun; until [ -e go ]; do sleep 0.05; done; exit 5');
    await appears(join(folder, 'begun'));
    const [first = 0] = await starters();
    process.kill(first, 'SIGKILL');
    await expect.poll(starters).toEqual([]);
    // Until it knows of its end, it leaves what is asked of it to another attempt.
    const next = (): ReturnType<typeof start> =>
      start(starter, 'echo > "$GO"', { env: { GO: join(folder, 'go') } }).catch((error: unknown) => {
        if (error instanceof LeftBehind) return next();
        throw error;
      });
    expect(await told((await next()).begun).exit).toEqual({ code: 0, signal: null });
    expect(await told(begun).exit).toEqual({ code: 5, signal: null });
    expect(await told(begun).gone).toEqual({ wasKilled: false });
  });

  it('that is killed before it says whether it has begun leaves that to another attempt', async () => {
    const starter = made();
    await told((await start(starter, 'true')).begun).gone;
    const [pid = 0] = await starters();
    process.kill(pid, 'SIGSTOP');
    const starting = start(starter, 'true');
    const refused = expect(starting).rejects.toBeInstanceOf(LeftBehind);
    process.kill(pid, 'SIGKILL');
    await refused;
  });

  it('ends with its worker, and what it has started goes on', async () => {
    const starter = made();
    const { folder, begun } = await start(starter, 'sleep 0.5; echo > ended');
    told(begun);
    starter.close();
    await expect.poll(starters).toEqual([]);
    await appears(join(folder, 'outcome'));
    expect(existsSync(join(folder, 'ended'))).toBe(true);
  });
});

/** Real processes: shell steps whose process outlives the worker that started it, and the worker that comes next. */
import { readdirSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { describe, expect, it, vi } from 'vitest';
import { KeptProcesses } from '../../../world/processes/kept/kept-processes.ts';
import { LeftBehind } from '../../../world/processes/overtaken.ts';
import { sweepOrphans, workerMarker } from '../../../world/processes/orphans.ts';
import { isAlive } from '../harness/step-context.ts';

import { appears, begun, counted, folderOf, lines, ofAttempt } from '../harness/kept-steps.ts';

describe('a shell step whose worker is killed', { timeout: 60_000 }, () => {
  it('goes on with the same process, which does everything once', async () => {
    const step = await begun(counted);
    await appears(join(step.project, 'effects'));
    await sleep(250);
    await step.kill();
    await sleep(200);
    const { context, result } = await step.next();
    expect(await result).toMatchObject({ exitCode: 0, stdout: lines('line'), stderr: lines('odd'), success: true });
    expect(await readFile(join(step.project, 'effects'), 'utf8')).toBe('1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n');
    expect(ofAttempt(context, 1, 'stdout')).toBe(lines('line'));
    expect(ofAttempt(context, 1, 'stderr')).toBe(lines('odd'));
    expect(ofAttempt(context, 2, 'stderr').split('\n')).toHaveLength(2);
  });

  it.each(['process.noted', 'process.made', 'process.spawned'] as const)(
    'begins the process, or goes on with it, where its worker died at %s: whatever looks after the home meanwhile, its outcome is not unknown',
    async (diesAt) => {
      const step = await begun('echo ran >> ran; echo said', { onUnknown: 'tell' }, { diesAt });
      await step.worker;
      const home = new KeptProcesses(step.kept, await workerMarker());
      home.open(() => Promise.resolve(true));
      await sleep(300);
      await home.close();
      const { result } = await step.next();
      expect(await result).toMatchObject({ exitCode: 0, stdout: 'said\n' });
      expect(await readFile(join(step.project, 'ran'), 'utf8')).toBe('ran\n');
    },
  );

  it('has the outcome of a process that ended while nobody watched', async () => {
    const step = await begun('echo before; touch begun; echo >> begun; sleep 0.4; echo after; exit 7');
    await appears(join(step.project, 'begun'));
    await step.kill();
    await sleep(1_000);
    const { result } = await step.next();
    const ended = await result;
    expect(ended).toMatchObject({ exitCode: 7, stdout: 'before\nafter\n', success: false });
    expect(ended.durationMs).toBeGreaterThan(350);
    expect(ended.durationMs).toBeLessThan(1_000);
  });

  it.each([
    ['forward', 7_200_000],
    ['back', -7_200_000],
  ])('has the time that it had where the clock of the machine is set %s meanwhile', async (_where, byMs) => {
    const step = await begun(counted, { timeoutMs: 30_000 });
    await appears(join(step.project, 'effects'));
    await step.kill();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + byMs });
    try {
      const { result } = await step.next();
      const { durationMs, ...ended } = await result;
      expect(ended).toMatchObject({ exitCode: 0, stdout: lines('line'), success: true });
      expect(durationMs).toBeLessThan(30_000);
    } finally {
      vi.useRealTimers();
    }
    expect(await readFile(join(step.project, 'effects'), 'utf8')).toBe('1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n');
  });

  it('knows by which signal it ended', async () => {
    const step = await begun('echo > begun; sleep 0.3; kill -9 $$');
    await appears(join(step.project, 'begun'));
    await step.kill();
    await sleep(700);
    expect(await (await step.next()).result).toMatchObject({ exitCode: 137, signal: 'SIGKILL' });
  });

  it('is held to its time while nobody watches', async () => {
    const step = await begun('echo > begun; trap "echo told" TERM; while :; do sleep 0.05; done', {
      timeoutMs: 1_000,
      graceMs: 400,
    });
    await appears(join(step.project, 'begun'));
    await step.kill();
    await sleep(3_500);
    expect(folderOf(step).outcome).not.toBeNull();
    await expect((await step.next()).result).rejects.toMatchObject({
      code: 'STEP_TIMEOUT',
      details: { stdout: expect.stringContaining('told\n') as string },
    });
  });

  it('has only the time that is left of its step', async () => {
    const step = await begun('echo > begun; sleep 30', { timeoutMs: 2_500, graceMs: 200 });
    await appears(join(step.project, 'begun'));
    await step.kill();
    await sleep(1_000);
    const before = performance.now();
    await expect((await step.next()).result).rejects.toMatchObject({ code: 'STEP_TIMEOUT' });
    expect(performance.now() - before).toBeLessThan(10_000);
  });

  it('is no orphan for a worker of another home that starts', async () => {
    const step = await begun(counted);
    await appears(join(step.project, 'effects'));
    await step.kill();
    await sweepOrphans();
    expect(await (await step.next()).result).toMatchObject({ exitCode: 0, stdout: lines('line') });
  });

  it('is ended with all that it started when it is cancelled', async () => {
    const step = await begun('(setsid sleep 300 & echo $! > child); echo > begun; sleep 300');
    await appears(join(step.project, 'begun'));
    await step.kill();
    const ending = new AbortController();
    const { result } = await step.next({ signal: ending.signal });
    setTimeout(() => ending.abort(new Error('enough')), 300);
    await expect(result).rejects.toThrow('enough');
    expect(isAlive(Number(await readFile(join(step.project, 'child'), 'utf8')))).toBe(false);
  });

  it('runs again where nobody knows what came of it, and says so', async () => {
    const step = await begun('echo once >> effects; echo > begun; [ -e second ] || sleep 300');
    await appears(join(step.project, 'begun'));
    const { keeper } = folderOf(step);
    await step.kill();
    await execa('pkill', ['-KILL', '-P', String(keeper?.pid)], { reject: false });
    process.kill(keeper?.pid ?? 0, 'SIGKILL');
    await sleep(200);
    await rm(join(folderOf(step).path, 'outcome'), { force: true });
    await writeFile(join(step.project, 'second'), '');
    const { context, result } = await step.next();
    expect(await result).toMatchObject({ exitCode: 0 });
    expect(ofAttempt(context, 2, 'stderr')).toContain('nobody knows what came of it');
    expect(await readFile(join(step.project, 'effects'), 'utf8')).toBe('once\nonce\n');
  });

  it.each([
    ['another boot', (who: string) => who.replace(/^\S+/, '00000000')],
    ['a pid that was given to another', (who: string) => who.replace(/(\d+) (\d+)\s*$/, `${process.pid} 1`)],
  ])('takes no other process for its own: %s', async (_name, changed) => {
    const step = await begun('echo > begun; sleep 300');
    await appears(join(step.project, 'begun'));
    await step.kill();
    const who = join(folderOf(step).path, 'who');
    await writeFile(who, changed(await readFile(who, 'utf8')));
    const { result } = await step.next({ request: { onUnknown: 'tell' } });
    await expect(result).rejects.toMatchObject({ code: 'SHELL_OUTCOME_UNKNOWN' });
  });

  it('belongs to one of two that want it', async () => {
    const step = await begun(counted);
    await appears(join(step.project, 'effects'));
    await step.kill();
    const [one, two] = await Promise.all([step.next(), step.next()]);
    const ended = await Promise.allSettled([one.result, two.result]);
    expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const lost = ended.find((end) => end.status === 'rejected');
    expect(lost?.status === 'rejected' && lost.reason).toBeInstanceOf(LeftBehind);
    expect((await readFile(join(step.project, 'effects'), 'utf8')).split('\n')).toHaveLength(11);
  });

  it('is let go of by an attempt that was overtaken, which says nothing of it', async () => {
    const step = await begun(counted);
    await appears(join(step.project, 'effects'));
    await step.kill();
    const second = await step.next();
    await sleep(150);
    const third = await step.next({ attempt: 3 });
    await expect(second.result).rejects.toBeInstanceOf(LeftBehind);
    expect(await third.result).toMatchObject({ exitCode: 0 });
    expect((await readFile(join(step.project, 'effects'), 'utf8')).split('\n')).toHaveLength(11);
  });

  it('goes on when its worker lets go of it', async () => {
    const step = await begun(counted);
    await appears(join(step.project, 'effects'));
    await step.kill();
    const second = await step.next();
    await sleep(150);
    second.processes.leave();
    await expect(second.result).rejects.toBeInstanceOf(LeftBehind);
    const third = await step.next({ attempt: 3 });
    expect(await third.result).toMatchObject({ exitCode: 0 });
    expect((await readFile(join(step.project, 'effects'), 'utf8')).split('\n')).toHaveLength(11);
  });

  it('writes what waited for more once, when its worker let go of it meanwhile', async () => {
    const first = "echo > begun; printf 'a 1234'; printf 'x\\303' >&2";
    const command = `${first}; echo > half; sleep 0.6; printf '56789 b'; printf '\\251y' >&2`;
    const step = await begun(command, {}, { secrets: { TOKEN: '123456789' } });
    await appears(join(step.project, 'begun'));
    await step.kill();
    const second = await step.next();
    await appears(join(step.project, 'half'));
    await sleep(200);
    second.processes.leave();
    await expect(second.result).rejects.toBeInstanceOf(LeftBehind);
    const { log } = second.context;
    const third = await step.next({ attempt: 3, log });
    const { stdout, stderr } = await third.result;
    expect([stdout, stderr]).toEqual(['a [env TOKEN] b', 'xéy']);
    expect(ofAttempt(third.context, 1, 'stdout')).toBe(stdout);
    expect(ofAttempt(third.context, 1, 'stderr')).toBe('xéy');
  });

  it('reads its input to the end', async () => {
    const text = 'line\n'.repeat(20_000);
    const step = await begun('echo > begun; sleep 0.5; wc -c', { stdin: text });
    await appears(join(step.project, 'begun'));
    await step.kill();
    expect(Number((await (await step.next()).result).stdout)).toBe(text.length);
  });

  it('ends what a command left running, as with a living worker', async () => {
    const step = await begun('sleep 300 & echo $! > child; echo > begun; sleep 0.3');
    await appears(join(step.project, 'begun'));
    await step.kill();
    await sleep(600);
    const { context, result } = await step.next();
    expect(await result).toMatchObject({ exitCode: 0 });
    expect(isAlive(Number(await readFile(join(step.project, 'child'), 'utf8')))).toBe(false);
    expect(ofAttempt(context, 1, 'stderr')).toContain('what it had left running was ended');
  });

  it('keeps the start and the end of what is long, and gives the rest back to the disk', async () => {
    const step = await begun('echo > begun; seq 1 9000000; echo done');
    await appears(join(step.project, 'begun'));
    await sleep(300);
    await step.kill();
    const { context, result } = await step.next();
    const { stdout, truncated } = await result;
    expect(truncated).toBe(true);
    expect(stdout.startsWith('1\n2\n3\n')).toBe(true);
    expect(stdout.endsWith('8999999\n9000000\ndone\n')).toBe(true);
    const logged = ofAttempt(context, 1, 'stdout');
    expect(logged.startsWith('1\n2\n')).toBe(true);
    expect(logged.endsWith('9000000\ndone\n')).toBe(true);
  });

  it('is held while it writes more than anybody reads, and loses nothing', async () => {
    const step = await begun('echo > begun; seq 1 70000000 | tail -c +1; echo done', { timeoutMs: 600_000 });
    await appears(join(step.project, 'begun'));
    await step.kill();
    const out = join(folderOf(step).path, 'out');
    const size = async (): Promise<number> => Number((await execa('stat', ['-c', '%s', out])).stdout);
    await sleep(4_000);
    const held = await size();
    await sleep(600);
    expect(await size()).toBe(held);
    expect(held).toBeLessThan(600_000_000);
    const { result } = await step.next();
    expect((await result).stdout.endsWith('70000000\ndone\n')).toBe(true);
  });

  it('is started where its worker was lost before it began', async () => {
    const step = await begun('echo once >> effects', { timeoutMs: 5_000 });
    await step.worker;
    const folder = folderOf(step);
    for (const name of readdirSync(folder.path)) if (name !== 'started') await rm(join(folder.path, name));
    await rm(join(step.project, 'effects'));
    expect(await (await step.next({ request: { onUnknown: 'tell' } })).result).toMatchObject({ exitCode: 0 });
    expect(await readFile(join(step.project, 'effects'), 'utf8')).toBe('once\n');
  });
});

/** Kept processes and those who are unlucky with them: what is deleted, cut, or said too late. */
import { existsSync, mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { runShell } from '../../../operations/shell/run-shell.ts';
import { hostIdentity, KeptFolder, keptIdOf, uptime } from '../../../world/processes/kept/kept-folder.ts';
import { KeptProcesses } from '../../../world/processes/kept/kept-processes.ts';
import { KeptSpares } from '../../../world/processes/kept/kept-spares.ts';
import { workerMarker } from '../../../world/processes/orphans.ts';
import { probe } from '../../../world/processes/step-init.ts';
import { appears, begun, folderOf, ofAttempt } from '../harness/kept-steps.ts';
import { shellContext, temporaryFolder } from '../harness/step-context.ts';

const secret = 'abcdefghijklmnopqrstuvwxyz0123456789ABCD';

describe('a kept process', { timeout: 60_000 }, () => {
  it('whose folder is deleted has its result all the same, while its worker lives', async () => {
    const project = await temporaryFolder();
    const kept = join(await temporaryFolder(), 'processes');
    const processes = new KeptProcesses(kept, await workerMarker());
    const context = shellContext(project, { keeping: { processes, ends: () => true } });
    const command = `echo before; sleep 0.2; rm -r ${kept}; echo after; echo once >> effects; sleep 0.2; exit 3`;
    const result = await runShell({ command, timeoutMs: 20_000, isKept: true }, context);
    expect(result).toMatchObject({ exitCode: 3, stdout: 'before\nafter\n' });
    expect(context.log.text('stdout')).toBe('before\nafter\n');
    expect(await readFile(join(project, 'effects'), 'utf8')).toBe('once\n');
  });

  it('that had ended before its worker was told to end it has its outcome', async () => {
    const step = await begun('echo once >> effects; exit 4');
    await step.worker;
    folderOf(step).because('cancelled');
    expect(await (await step.next()).result).toMatchObject({ exitCode: 4 });
    expect(await readFile(join(step.project, 'effects'), 'utf8')).toBe('once\n');
  });

  it('shows no secret that its first worker had read a part of', async () => {
    for (const at of [1, 20, 39]) {
      const [head, tail] = [secret.slice(0, at), secret.slice(at)];
      const command = `printf 'a ${head}'; sleep 0.4; echo > begun; while [ ! -e go ]; do sleep 0.05; done; echo '${tail} b'`;
      const step = await begun(command, {}, { secrets: { API_TOKEN: secret } });
      await appears(join(step.project, 'begun'));
      await step.kill();
      await writeFile(join(step.project, 'go'), '');
      const { context, result } = await step.next();
      const { stdout } = await result;
      expect(stdout).toMatch(/^a \[env API_TOKEN\] b\n$/);
      expect(ofAttempt(context, 1, 'stdout')).toBe(stdout);
    }
  });

  it('shows no end of a secret where the end of its log is read again', async () => {
    const command = `perl -e 'print qq(t=${secret}\\n) x 300000'; sleep 2.5; echo > begun; while [ ! -e go ]; do sleep 0.05; done`;
    const step = await begun(command, {}, { secrets: { API_TOKEN: secret } });
    await appears(join(step.project, 'begun'));
    await step.kill();
    await writeFile(join(step.project, 'go'), '');
    const { context, result } = await step.next();
    const { stdout } = await result;
    const logged = ofAttempt(context, 1, 'stdout');
    for (const text of [stdout, logged]) {
      expect(text.length).toBeGreaterThan(100_000);
      expect(text).not.toMatch(/ABCD/);
      expect(text).not.toMatch(/abcd/);
    }
  });
});

/** All that a process leaves there, and what is strange. */
function fill({ path }: KeptFolder, keeper: number, more: readonly string[] = []): void {
  for (const name of ['out', 'err', 'reason', 'read', 'claim-2', ...more])
    writeFileSync(join(path, name), `${name} of the first`);
  writeFileSync(join(path, 'who'), `boot 1 ${keeper} 1\n`);
  writeFileSync(join(path, 'outcome'), 'exit 0 1.0 closed\n');
}

const inodeOf = ({ path }: KeptFolder): number => statSync(path).ino;

describe('what is left of kept processes', () => {
  const start = { handle: 'h', key: 'k', attempt: 1, timeoutMs: 1_000, digest: '', beganAt: uptime() };

  it('is collected: of other hosts, of those that died while they removed it, of a renamed host', async () => {
    const root = join(await temporaryFolder(), 'processes');
    const own = await workerMarker();
    const dead = `another-name:${2 ** 22 - 1}:1`;
    KeptFolder.make(root, keptIdOf('h', 'k'), { start, worker: dead, spares: new KeptSpares() });
    const other = join(root, '00000000-1', 'b'.repeat(24));
    mkdirSync(other, { recursive: true });
    writeFileSync(join(other, 'started'), JSON.stringify({ ...start, key: 'l', worker: dead }));
    mkdirSync(join(root, hostIdentity(), `${'c'.repeat(24)}.gone`, 'values'), { recursive: true });
    const spare = join(root, hostIdentity(), '1-1.spare');
    mkdirSync(spare);
    utimesSync(spare, 0, 0);
    const processes = new KeptProcesses(root, own);
    processes.open(() => Promise.resolve(false));
    await expect.poll(() => readdirSync(root, { recursive: true }), { timeout: 10_000 }).toEqual([hostIdentity()]);
    await processes.close();
  });

  it('serves the next one, which finds nothing of it there; not while its keeper lives, nor with what is strange in it', async () => {
    const root = join(await temporaryFolder(), 'processes');
    const spares = new KeptSpares();
    const made = (key: string): KeptFolder =>
      KeptFolder.make(root, keptIdOf('h', key), { start: { ...start, key }, worker: 'w:1:1', spares });
    const first = made('first');
    const inode = inodeOf(first);
    fill(first, 2 ** 22 - 1);
    first.giveTo(spares);
    expect(first.isThere).toBe(false);
    expect(KeptFolder.all(root)).toEqual([]);
    const second = made('second');
    expect(inodeOf(second)).toBe(inode);
    expect(second).toMatchObject({ start: { key: 'second' }, latestClaim: { number: 1, worker: 'w:1:1' } });
    expect([second.keeper, second.outcome, second.reason, second.readBytes.stdout]).toEqual([null, null, null, 0]);
    expect([second.said('out'), second.said('err')]).toEqual(['', '']);
    fill(second, process.pid);
    second.giveTo(spares);
    const third = made('third');
    expect(readdirSync(third.path)).toEqual(['started']);
    fill(third, 2 ** 22 - 1, ['values']);
    third.giveTo(spares);
    expect(readdirSync(made('fourth').path)).toEqual(['started']);
  });

  it('stays while its run waits for it, or nobody can say', async () => {
    const root = join(await temporaryFolder(), 'processes');
    const other = join(root, '00000000-1', 'b'.repeat(24));
    mkdirSync(other, { recursive: true });
    writeFileSync(join(other, 'started'), JSON.stringify(start));
    for (const awaited of [true, null]) {
      const processes = new KeptProcesses(root, await workerMarker());
      processes.open(() => Promise.resolve(awaited));
      await sleep(300);
      await processes.close();
      expect(existsSync(other)).toBe(true);
    }
  });
});

it('an init that does not answer in time is not taken for one that does not work', async () => {
  const slow = [{ name: 'perl', args: ['-e', 'sleep 60', '--'] }];
  await expect(probe(slow, 300)).rejects.toThrow('in time');
});

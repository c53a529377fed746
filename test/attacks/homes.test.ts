/** A home of Sentinel and what the command line runs later are out of reach, wherever they lie. */
import { cpSync } from 'node:fs';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { adoptHome } from '../../services/home/own-home.ts';
import { temporaryFolder } from '../activities/harness/step-context.ts';
import { pathsIn, writtenProject } from '../activities/harness/written-project.ts';
import { repository } from '../activities/harness/repository.ts';
import { type AttackedMode, command, hasSandbox, shell } from './inside.ts';

const modes: AttackedMode[] = ['full', 'sandboxed', 'readonly'];

/** A home as `up` leaves it, below the project. */
async function home(project: string, place: string): Promise<void> {
  await mkdir(join(project, place, 'logs'), { recursive: true });
  await writeFile(join(project, place, 'postgres.password'), 's3cret');
  adoptHome(join(project, place));
}

const places: [string, string, ((project: string) => void)?][] = [
  ['the usual name', '.sentinel'],
  ['below the project, of another checkout', 'checkout/.sentinel'],
  ['another name, known by its record', 'var/data'],
  [
    'a copy of one',
    'var/copy',
    (project) => {
      cpSync(join(project, 'var/copy'), join(project, 'var/origin'), { recursive: true });
      adoptHome(join(project, 'var/origin'));
    },
  ],
  ['one that was set aside', '.sentinel.foreign-1732750000000'],
  [
    "the user's decisions",
    'state/sentinel',
    (project) => {
      vi.stubEnv('XDG_STATE_HOME', join(project, 'state'));
      onTestFinished(() => void vi.unstubAllEnvs());
    },
  ],
  [
    'the cache',
    'cache/sentinel',
    (project) => {
      vi.stubEnv('XDG_CACHE_HOME', join(project, 'cache'));
      onTestFinished(() => void vi.unstubAllEnvs());
    },
  ],
  [
    'where SENTINEL_HOME says',
    'var/kept',
    (project) => {
      const before = process.env['SENTINEL_HOME'];
      process.env['SENTINEL_HOME'] = join(project, 'var/kept');
      onTestFinished(() => {
        if (before === undefined) delete process.env['SENTINEL_HOME'];
        else process.env['SENTINEL_HOME'] = before;
      });
    },
  ],
];

describe.each(modes)('no command reaches a home: %s', (mode) => {
  it.each(places)('%s', async (_what, place, set) => {
    const project = await temporaryFolder();
    await home(project, place);
    set?.(project);
    await symlink(place, join(project, 'link'));
    for (const path of [
      `${place}/postgres.password`,
      `./x/../${place}/postgres.password`,
      'link/postgres.password',
      join(project, place, 'postgres.password'),
    ])
      await expect(command(project, 'code/read', { path }, mode)).rejects.toMatchObject({ code: 'PATH_PROTECTED' });
    for (const path of [`${place}/logs/new`, `${place}/logs/deep/new`, `${place}/postgres.password`])
      await expect(command(project, 'code/write', { path, content: 'x' }, mode)).rejects.toMatchObject({
        code: 'PATH_PROTECTED',
      });
    await expect(shell(project, { command: 'cat postgres.password', cwd: place }, mode)).rejects.toMatchObject({
      code: 'PATH_PROTECTED',
    });
    expect(await readdir(join(project, place, 'logs'))).toEqual([]);
  });
});

describe('git takes no home with it', () => {
  it.each(['full', ...(hasSandbox ? (['sandboxed'] as const) : [])] as const)('%s', async (mode) => {
    const project = await repository();
    await home(project, '.sentinel');
    await home(project, 'sub/.sentinel');
    await writeFile(join(project, 'a.txt'), 'two\n');
    await command(project, 'code/git', { operation: 'add', paths: ['.'] }, mode);
    expect((await execa('git', ['ls-files'], { cwd: project })).stdout).toBe('a.txt');
    await expect(command(project, 'code/git', { operation: 'add', paths: ['.sentinel'] }, mode)).rejects.toMatchObject({
      code: 'PATH_PROTECTED',
    });
  });
});

describe.runIf(hasSandbox)('a sandbox shows no home', () => {
  it.each(places)('%s', async (_what, place, set) => {
    const project = await temporaryFolder();
    await home(project, place);
    set?.(project);
    const { stdout } = await shell(project, {
      command: `ls -A ${place}; find / -name postgres.password 2>/dev/null; cat ${place}/postgres.password`,
    });
    expect(stdout).toBe('');
    await shell(project, { command: `echo x > ${place}/logs.txt; mkdir -p ${place}/logs; echo x > ${place}/logs/x` });
    expect(await readdir(join(project, place))).toEqual(['home.id', 'logs', 'postgres.password']);
    expect(await readdir(join(project, place, 'logs'))).toEqual([]);
  });
});

describe.runIf(hasSandbox)('a step that gives a folder the files of a home hides nothing by it', () => {
  it('of the project, from later steps', async () => {
    const project = await temporaryFolder();
    await home(project, 'var/kept');
    await mkdir(join(project, 'test'));
    await writeFile(join(project, 'test/fails.txt'), 'FAILS');
    const marks = 'postgres.password seal.key worker-settings.json supervisor.lock services.json home.id';
    const given = await shell(project, {
      command: `cd test; touch ${marks}; echo ${'0'.repeat(32)} > home.id; cat ../var/kept/home.id; mkdir logs postgres; chmod 700 .; chmod 600 *.*; chmod 600 home.id`,
    });
    expect(given).toMatchObject({ stdout: '' });
    expect((await shell(project, { command: 'cat test/fails.txt' })).stdout).toBe('FAILS');
    expect(await command(project, 'code/read', { path: 'test/fails.txt' }, 'sandboxed')).toMatchObject({
      content: 'FAILS',
    });
  });

  it('from the states of the project', async () => {
    const { trees, write } = await writtenProject({ 'src/a.ts': 'a' });
    const opened = await trees();
    await opened.take();
    write({ 'src/home.id': `${'0'.repeat(32)}\n`, 'src/seal.key': 'x', 'src/new.ts': 'new' });
    const { tree } = await (await trees()).take();
    expect(await pathsIn(opened, tree)).toContain('100644 src/new.ts');
  });
});

it('a folder of the project that only sounds like one is read', async () => {
  const project = await temporaryFolder();
  await mkdir(join(project, 'config'));
  await writeFile(join(project, 'config/services.json'), 'mine');
  await writeFile(join(project, '.sentinelrc'), 'mine');
  for (const path of ['config/services.json', '.sentinelrc'])
    expect(await command(project, 'code/read', { path }, 'full')).toMatchObject({ content: 'mine' });
});

const later = ['sentinels/deploy.json', 'sentinel.config.ts', 'sentinel.config.js', 'sentinel.config.mjs'];

describe.runIf(hasSandbox)('a sandboxed run does not write what the command line runs later', () => {
  it.each(later)('what is there is read-only: %s', async (path) => {
    const project = await temporaryFolder();
    await mkdir(dirname(join(project, path)), { recursive: true });
    await writeFile(join(project, path), 'as it was');
    const top = path.split('/')[0] ?? '';
    for (const line of [
      `echo x > ${path}`,
      `rm -rf ${top}`,
      `mv ${top} moved`,
      `ln -sf /tmp ${path}`,
      `cp /bin/true ${path}`,
      `chmod 777 ${path}; echo x >> ${path}`,
    ])
      expect(await shell(project, { command: line })).toMatchObject({ success: false });
    expect(await readFile(join(project, path), 'utf8')).toBe('as it was');
  });

  it.each([...later, '.sentinel/services.json'])('what is not there is not made: %s', async (path) => {
    const project = await temporaryFolder();
    const top = path.split('/')[0] ?? '';
    for (const line of [
      `mkdir -p ${dirname(path)}; echo x > ${path}`,
      `mkdir -p d/${dirname(path)}; echo x > d/${path}; mv d/${top} ${top}; sleep 20`,
      `ln -s /etc/passwd ${top}`,
    ])
      await expect(shell(project, { command: line })).rejects.toMatchObject({ code: 'PATH_PROTECTED' });
    expect(await readdir(project)).not.toContain(top);
  });

  it.each(later)('nor by code/write: %s', async (path) => {
    const project = await temporaryFolder();
    await expect(command(project, 'code/write', { path, content: 'x' }, 'sandboxed')).rejects.toMatchObject({
      code: 'PATH_PROTECTED',
    });
    expect(await command(project, 'code/write', { path, content: 'x' }, 'full')).toMatchObject({ changed: true });
  });

  it('nor through a link that somebody left', async () => {
    const project = await temporaryFolder();
    await writeFile(join(project, 'elsewhere.ts'), '');
    await symlink('elsewhere.ts', join(project, 'sentinel.config.ts'));
    await expect(shell(project, { command: 'echo x > elsewhere.ts' })).rejects.toMatchObject({
      code: 'SANDBOX_NOT_AVAILABLE',
    });
  });
});

describe.runIf(hasSandbox)('code/read and code/write, while a process moves folders about', () => {
  it('never leave the project', async () => {
    const outside = await temporaryFolder();
    await writeFile(join(outside, 'file'), 's3cret');
    const project = await temporaryFolder();
    await mkdir(join(project, 'real'));
    await writeFile(join(project, 'real/file'), 'mine');
    const line = `while [ ! -e stop ]; do ln -sfn real sub; ln -sfn ${outside} sub; rm -f sub; mv real sub 2>/dev/null; mv sub real 2>/dev/null; done`;
    const moving = shell(project, { command: line, timeoutMs: 20_000 });
    for (let turn = 0; turn < 400; turn += 1) {
      const read = await command(project, 'code/read', { path: 'sub/file' }, 'sandboxed').catch(() => null);
      expect(JSON.stringify(read)).not.toContain('s3cret');
      await command(project, 'code/write', { path: 'sub/file', content: `turn ${turn}` }, 'sandboxed').catch(
        () => null,
      );
      if (turn % 50 === 0) await sleep(1);
    }
    await writeFile(join(project, 'stop'), '');
    await moving.catch(() => undefined);
    expect(await readFile(join(outside, 'file'), 'utf8')).toBe('s3cret');
    expect(await readdir(outside)).toEqual(['file']);
  });
});

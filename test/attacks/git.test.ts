/** A repository's own configuration, links and nested repositories start nothing in runs that are not `full`. */
import { chmod, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../activities/harness/step-context.ts';
import { repository } from '../activities/harness/repository.ts';
import { command, hasSandbox, shell } from './inside.ts';

let outside: string;
let evil: string;

/** A program that leaves a trace when it is started, and passes on what it reads. */
beforeEach(async () => {
  outside = await temporaryFolder();
  evil = join(outside, 'evil');
  await writeFile(evil, `#!/bin/sh\necho "$0 $*" >> ${outside}/started\ncat\n`);
  await chmod(evil, 0o755);
});

const started = () => readFile(join(outside, 'started'), 'utf8').catch(() => '');

const configured: [string, (project: string) => Promise<unknown>][] = [
  ['core.fsmonitor', (project) => config(project, 'core.fsmonitor', evil)],
  ['a clean filter', (project) => attribute(project, 'filter=x', ['filter.x.clean', evil])],
  ['a filter process', (project) => attribute(project, 'filter=x', ['filter.x.process', evil])],
  ['a smudge filter', (project) => attribute(project, 'filter=x', ['filter.x.smudge', evil])],
  ['textconv', (project) => attribute(project, 'diff=x', ['diff.x.textconv', evil])],
  ['a diff driver', (project) => attribute(project, 'diff=x', ['diff.x.command', evil])],
  [
    'an attribute of info/attributes',
    async (project) => {
      await config(project, 'filter.x.clean', evil);
      await mkdir(join(project, '.git/info'), { recursive: true });
      await writeFile(join(project, '.git/info/attributes'), '* filter=x diff=x\n');
    },
  ],
  ['diff.external', (project) => config(project, 'diff.external', evil)],
  ['core.pager', (project) => config(project, 'core.pager', evil)],
  ['an alias', (project) => config(project, 'alias.diff', `!${evil}`)],
  ['core.sshCommand', (project) => config(project, 'core.sshCommand', evil)],
  [
    'a signature to be shown',
    async (project) => {
      await config(project, 'log.showSignature', 'true');
      await config(project, 'gpg.program', evil);
    },
  ],
  [
    'an included file',
    async (project) => {
      await writeFile(join(project, 'more'), `[core]\n\tfsmonitor = ${evil}\n[diff]\n\texternal = ${evil}\n`);
      await config(project, 'include.path', '../more');
    },
  ],
  [
    'a configuration of the work tree',
    async (project) => {
      await config(project, 'extensions.worktreeConfig', 'true');
      await writeFile(join(project, '.git/config.worktree'), `[core]\n\tfsmonitor = ${evil}\n`);
    },
  ],
  [
    'hooks',
    async (project) => {
      for (const name of [
        'pre-commit',
        'post-index-change',
        'prepare-commit-msg',
        'commit-msg',
        'post-commit',
        'reference-transaction',
      ])
        await writeFile(join(project, '.git/hooks', name), `#!/bin/sh\necho ${name} >> ${outside}/started\n`, {
          mode: 0o755,
        });
    },
  ],
  [
    'core.hooksPath',
    async (project) => {
      await mkdir(join(project, 'hooks'));
      for (const name of ['pre-commit', 'post-index-change', 'post-commit'])
        await writeFile(join(project, 'hooks', name), `#!/bin/sh\necho ${name} >> ${outside}/started\n`, {
          mode: 0o755,
        });
      await config(project, 'core.hooksPath', 'hooks');
    },
  ],
  [
    'a submodule',
    async (project) => {
      const nested = join(project, 'nested');
      await mkdir(nested);
      await repository(nested);
      await execa('git', ['add', 'nested'], { cwd: project, stderr: 'ignore' });
      await config(nested, 'core.fsmonitor', evil);
      await writeFile(join(nested, 'a.txt'), 'changed\n');
    },
  ],
  [
    'what promises missing objects',
    async (project) => {
      await config(project, 'extensions.partialClone', 'origin');
      await config(project, 'remote.origin.url', `ext::${evil}`);
      await config(project, 'remote.origin.promisor', 'true');
      await config(project, 'protocol.ext.allow', 'always');
      const { stdout } = await execa('git', ['rev-parse', 'HEAD:a.txt'], { cwd: project });
      await rm(join(project, '.git/objects', stdout.slice(0, 2), stdout.slice(2)), { force: true });
    },
  ],
];

const config = (project: string, name: string, value: string) =>
  execa('git', ['config', name, value], { cwd: project });

async function attribute(project: string, text: string, [name, value]: [string, string]): Promise<void> {
  await writeFile(join(project, '.gitattributes'), `* ${text}\n`);
  await config(project, name, value);
}

const reads = [
  { operation: 'status' },
  { operation: 'diff' },
  { operation: 'diff', base: 'HEAD' },
  { operation: 'diff', staged: true },
  { operation: 'log' },
  { operation: 'log', format: '%G? %GS %h' },
];
const writes = [
  { operation: 'add', paths: ['.'] },
  { operation: 'commit', message: 'second' },
];

async function prepared(make: (project: string) => Promise<unknown>): Promise<string> {
  const project = await repository();
  await make(project);
  await writeFile(join(project, 'a.txt'), 'two\n');
  await rm(join(outside, 'started'), { force: true });
  return project;
}

describe("code/git starts no program of the repository's choice", () => {
  it.each(configured)('readonly: %s', async (_name, make) => {
    const project = await prepared(make);
    for (const params of reads) await command(project, 'code/git', params, 'readonly').catch(() => undefined);
    expect(await command(project, 'code/git', { operation: 'log' }, 'readonly')).toMatchObject({
      commits: [{ subject: 'first' }],
    });
    expect(await started()).toBe('');
  });

  it.runIf(hasSandbox).each(configured)('sandboxed: %s', async (_name, make) => {
    const project = await prepared(make);
    // In the sandbox nothing writes outside; what would be started is in the project.
    await writeFile(join(project, 'trace'), '');
    for (const params of [...reads, ...writes])
      await command(project, 'code/git', params, 'sandboxed').catch(() => undefined);
    expect(await command(project, 'code/git', { operation: 'log' }, 'sandboxed')).toMatchObject({
      commits: expect.arrayContaining([expect.objectContaining({ subject: 'first' })]) as unknown,
    });
    expect(await started()).toBe('');
  });

  it.runIf(hasSandbox)('sandboxed: not even inside', async () => {
    const project = await repository();
    for (const name of ['pre-commit', 'post-commit'])
      await writeFile(join(project, '.git/hooks', name), '#!/bin/sh\necho ran > ran\n', { mode: 0o755 });
    await config(project, 'core.fsmonitor', 'touch ran #');
    await writeFile(join(project, 'a.txt'), 'two\n');
    for (const params of [...reads, ...writes]) await command(project, 'code/git', params, 'sandboxed');
    expect(await readdir(project)).toEqual(['.git', 'a.txt']);
  });

  it('in full they run, as they do for a person', async () => {
    const project = await prepared((folder) => config(folder, 'core.fsmonitor', evil));
    await command(project, 'code/git', { operation: 'diff' }, 'full');
    expect(await started()).not.toBe('');
  });
});

async function secret(): Promise<string> {
  const folder = await repository(await temporaryFolder());
  await execa('git', ['commit', '--quiet', '--allow-empty', '--message=s3cret'], { cwd: folder });
  return folder;
}

describe('code/git reads no other repository', () => {
  const ways: [string, (project: string, other: string) => Promise<unknown>][] = [
    ['a .git file', (project, other) => writeFile(join(project, '.git'), `gitdir: ${other}/.git\n`)],
    ['a .git link', (project, other) => symlink(join(other, '.git'), join(project, '.git'))],
    [
      'a shared folder',
      async (project, other) => {
        await repository(project);
        await writeFile(join(project, '.git/commondir'), `${other}/.git\n`);
      },
    ],
    [
      'linked refs',
      async (project, other) => {
        await repository(project);
        for (const name of ['refs', 'objects']) {
          await rename(join(project, '.git', name), join(project, `.git/${name}-before`));
          await symlink(join(other, '.git', name), join(project, '.git', name));
        }
      },
    ],
    [
      'borrowed objects',
      async (project, other) => {
        await repository(project);
        await writeFile(join(project, '.git/objects/info/alternates'), `${other}/.git/objects\n`);
        const { stdout } = await execa('git', ['rev-parse', 'HEAD'], { cwd: other });
        await writeFile(join(project, '.git/refs/heads/main'), `${stdout}\n`);
      },
    ],
    [
      'core.worktree',
      async (project, other) => {
        await repository(project);
        await config(project, 'core.worktree', other);
      },
    ],
  ];

  it.each(ways)('readonly: %s', async (_name, make) => {
    const other = await secret();
    const project = await temporaryFolder();
    await make(project, other);
    for (const params of reads) {
      const said = await command(project, 'code/git', params, 'readonly').catch((error: unknown) => String(error));
      expect(JSON.stringify(said)).not.toContain('s3cret');
    }
  });

  it('a work tree that its repository knows is read', async () => {
    const main = await repository();
    const folder = join(await temporaryFolder(), 'tree');
    await execa('git', ['worktree', 'add', '-q', folder], { cwd: main });
    await writeFile(join(folder, 'a.txt'), 'two\n');
    expect(await command(folder, 'code/git', { operation: 'status' }, 'readonly')).toMatchObject({
      branch: 'tree',
      files: [{ path: 'a.txt', workTree: 'M' }],
    });
  });
});

describe.runIf(hasSandbox)('a sandboxed step does not touch the repository', () => {
  it.each([
    'git config core.fsmonitor x',
    'echo x >> .git/config',
    'echo x > .git/hooks/pre-commit',
    'echo "* filter=x" > .git/info/attributes',
    'mv .git .git2',
    'rm -rf .git',
    'mkdir sub && mv .git sub/',
    'ln -sf /tmp .git/hooks',
    'cd nested && git config core.fsmonitor x',
    'echo x > nested/.git/hooks/post-checkout',
    'rm -rf nested/.git',
  ])('%s', async (line) => {
    const project = await repository();
    await mkdir(join(project, 'nested'));
    await repository(join(project, 'nested'));
    const everything = () =>
      execa('sh', ['-c', 'find . -name .git -o -path "*/.git/*" -type f | sort | xargs ls -ld --time-style=full-iso'], {
        cwd: project,
      });
    const before = (await everything()).stdout;
    expect((await shell(project, { command: line })).success).toBe(false);
    expect((await everything()).stdout).toBe(before);
  });

  it('and reads it', async () => {
    const project = await repository();
    await writeFile(join(project, 'a.txt'), 'two\n');
    expect((await shell(project, { command: 'git status --porcelain; git log --format=%s' })).stdout).toBe(
      ' M a.txt\nfirst\n',
    );
  });
});

describe.each(['full', 'sandboxed', 'readonly'] as const)('no command writes a repository: %s', (mode) => {
  it.each(['.git/config', '.git/hooks/pre-commit', 'nested/.git/config', '.GIT/config', '.git', 'sub/.git'])(
    '%s',
    async (path) => {
      const project = await repository();
      await expect(command(project, 'code/write', { path, content: 'x' }, mode)).rejects.toMatchObject({
        code: 'PATH_PROTECTED',
      });
    },
  );
});

describe('what code/git still does', () => {
  it.runIf(hasSandbox)('adds and commits in a sandbox, as whom the configuration names', async () => {
    const project = await repository();
    await writeFile(join(project, 'a.txt'), 'two\n');
    for (const params of writes) await command(project, 'code/git', params, 'sandboxed');
    expect(await command(project, 'code/git', { operation: 'log', count: 1 }, 'sandboxed')).toMatchObject({
      commits: [{ author: 'Tester', subject: 'second' }],
    });
    expect((await execa('git', ['config', 'user.name'], { cwd: project })).stdout).toBe('Tester');
  });

  it.runIf(hasSandbox)('refuses to add what a filter would have changed', async () => {
    const project = await prepared((folder) => attribute(folder, 'filter=lfs', ['filter.lfs.clean', 'git-lfs clean']));
    await expect(
      command(project, 'code/git', { operation: 'add', paths: ['a.txt'] }, 'sandboxed'),
    ).rejects.toMatchObject({ code: 'GIT_FAILED' });
  });

  it.each(['full', 'readonly'] as const)('says how things stand: %s', async (mode) => {
    const project = await repository();
    await writeFile(join(project, 'a.txt'), 'two\n');
    await writeFile(join(project, 'new "file"\té'), '');
    await execa('git', ['add', 'a.txt'], { cwd: project });
    await writeFile(join(project, 'a.txt'), 'three\n');
    expect(await command(project, 'code/git', { operation: 'status' }, mode)).toMatchObject({
      branch: 'main',
      upstream: null,
      clean: false,
      output: 'MM a.txt\n?? new "file"\té',
      files: [
        { path: 'a.txt', index: 'M', workTree: 'M' },
        { path: 'new "file"\té', index: '?', workTree: '?' },
      ],
    });
  });
});

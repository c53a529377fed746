/** What a process moves, renames or replaces by a link between one look at a project and the next. */
import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openBeneath } from '../../../world/confinement/beneath.ts';
import { Failure } from '../../../world/failures/failures.ts';
import { adoptHome } from '../../../services/home/own-home.ts';
import { runShell, type ShellResult } from '../../../operations/shell/run-shell.ts';
import { shellContext, temporaryFolder } from '../../activities/harness/step-context.ts';
import { hasSandbox, shell } from '../inside.ts';

const byModel = (project: string, command: string, allowed: string[] = []): Promise<ShellResult> =>
  runShell(
    { command, timeoutMs: 30_000 },
    shellContext(project, {
      confinement: { mode: 'sandboxed', byModel: true },
      reach: { files: allowed },
    }),
  );

async function put(project: string, path: string, content = 's3cret'): Promise<void> {
  await mkdir(dirname(join(project, path)), { recursive: true });
  await writeFile(join(project, path), content);
}

const folder = async (files: Record<string, string>): Promise<string> => {
  const project = await temporaryFolder();
  for (const [path, content] of Object.entries(files)) await put(project, path, content);
  return project;
};

const moving = (outside: string): string => `while :; do mv a gone; ln -s ${outside} a; rm a; mv gone a; done`;

describe.runIf(hasSandbox)('a folder around a protected place stays where it is', () => {
  it('no step moves it away and puts a link in its place', async () => {
    const outside = await folder({ '.git/config': 's3cret' });
    const project = await folder({ 'a/b/.git/config': 'own', 'a/b/file': 'x' });
    for (const moved of ['a', 'a/b', 'a/b/.git']) {
      const { stdout } = await shell(project, {
        command: `mv ${moved} gone && ln -s ${outside} ${moved} && echo MOVED`,
      });
      expect(stdout).toBe('');
    }
    expect((await shell(project, { command: 'cat a/b/.git/config; cat a/.git/config' })).stdout).toBe('own');
  });

  it('what stands in for one that somebody moved is not what the next step sees', async () => {
    const outside = await folder({ '.git/config': 's3cret', 'home/logs/worker.log': 's3cret' });
    const project = await folder({ 'a/b/.git/config': 'own', 'var/kept/logs/worker.log': 's3cret' });
    adoptHome(join(project, 'var/kept'));
    expect((await shell(project, { command: 'cat a/b/.git/config' })).stdout).toBe('own');
    await rename(join(project, 'a'), join(project, 'gone'));
    await symlink(outside, join(project, 'a'));
    await rename(join(project, 'var/kept'), join(project, 'var/other'));
    const { stdout } = await shell(project, {
      command: 'cat a/.git/config a/b/.git/config; cat gone/b/.git/config; echo x > gone/b/.git/config; cat var/*/*/*',
    });
    expect(stdout).toBe('own');
  });

  const look =
    'cat a/key a/.git/config a/b/.git/config gone/b/.git/config; for at in a gone; do echo x > $at/b/.git/new && echo WRITTEN; done';

  it.each([
    ['another step', true],
    ['a process of somebody else', false],
  ])(
    'while %s moves it in a loop, no step of forty sees what is outside',
    { timeout: 120_000 },
    async (_who, isStep) => {
      const outside = await folder({ '.git/config': 's3cret', 'b/.git/config': 's3cret', key: 's3cret' });
      const project = await folder({ 'a/b/.git/config': 'own' });
      const end = new AbortController();
      const mover = isStep
        ? runShell(
            { command: moving(outside), timeoutMs: 100_000 },
            shellContext(project, { confinement: { mode: 'sandboxed' }, signal: end.signal }),
          )
        : execa('/bin/sh', ['-c', moving(outside)], { cwd: project, stdio: 'ignore', cancelSignal: end.signal });
      const ended = mover.then(
        () => undefined,
        () => undefined,
      );
      for (let step = 0; step < 40; step += 1) {
        const result = await shell(project, { command: look }).catch((error: unknown) => error);
        if (result instanceof Failure) expect(result.code).toMatch(/^(SANDBOX_CHANGED|SHELL_NOT_STARTED)$/);
        else expect((result as ShellResult).stdout).not.toMatch(isStep ? /s3cret|WRITTEN/ : /s3cret/);
      }
      end.abort();
      await ended;
    },
  );
});

describe.runIf(hasSandbox)('files with secrets are not there for a model', () => {
  it('when one was moved the moment before', async () => {
    const project = await folder({ '.env': 's3cret' });
    expect((await byModel(project, 'cat .env')).stdout).toBe('');
    await mkdir(join(project, 'sub'));
    await rename(join(project, '.env'), join(project, 'sub/.env'));
    expect((await byModel(project, 'cat .env sub/.env; grep -r s3cret .')).stdout).toBe('');
  });

  it('nor can it move, link or remove one, or a folder around it', async () => {
    const project = await folder({ '.env': 's3cret', 'apps/web/.env': 's3cret', 'apps/web/page': 'x' });
    const { stdout } = await byModel(
      project,
      `mv .env e && echo MOVED; ln .env f && echo LINKED; rm -f .env && echo REMOVED
       mv apps other && echo MOVED; mv apps/web apps/site && echo MOVED
       cat e f other/web/.env apps/site/.env; grep -r s3cret .`,
    );
    expect(stdout).toBe('');
    expect(await readFile(join(project, 'apps/web/.env'), 'utf8')).toBe('s3cret');
  });

  const deep = 'a/b/c/d/e/f/g/h/i/j/k/.env';
  it.each([
    ['many folders deep', [deep]],
    ['in node_modules', ['node_modules/pkg/test/server.pem', 'node_modules/.env', 'node_modules/@scope/pkg/id_rsa']],
    ['in folders for secrets', ['home/.ssh/config', 'x/.aws/deep/er/token']],
    ['with spaces, line ends and umlauts around it', ['my folder/ünser\nort/.env', 'a\\b/.env']],
  ])('%s', async (_what, paths) => {
    const project = await folder(Object.fromEntries(paths.map((path) => [path, 's3cret'])));
    expect((await byModel(project, 'grep -r s3cret .')).stdout).toBe('');
    expect((await shell(project, { command: 'grep -rc s3cret . | grep -c ":1$"' })).stdout.trim()).not.toBe('0');
  });

  it('behind thousands of folders', async () => {
    const project = await folder({});
    for (let index = 0; index < 2_100; index += 1) await mkdir(join(project, `folder-${index}`));
    await put(project, 'zz/zz/.env');
    expect((await byModel(project, 'cat zz/zz/.env')).stdout).toBe('');
  });

  it('as links, by the name of the link and by that of the file', async () => {
    const project = await folder({ 'conf/production.txt': 's3cret', 'conf/keys/one': 's3cret', 'conf/plain.txt': 'x' });
    await symlink('conf/production.txt', join(project, 'first'));
    await symlink('first', join(project, '.env'));
    await symlink('conf/keys', join(project, '.ssh'));
    await symlink('nowhere', join(project, '.npmrc'));
    expect(
      (await byModel(project, 'cat .env conf/production.txt .ssh/one conf/keys/one; grep -r s3cret .')).stdout,
    ).toBe('');
    expect((await byModel(project, 'cat conf/plain.txt')).stdout).toBe('x');
    expect((await byModel(project, 'cat .env', ['.env'])).stdout).toBe('s3cret');
  });

  it('as a link to what a sandbox shows outside the project', async () => {
    const programs = await folder({ 'app.conf': 's3cret', 'other.conf': 'x' });
    const before = process.env['PATH'];
    process.env['PATH'] = `${before}:${programs}`;
    onTestFinished(() => void (process.env['PATH'] = before));
    const project = await folder({});
    await symlink(join(programs, 'app.conf'), join(project, '.env'));
    expect((await byModel(project, `cat .env ${programs}/app.conf; cat ${programs}/other.conf`)).stdout).toBe('x');
  });
});

describe.runIf(hasSandbox)('repositories and homes are protected at any depth', () => {
  it('deeper than four folders, and in node_modules', async () => {
    const project = await folder({
      'a/b/c/d/e/f/.git/config': 'own',
      'node_modules/p/.git/config': 'own',
      'a/b/c/d/e/home/.sentinel/postgres.password': 's3cret',
      'a/b/c/d/e/f/kept/logs/worker.log': 's3cret',
    });
    adoptHome(join(project, 'a/b/c/d/e/f/kept'));
    const { stdout } = await shell(project, {
      command: `for at in a/b/c/d/e/f/.git node_modules/p/.git; do echo x > $at/hook && echo WRITTEN; echo x > $at/config && echo WRITTEN; done
                grep -r s3cret .`,
    });
    expect(stdout).toBe('');
  });
});

describe.runIf(hasSandbox)('beside protected places, work goes on', () => {
  it('ordinary folders are renamed, moved and removed, and keep their files and rights', async () => {
    const project = await folder({
      '.env': 'x',
      'apps/web/.env': 'x',
      'apps/web/src/page': 'p',
      'old/file': 'f',
      '.git/HEAD': 'x',
    });
    const result = await byModel(
      project,
      'mv old new && mv new/file apps/web/src/ && mkdir -p build/x && mv build/x apps/web/out && rm -r build && ln apps/web/src/page apps/web/src/same && echo data > apps/web/out/made && chmod 750 apps/web/out/made',
    );
    expect(result).toMatchObject({ stderr: '', exitCode: 0 });
    expect(await readFile(join(project, 'apps/web/src/file'), 'utf8')).toBe('f');
    expect(await readFile(join(project, 'apps/web/out/made'), 'utf8')).toBe('data\n');
    expect((await shell(project, { command: 'stat -c %a:%u apps/web/out/made' })).stdout).toBe(
      `750:${process.getuid?.()}\n`,
    );
  });

  it('programs of the project, certificates that all have, and names with spaces work', async () => {
    const project = await folder({
      'node_modules/tool/run.js': 'console.log("ran")',
      'lib/certifi/cacert.pem': 'public',
      'my folder/.env': 'x',
    });
    await mkdir(join(project, 'node_modules/.bin'));
    await symlink('../tool/run.js', join(project, 'node_modules/.bin/tool'));
    expect(
      (await byModel(project, 'node node_modules/.bin/tool && cat lib/certifi/cacert.pem && ls "my folder"')).stdout,
    ).toBe('ran\npublic');
  });

  it('a step sees no descriptor but its streams', async () => {
    const project = await folder({ 'a/.git/x': 'x', 'b/.env': 'x' });
    const before = (await shell(await folder({}), { command: 'ls /proc/self/fd' })).stdout;
    expect((await byModel(project, 'ls /proc/self/fd')).stdout).toBe(before);
    const { stdout } = await byModel(project, 'for at in /proc/self/fd/*; do readlink $at; done');
    expect(stdout).not.toContain(project);
  });

  it('steps run side by side', async () => {
    const project = await folder({ 'a/.git/x': 'x', 'b/.env': 'x' });
    const steps = Array.from({ length: 6 }, (_each, index) =>
      byModel(
        project,
        `mkdir d${index} && for i in 1 2 3 4 5 6 7 8; do echo x > d${index}/$i; done; sleep 0.2; ls d${index} | wc -l`,
      ),
    );
    expect((await Promise.all(steps)).map(({ stdout }) => stdout.trim())).toEqual(Array(6).fill('8'));
  });
});

describe.runIf(process.platform === 'linux')('a path is opened beneath a folder through no link', () => {
  it('what is there, and nothing through a link or out of it', async () => {
    const root = await folder({ 'a/b/file': 'x' });
    await symlink('a', join(root, 'link'));
    await symlink('file', join(root, 'a/b/other'));
    for (const path of ['link/b', 'link', 'a/b/other', 'a/b/file/x', 'nothing', '..'])
      expect(openBeneath(root, join(root, path)), path).toBeNull();
    const opened = openBeneath(root, join(root, 'a/b/file'));
    expect(opened).toEqual(expect.any(Number));
    await rm(root, { recursive: true });
    expect(openBeneath(root, root)).toBeNull();
  });
});

/** Definitions of folders in a project: whoever stands there runs them by their names. */
import { lstat, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { beforeEach, describe, expect, it } from 'vitest';
import { builtInRegistry } from '../../../systems/built-in.ts';
import type { JsonObject } from '../../../language/json.ts';
import { commandContext } from '../../activities/harness/command-context.ts';
import { repository } from '../../activities/harness/repository.ts';
import { temporaryFolder } from '../../activities/harness/step-context.ts';
import { useStore } from '../../store/harness/opened.ts';
import { command, hasSandbox, shell } from '../inside.ts';

const OWN = 'steps: []\n';
const registry = builtInRegistry();

async function folder(...files: string[]): Promise<string> {
  const project = await temporaryFolder();
  for (const path of files) {
    await mkdir(dirname(join(project, path)), { recursive: true });
    await writeFile(join(project, path), OWN);
  }
  return project;
}

const places = ['packages/a/sentinels/deploy.json', 'apps/web/sentinels/ci/nightly.yaml', 'a/Sentinels/x.jsonc'];

describe.runIf(hasSandbox)('a sandboxed step', () => {
  it.each(places)('changes, moves and adds none: %s', async (path) => {
    const project = await folder(path);
    const at = dirname(path);
    const top = path.slice(0, path.toLowerCase().indexOf('sentinels') + 'sentinels'.length);
    const line = `echo x > ${top}/new.json; echo x > ${path}; rm ${path}; mv ${at} gone; mv ${dirname(at)} gone; ln -s /tmp ${at}/more; echo x > ${at}/new.json`;
    await shell(project, { command: line });
    expect(await readFile(join(project, path), 'utf8')).toBe(OWN);
    expect((await shell(project, { command: `ls -A ${at}` })).stdout.split('\n').filter(Boolean)).toHaveLength(1);
  });

  it('works in folders of that name that hold data', async () => {
    const project = await folder();
    await mkdir(join(project, 'test/sentinels'), { recursive: true });
    await writeFile(join(project, 'test/sentinels/snap.json'), '{"a": [1]}');
    expect(
      await shell(project, { command: 'echo x > test/sentinels/snap.json && echo x > test/sentinels/b.json' }),
    ).toMatchObject({ success: true });
  });

  it('works in folders of that name that hold no definition, and in packages', async () => {
    const project = await folder('src/sentinels/watch.ts', 'node_modules/p/sentinels/x.json');
    const line =
      'echo new > src/sentinels/watch.ts && echo new > src/sentinels/other.ts && echo new > node_modules/p/sentinels/x.json';
    expect(await shell(project, { command: line })).toMatchObject({ success: true });
  });
});

describe('commands of a sandboxed run, and those of a model, write none', () => {
  it.each([...places, 'packages/new/sentinels/made.json'])('%s', async (path) => {
    const project = await temporaryFolder();
    const params = { path, content: '{}' };
    await expect(command(project, 'code/write', params, 'sandboxed')).rejects.toMatchObject({ code: 'PATH_PROTECTED' });
    const byModel = commandContext(project, { confinement: { byModel: true } });
    await expect(registry.run('code/write', params, byModel)).rejects.toMatchObject({ code: 'PATH_PROTECTED' });
    expect(await command(project, 'code/write', params, 'full')).toMatchObject({ changed: true });
    expect(await registry.run('code/read', { path }, byModel)).toMatchObject({ content: '{}' });
  });

  it('and other files there they do', async () => {
    const project = await temporaryFolder();
    for (const path of ['src/sentinels/watch.ts', 'src/sentinels.json', 'node_modules/p/sentinels/x.json'])
      expect(await command(project, 'code/write', { path, content: 'x' }, 'sandboxed')).toMatchObject({
        changed: true,
      });
  });
});

describe.runIf(hasSandbox)('git of a sandboxed run', () => {
  const opened = useStore();
  let project: string;
  const git = (...args: string[]) => execa('git', args, { cwd: project });
  const within = (params: JsonObject): Promise<unknown> =>
    registry.run(
      'code/git',
      params,
      commandContext(project, { store: opened.store, confinement: { mode: 'sandboxed' } }),
    );
  const isThere = (path: string): Promise<boolean> =>
    lstat(join(project, path)).then(
      () => true,
      () => false,
    );

  async function put(path: string): Promise<void> {
    await mkdir(dirname(join(project, path)), { recursive: true });
    await writeFile(join(project, path), 'theirs');
  }

  async function link(path: string, target: string): Promise<void> {
    await mkdir(dirname(join(project, path)), { recursive: true });
    await symlink(target, join(project, path));
  }

  async function commitAll(message: string): Promise<void> {
    await git('add', '--all', '--force');
    await git('commit', '--quiet', `--message=${message}`);
  }

  beforeEach(async () => {
    project = await repository();
    await git('switch', '--quiet', '--create', 'topic');
    await put('packages/b/index.ts');
  });

  it.each([
    ...places.map((path) => [path, put] as const),
    ['packages/b/sentinels', (path: string) => link(path, '..')] as const,
    ['sentinels', (path: string) => link(path, 'packages')] as const,
  ])('writes none: %s', async (path, make) => {
    await make(path);
    await commitAll('theirs');
    await git('switch', '--quiet', 'main');
    for (const operation of ['switch', 'merge'])
      await expect(within({ operation, branch: 'topic' }), operation).rejects.toMatchObject({ code: 'PATH_PROTECTED' });
    await within({ operation: 'restore', paths: '.', from: 'topic' });
    await within({ operation: 'restore', paths: [path.split('/')[0] ?? '', 'a.txt'], from: 'topic' }).catch(() => null);
    expect(await isThere(path)).toBe(false);
    await rm(join(project, 'packages'), { recursive: true });
    await make(path);
    await git('stash', 'push', '--quiet', '--include-untracked');
    await expect(within({ operation: 'unstash' })).rejects.toMatchObject({ code: 'PATH_PROTECTED' });
    await git('stash', 'drop', '--quiet');
    await command(project, 'code/git', { operation: 'switch', branch: 'topic' }, 'full');
    expect(await isThere(path)).toBe(true);
  });

  it('changes none that is there, and writes what else there is', async () => {
    const others = ['src/sentinels/watch.ts', 'src/sentinels.json', 'node_modules/p/sentinels/x.json'];
    for (const path of others) await put(path);
    await commitAll('others');
    await git('switch', '--quiet', 'main');
    await within({ operation: 'merge', branch: 'topic' });
    for (const path of others) expect(await readFile(join(project, path), 'utf8'), path).toBe('theirs');
    const definition = 'packages/b/sentinels/deploy.json';
    await put(definition);
    await commitAll('with a definition');
    await git('switch', '--quiet', '--create', 'more');
    await put('src/more.ts');
    await commitAll('more');
    await within({ operation: 'switch', branch: 'main' });
    for (const path of [definition, 'src/sentinels/watch.ts']) await writeFile(join(project, path), 'changed');
    await within({ operation: 'stash' });
    expect(await readFile(join(project, 'src/sentinels/watch.ts'), 'utf8')).toBe('theirs');
    await within({ operation: 'unstash' });
    expect(await readFile(join(project, 'src/sentinels/watch.ts'), 'utf8')).toBe('changed');
    await within({ operation: 'restore', paths: '.' });
    expect(await readFile(join(project, 'src/sentinels/watch.ts'), 'utf8')).toBe('theirs');
    expect(await readFile(join(project, definition), 'utf8')).toBe('changed');
  });
});

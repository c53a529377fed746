/** Definitions of folders in a project: whoever stands there runs them by their names. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { builtInCommands, createRegistry } from '../../../activities/commands/registry.ts';
import { commandContext } from '../../activities/harness/command-context.ts';
import { temporaryFolder } from '../../activities/harness/step-context.ts';
import { command, hasSandbox, shell } from '../inside.ts';

const OWN = 'steps: []\n';
const registry = createRegistry(builtInCommands());

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

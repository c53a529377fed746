/** The engine that a project has installed holds the next step in, so no sandboxed step and no model writes it. */
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { enginePlaces, engineRoot, findRoot, isEngine } from '../../../world/confinement/engine-places.ts';
import { builtInRegistry } from '../../../systems/built-in.ts';
import type { Json } from '../../../language/json.ts';
import { defined } from '../../../language/defined.ts';
import { commandContext } from '../../activities/harness/command-context.ts';
import { repository } from '../../activities/harness/repository.ts';
import { temporaryFolder } from '../../activities/harness/step-context.ts';
import { command, hasSandbox, shell } from '../inside.ts';

const registry = builtInRegistry();
const byModel = (project: string, name: string, params: Json, mode?: 'sandboxed'): Promise<Json> =>
  registry.run(name, params, commandContext(project, { confinement: { byModel: true, ...defined({ mode }) } }));

async function put(project: string, path: string, content = '// own'): Promise<void> {
  await mkdir(dirname(join(project, path)), { recursive: true });
  await writeFile(join(project, path), content);
}

/** As npm installs it: what it depends on lies beside it. */
async function hoisted(project: string): Promise<void> {
  await put(project, 'node_modules/sentinel-engine/package.json', '{"name":"sentinel-engine"}');
  await put(project, 'node_modules/sentinel-engine/dist/cli/main.js');
  await put(project, 'node_modules/zod/index.js');
  await put(project, 'node_modules/.bin/other');
  await symlink('../sentinel-engine/sentinel', join(project, 'node_modules/.bin/sentinel'));
}

/** As pnpm does: links to a folder with everything. */
async function linked(project: string): Promise<void> {
  await put(project, 'node_modules/.pnpm/sentinel-engine@1/node_modules/sentinel-engine/dist/cli/main.js');
  await put(project, 'node_modules/.pnpm/sentinel-engine@1/node_modules/zod/index.js');
  await symlink('.pnpm/sentinel-engine@1/node_modules/sentinel-engine', join(project, 'node_modules/sentinel-engine'));
}

/** In one package of several; what it depends on may lie around it. */
async function nested(project: string): Promise<void> {
  await put(project, 'packages/app/node_modules/sentinel-engine/dist/cli/main.js');
  await put(project, 'node_modules/zod/index.js');
}

const installations = [
  ['installed', hoisted],
  ['installed by links', linked],
  ['installed in a package of several', nested],
] as const;

const writes = `
  for at in $(find node_modules packages -name main.js -o -name index.js); do echo x > $at && echo WRITTEN $at; rm -f $at && echo REMOVED $at; done
  for at in node_modules node_modules/sentinel-engine node_modules/zod packages packages/app packages/app/node_modules; do
    [ -e $at ] && mv $at gone && echo MOVED $at
  done
  [ -e node_modules/sentinel-engine ] && ln -sfn /tmp node_modules/sentinel-engine && echo LINKED
  mkdir node_modules/ws && echo ADDED
  ln -sf /tmp/x node_modules/.bin/sentinel && echo LINKED
  true`;

describe.runIf(hasSandbox).each(installations)('%s, no sandboxed process changes the engine', (_how, install) => {
  it('nor what it loads, nor adds what it would load', async () => {
    const project = await temporaryFolder();
    await install(project);
    expect((await shell(project, { command: writes })).stdout).toBe('');
    await expect(byModel(project, 'code/shell/execute', { command: writes }, 'sandboxed')).resolves.toMatchObject({
      stdout: '',
    });
  });
});

describe.each([
  ['installed', hoisted, ['node_modules/zod/index.js', 'node_modules/ws/index.js', 'node_modules/sentinel-engine/new']],
  ['installed by links', linked, ['node_modules/sentinel-engine/dist/cli/main.js', 'node_modules/zod/index.js']],
  ['installed in a package', nested, ['packages/app/node_modules/sentinel-engine/dist/cli/main.js']],
] as const)('%s, no command of a model or of a sandboxed run writes the engine', (_how, install, paths) => {
  it.each(paths)('%s', async (path) => {
    const project = await temporaryFolder();
    await install(project);
    const refused = { code: 'PATH_PROTECTED' };
    const params = { path, content: 'x' };
    await expect(byModel(project, 'code/write', params)).rejects.toMatchObject(refused);
    await expect(command(project, 'code/write', params, 'sandboxed')).rejects.toMatchObject(refused);
    await expect(command(project, 'code/write', params, 'full')).resolves.toBeDefined();
  });
});

describe('a commit with an engine in it', () => {
  it('is checked out by no model', async () => {
    const project = await repository();
    await put(project, 'node_modules/sentinel-engine/package.json');
    await command(project, 'code/git', { operation: 'add', paths: ['.'] }, 'full');
    await command(project, 'code/git', { operation: 'commit', message: 'engine' }, 'full');
    await put(project, 'node_modules/sentinel-engine/package.json', 'changed');
    await byModel(project, 'code/git', { operation: 'restore', paths: ['.'] }).catch(() => undefined);
    expect(await readFile(join(project, 'node_modules/sentinel-engine/package.json'), 'utf8')).toBe('changed');
  });
});

describe('which folders are the engine', () => {
  it('one that a project of packages holds, and every folder in which its dependencies are looked for', async () => {
    const project = await temporaryFolder();
    await put(project, 'packages/engine/package.json');
    await put(project, 'node_modules/zod/index.js');
    const engine = join(project, 'packages/engine');
    const found = enginePlaces(project, [], engine);
    expect(found.readOnly.toSorted()).toEqual([join(project, 'node_modules'), engine]);
    expect(found.missing).toEqual([join(project, 'packages/node_modules')]);
    for (const path of ['packages/engine/dist/x.js', 'node_modules/zod/x.js', 'packages/node_modules/zod/x.js'])
      expect(isEngine(project, join(project, path), engine), path).toBe(true);
    for (const path of ['packages/app/x.js', 'packages/app/node_modules/zod/x.js', 'x.js'])
      expect(isEngine(project, join(project, path), engine), path).toBe(false);
  });

  it('in a checkout what is built, and not what one works on', () => {
    for (const path of ['dist/worker/main.js', 'sentinel', 'node_modules/zod/index.js'])
      expect(isEngine(engineRoot, join(engineRoot, path)), path).toBe(true);
    for (const path of ['worker/main.ts', 'sentinels/x.json', 'distance'])
      expect(isEngine(engineRoot, join(engineRoot, path)), path).toBe(false);
  });
});

describe.runIf(hasSandbox)('beside an engine, work goes on', () => {
  it('programs of the project run, and tools keep their caches', async () => {
    const project = await temporaryFolder();
    await hoisted(project);
    await put(project, 'node_modules/.bin/other', '#!/bin/sh\necho ran\n');
    const { stdout, stderr } = await shell(project, {
      command: `sh node_modules/.bin/other && mkdir -p node_modules/.cache/tool node_modules/.vite/deps && echo x > node_modules/.cache/tool/x &&
        mv node_modules/.vite/deps node_modules/.vite/deps_2 && mkdir -p dist && echo built > dist/main.js && node -e 'require("zod")' && cat dist/main.js`,
    });
    expect({ stdout, stderr }).toEqual({ stdout: 'ran\nbuilt\n', stderr: '' });
    expect(await readdir(join(project, 'node_modules/.cache'))).toEqual(['tool']);
  });

  it('where a project has none, node_modules is its own', async () => {
    const project = await temporaryFolder();
    await put(project, 'node_modules/zod/index.js');
    const { stdout } = await shell(project, {
      command: 'echo x > node_modules/zod/index.js && mkdir node_modules/ws && mv node_modules other && ls other',
    });
    expect(stdout).toBe('ws\nzod\n');
    await expect(byModel(project, 'code/write', { path: 'node_modules/x.js', content: 'x' })).resolves.toBeDefined();
  });
});

it('an engine that somebody bundled into a program of theirs is where that program lies', async () => {
  const project = await temporaryFolder();
  expect(findRoot(project)).toBe(project);
  await put(project, 'package.json', '{}');
  expect(findRoot(join(project, 'dist/deep'))).toBe(project);
});

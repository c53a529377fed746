import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { COMMAND_BOUNDS } from '../../../operations/bounds.ts';
import { defineCommand } from '../../../operations/command.ts';
import { createMetrics } from '../../../operations/metrics.ts';
import { PLANNED } from '../../../systems/planned.ts';
import { createRegistry } from '../../../operations/registry.ts';
import { builtInRegistry } from '../../../systems/built-in.ts';
import { fileFailure } from '../../../operations/files/whole-file.ts';
import { commandContext } from '../harness/command-context.ts';
import { temporaryFolder } from '../harness/step-context.ts';

const registry = builtInRegistry();

describe('the registry', () => {
  it('has a catalogue of the commands that are built and of those that are planned', () => {
    const { catalogue } = registry;
    const built = Object.keys(catalogue).filter((name) => catalogue[name]?.planned !== true);
    expect(built).toEqual(registry.names());
    expect(registry.names().filter((name) => Object.hasOwn(PLANNED, name))).toEqual([]);
    expect(Object.keys(catalogue).length).toBe(built.length + Object.keys(PLANNED).length);
  });

  it('has a catalogue that serialises', () => {
    expect(JSON.parse(JSON.stringify(registry.catalogue))).toEqual(registry.catalogue);
  });

  it('lists a planned command that a project has built as built', () => {
    const own = defineCommand({
      name: 'code/search',
      permission: 'read',
      speed: 'long',
      params: z.strictObject({}),
      result: z.string(),
      run: async () => '',
    });
    expect(createRegistry([own]).catalogue['code/search']).toEqual({ permission: 'read', speed: 'long' });
  });

  it.each([
    ['a'.repeat(65), /has 65 characters, and models take tools of at most 64/],
    ['code_read', /"code_read" and "code\/read" are both the tool "code_read"|"code\/read" and "code_read" are both/],
    ['with space', /characters that no tool's name may have/],
  ])('refuses a command "%s" when it is loaded, because it could be no tool', (name, message) => {
    const own = defineCommand({
      name,
      permission: 'read',
      speed: 'long',
      params: z.strictObject({}),
      result: z.string(),
      run: async () => '',
    });
    expect(() => builtInRegistry({}, [own])).toThrow(message);
  });

  it.each([
    ['data/lst', {}, 'UNKNOWN_COMMAND'],
    ['constructor', {}, 'UNKNOWN_COMMAND'],
    ['genome/train-voice', {}, 'COMMAND_NOT_BUILT'],
    ['code/read', {}, 'COMMAND_PARAMS_INVALID'],
    ['code/read', { path: 'a', pth: 'b' }, 'COMMAND_PARAMS_INVALID'],
    ['code/read', [], 'COMMAND_PARAMS_INVALID'],
    ['sentinel/run', { inputs: {} }, 'COMMAND_PARAMS_INVALID'],
    ['data/list', { collection: 'c', filter: { n: { $gtt: 1 } } }, 'COMMAND_PARAMS_INVALID'],
    ['data/list', { collection: 'c', filter: { n: { $in: 1 } } }, 'COMMAND_PARAMS_INVALID'],
  ])('%s with %j fails with %s', async (name, params, code) => {
    await expect(registry.run(name, params, commandContext(await temporaryFolder()))).rejects.toMatchObject({ code });
  });

  it('names the place, the finding and the remedy', async () => {
    const running = registry.run('code/read', { path: 7 }, commandContext(await temporaryFolder()));
    await expect(running).rejects.toMatchObject({
      message: expect.stringMatching(/^code\/read: params\.path: .*string.*; correct the step's params$/),
      details: { problems: [{ path: 'params.path' }] },
    });
  });

  it('refuses a result past the bound, and takes one at it', async () => {
    const Length = z.strictObject({ length: z.number() });
    const long = defineCommand({
      name: 'long',
      permission: 'read',
      speed: 'quick',
      params: Length,
      result: z.string(),
      run: async ({ length }) => 'x'.repeat(length - 2),
    });
    const own = createRegistry([long], { metrics: createMetrics() });
    const context = commandContext(await temporaryFolder());
    expect(await own.run('long', { length: COMMAND_BOUNDS.valueBytesMax }, context)).toHaveLength(
      COMMAND_BOUNDS.valueBytesMax - 2,
    );
    await expect(own.run('long', { length: COMMAND_BOUNDS.valueBytesMax + 1 }, context)).rejects.toMatchObject({
      code: 'VALUE_TOO_LARGE',
    });
  });

  it('calls a result that does not fit its schema a bug', async () => {
    const wrong = defineCommand({
      name: 'wrong',
      permission: 'read',
      speed: 'quick',
      params: z.strictObject({}),
      result: z.string(),
      run: async () => 7 as unknown as string,
    });
    const running = createRegistry([wrong], { metrics: createMetrics() }).run(
      'wrong',
      {},
      commandContext(await temporaryFolder()),
    );
    await expect(running).rejects.toThrow(/^bug: wrong returned/);
  });

  it('feeds the metrics', async () => {
    const metrics = createMetrics();
    const own = builtInRegistry({ metrics });
    const project = await temporaryFolder();
    await writeFile(join(project, 'a'), 'a');
    for (let count = 0; count < 5; count += 1) await own.run('code/read', { path: 'a' }, commandContext(project));
    await expect(own.run('code/read', { path: 'b' }, commandContext(project))).rejects.toMatchObject({
      code: 'FILE_NOT_FOUND',
    });
    const all = await own.run('runtime/metrics/all', {}, commandContext(project));
    expect(all).toEqual([
      { command: 'code/read', count: 6, errors: 1, p50_ms: expect.any(Number), p99_ms: expect.any(Number) },
    ]);
  });
});

describe('metrics', () => {
  it('reads percentiles by nearest rank, of the latest durations', () => {
    const metrics = createMetrics();
    for (let ms = 1; ms <= COMMAND_BOUNDS.metricSamples; ms += 1) metrics.record('c', 1_000_000, false);
    for (let ms = 1; ms <= COMMAND_BOUNDS.metricSamples; ms += 1) metrics.record('c', ms, false);
    expect(metrics.all()).toEqual([{ command: 'c', count: 2000, errors: 0, p50_ms: 500, p99_ms: 990 }]);
  });
});

describe('code/read and code/write', () => {
  it('makes nothing where a step has removed the project', async () => {
    const project = await temporaryFolder();
    const context = commandContext(project);
    await registry.run('code/write', { path: 'a/b', content: 'x' }, context);
    await rm(project, { recursive: true });
    for (const [name, params] of [
      ['code/write', { path: 'a/b', content: 'x' }],
      ['code/read', { path: 'a/b' }],
      ['code/shell/execute', { command: 'true' }],
      ['code/search', { pattern: 'x' }],
      ['code/git', { operation: 'status' }],
    ] as const)
      await expect(registry.run(name, params, context)).rejects.toMatchObject({ code: 'PROJECT_MISSING' });
    expect(existsSync(project)).toBe(false);
  });

  it('replaces no named pipe, and says what it is', async () => {
    const project = await temporaryFolder();
    await execa('mkfifo', [join(project, 'pipe')]);
    await expect(
      registry.run('code/write', { path: 'pipe', content: 'x' }, commandContext(project)),
    ).rejects.toMatchObject({ code: 'FILE_NOT_USABLE', message: expect.stringContaining('is a named pipe') as string });
    expect((await stat(join(project, 'pipe'))).isFIFO()).toBe(true);
    expect(readdirSync(project)).toEqual(['pipe']);
  });

  it.each([
    ['ENOSPC', 'there is no space left on the disk'],
    ['EROFS', 'the file system is read-only'],
    ['EACCES', "the worker's user may not"],
    ['ENOTDIR', 'a file stands where its path has a folder'],
    ['EUNKNOWN', 'check that it is a file, and its permissions'],
  ])('says what %s means', (code, words) => {
    expect(fileFailure(Object.assign(new Error('x'), { code }), 'a')).toMatchObject({
      code: 'FILE_NOT_USABLE',
      message: expect.stringContaining(words) as string,
    });
  });

  it.each([
    ['code/shell/execute', { command: 'echo', args: ['a', 'b\0c'] }, 'args.1 holds a NUL character'],
    ['code/shell/execute', { command: 'echo a\0b' }, 'the command holds a NUL character'],
    ['code/shell/execute', { command: 'true', env: { A: 'b\0c' } }, 'variable A holds a NUL character'],
    ['code/search', { pattern: 'a\0b' }, 'NUL character'],
  ])('says of %s with %j where the NUL is', async (name, params, words) => {
    const context = commandContext(await temporaryFolder());
    await expect(registry.run(name, params, context)).rejects.toMatchObject({
      message: expect.stringContaining(words) as string,
    });
  });

  it('write and read back', async () => {
    const project = await temporaryFolder();
    const context = commandContext(project);
    const write = { path: 'new/deep/file.txt', content: 'größer\n' };
    expect(await registry.run('code/write', write, context)).toEqual({ path: write.path, bytes: 9, changed: true });
    expect(await registry.run('code/write', write, context)).toEqual({ path: write.path, bytes: 9, changed: false });
    expect(await registry.run('code/read', { path: write.path }, context)).toEqual({
      path: write.path,
      content: 'größer\n',
      bytes: 9,
    });
    expect(readdirSync(join(project, 'new/deep'))).toEqual(['file.txt']);
  });

  it('keep the mode of a file, and write through a link inside the project', async () => {
    const project = await temporaryFolder();
    await writeFile(join(project, 'run'), 'old', { mode: 0o755 });
    await symlink('run', join(project, 'link'));
    await registry.run('code/write', { path: 'link', content: 'new' }, commandContext(project));
    expect(await readFile(join(project, 'run'), 'utf8')).toBe('new');
    expect((await stat(join(project, 'run'))).mode & 0o777).toBe(0o755);
  });

  it('read bytes as base64', async () => {
    const project = await temporaryFolder();
    await writeFile(join(project, 'b'), Buffer.from([0, 255, 1]));
    expect(await registry.run('code/read', { path: 'b', encoding: 'base64' }, commandContext(project))).toMatchObject({
      content: 'AP8B',
    });
  });

  it.each<[string, object, string]>([
    ['code/read', { path: 'missing' }, 'FILE_NOT_FOUND'],
    ['code/read', { path: 'folder' }, 'FILE_NOT_USABLE'],
    ['code/read', { path: 'nul' }, 'FILE_NOT_TEXT'],
    ['code/read', { path: 'large' }, 'VALUE_TOO_LARGE'],
    ['code/read', { path: '../x' }, 'PATH_OUTSIDE_PROJECT'],
    ['code/write', { path: 'folder', content: '' }, 'FILE_NOT_USABLE'],
    ['code/write', { path: 'nul/below', content: '' }, 'FILE_NOT_USABLE'],
    ['code/write', { path: 'out/x', content: '' }, 'PATH_OUTSIDE_PROJECT'],
    ['code/write', { path: 'x', content: 'x'.repeat(COMMAND_BOUNDS.valueBytesMax + 1) }, 'VALUE_TOO_LARGE'],
  ])('%s %j fails', async (name, params, code) => {
    const project = await temporaryFolder();
    await mkdir(join(project, 'folder'));
    await symlink('/tmp', join(project, 'out'));
    await writeFile(join(project, 'nul'), 'a\0b');
    await writeFile(join(project, 'large'), Buffer.alloc(COMMAND_BOUNDS.valueBytesMax + 1, 'x'));
    await expect(registry.run(name, { ...params }, commandContext(project))).rejects.toMatchObject({ code });
  });
});

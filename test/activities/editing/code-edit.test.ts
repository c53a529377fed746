/** `code/edit` in a project: what it writes, what it refuses, and what an attempt after a crash does. */
import { mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { CommandContext } from '../../../operations/command.ts';
import { builtInRegistry } from '../../../systems/built-in.ts';
import { secretsOf } from '../../../operations/secrets/secrets.ts';
import type { Json, JsonObject } from '../../../language/json.ts';
import { useStore } from '../../store/harness/opened.ts';
import { commandContext } from '../harness/command-context.ts';
import { temporaryFolder } from '../harness/step-context.ts';

const registry = builtInRegistry();
const opened = useStore();
let project: string;
let context: CommandContext;

beforeEach(async () => {
  project = await temporaryFolder();
  context = commandContext(project, { store: opened.store });
});

const run = (params: JsonObject, over: Partial<CommandContext> = {}): Promise<Json> =>
  registry.run('code/edit', params, { ...context, ...over });
const write = (path: string, text: string): Promise<void> => writeFile(join(project, path), text);
const read = (path: string): Promise<string> => readFile(join(project, path), 'utf8');

describe('code/edit', () => {
  it('edits one passage or several, keeps the mode of the file, and says what it did', async () => {
    await writeFile(join(project, 'a.sh'), 'echo one\necho two\n', { mode: 0o755 });
    expect(await run({ path: 'a.sh', old: 'one', new: 'three' })).toEqual({
      path: 'a.sh',
      edits: 1,
      firstLine: 1,
      diff: '--- a/a.sh\n+++ b/a.sh\n@@ -1,2 +1,2 @@\n-echo one\n+echo three\n echo two\n',
    });
    const edits = [
      { old: 'three', new: '3' },
      { old: 'two', new: '2' },
    ];
    expect(await run({ path: 'a.sh', edits })).toMatchObject({ edits: 2 });
    expect(await read('a.sh')).toBe('echo 3\necho 2\n');
    expect((await stat(join(project, 'a.sh'))).mode & 0o777).toBe(0o755);
  });

  it('makes all edits or none', async () => {
    await write('a.txt', 'one\ntwo\n');
    const edits = [
      { old: 'one', new: '1' },
      { old: 'three', new: '3' },
    ];
    await expect(run({ path: 'a.txt', edits })).rejects.toMatchObject({ code: 'PASSAGE_NOT_FOUND' });
    expect(await read('a.txt')).toBe('one\ntwo\n');
  });

  it('notes no secret that it writes', async () => {
    await write('a.txt', 'one\n');
    const token = `sealed_SHOP_KEY_${'0'.repeat(32)}`;
    await opened.store.secrets.keep(context.run.handle, new Map([[token, 's3cret-of-the-shop']]));
    const secrets = await secretsOf(opened.store, { SHOP_KEY: token });
    await run({ path: 'a.txt', old: 'one', new: 's3cret-of-the-shop' }, { secrets });
    expect(await read('a.txt')).toBe('s3cret-of-the-shop\n');
    const noted = await opened.store.journal.find(context.run.handle, `edit ${context.key}`);
    expect(noted).toMatchObject({ result: { diff: expect.stringContaining(`+${token}`) as string } });
    expect(JSON.stringify(noted)).not.toContain('s3cret');
  });

  it.each<[JsonObject, string]>([
    [{ path: 'a.txt' }, 'COMMAND_PARAMS_INVALID'],
    [{ path: 'a.txt', old: 'one' }, 'COMMAND_PARAMS_INVALID'],
    [{ path: 'a.txt', old: ' \n', new: 'x' }, 'COMMAND_PARAMS_INVALID'],
    [{ path: 'a.txt', old: 'one', new: 'one' }, 'COMMAND_PARAMS_INVALID'],
    [{ path: 'a.txt', edits: [] }, 'COMMAND_PARAMS_INVALID'],
    [{ path: 'a.txt', old: 'one', new: '1', edits: [{ old: 'one', new: '1' }] }, 'COMMAND_PARAMS_INVALID'],
    [{ path: 'gone.txt', old: 'one', new: '1' }, 'FILE_NOT_FOUND'],
    [{ path: '../a.txt', old: 'one', new: '1' }, 'PATH_OUTSIDE_PROJECT'],
    [{ path: 'link.txt', old: 'one', new: '1' }, 'PATH_OUTSIDE_PROJECT'],
    [{ path: '.git/config', old: 'one', new: '1' }, 'PATH_PROTECTED'],
    [{ path: '.sentinel/a', old: 'one', new: '1' }, 'PATH_PROTECTED'],
  ])('refuses %j with %s', async (params, code) => {
    const outside = await temporaryFolder();
    await writeFile(join(outside, 'a.txt'), 'one\n');
    await symlink(join(outside, 'a.txt'), join(project, 'link.txt'));
    for (const folder of ['.git', '.sentinel']) await mkdir(join(project, folder));
    for (const path of ['a.txt', '.git/config', '.sentinel/a']) await write(path, 'one\n');
    await expect(run(params)).rejects.toMatchObject({ code });
    for (const path of ['a.txt', '.git/config', '.sentinel/a']) expect(await read(path)).toBe('one\n');
    expect(await readFile(join(outside, 'a.txt'), 'utf8')).toBe('one\n');
  });

  it('leaves what runs later alone in a sandboxed run', async () => {
    await mkdir(join(project, 'sentinels'));
    for (const path of ['sentinels/a.json', 'sentinel.config.ts']) {
      await write(path, 'one\n');
      const params = { path, old: 'one', new: 'two' };
      await expect(run(params, { confinement: { mode: 'sandboxed' } })).rejects.toMatchObject({
        code: 'PATH_PROTECTED',
      });
      expect(await run(params)).toMatchObject({ path });
    }
  });
});

describe('after a crash', () => {
  const params = { path: 'a.txt', old: 'one', new: 'one\none more' };

  it('an edit that was made is not made again, though its passage is there', async () => {
    await write('a.txt', 'one\n');
    const first = await run(params);
    expect(await run(params, { attempt: 2 })).toEqual(first);
    expect(await run(params, { key: `${context.key}#2` })).toEqual(first);
    expect(await read('a.txt')).toBe('one\none more\n');
  });

  it('one that was not made is made', async () => {
    await write('a.txt', 'one\n');
    const first = await run(params);
    await write('a.txt', 'one\n');
    expect(await run(params, { attempt: 2 })).toEqual(first);
    expect(await read('a.txt')).toBe('one\none more\n');
  });

  it('nobody knows where somebody else has changed the file since', async () => {
    await write('a.txt', 'one\n');
    await run(params);
    await write('a.txt', 'one\ntwo\n');
    await expect(run(params, { attempt: 2 })).rejects.toMatchObject({ code: 'FILE_CHANGED' });
    expect(await read('a.txt')).toBe('one\ntwo\n');
  });

  it('an attempt that had not come to it begins anew', async () => {
    await write('a.txt', 'one\n');
    expect(await run(params, { attempt: 2 })).toMatchObject({ edits: 1 });
    expect(await read('a.txt')).toBe('one\none more\n');
  });
});

/** `code/diagnostics` with the language server that TypeScript is. */
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { CommandContext } from '../../../operations/command.ts';
import { builtInRegistry } from '../../../systems/built-in.ts';
import type { Json, JsonObject } from '../../../language/json.ts';
import { groupsOfStep } from '../../../world/processes/orphans.ts';
import { root } from '../../project/tree.ts';
import { commandContext } from '../harness/command-context.ts';
import { temporaryFolder } from '../harness/step-context.ts';

const registry = builtInRegistry();
let project: string;
let context: CommandContext;

async function write(files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(project, path)), { recursive: true });
    await writeFile(join(project, path), text);
  }
}

beforeEach(async () => {
  project = await temporaryFolder();
  context = commandContext(project);
  await write({
    'tsconfig.json': JSON.stringify({ compilerOptions: { strict: true, types: [] }, include: ['src'] }),
    'src/a.ts': 'export const one: number = 1;\n',
    'src/deep/b.ts': "import { one } from '../a';\n\nexport const text: string = one;\n",
    'notes.md': 'text\n',
  });
});

const run = (params: JsonObject = {}, over: Partial<CommandContext> = {}): Promise<Json> =>
  registry.run('code/diagnostics', params, { ...context, ...over });

const wrong = {
  file: 'src/deep/b.ts',
  line: 3,
  column: 14,
  severity: 'error',
  code: '2322',
  message: "Type 'number' is not assignable to type 'string'.",
};

describe('code/diagnostics', () => {
  it('finds what is wrong in the sources of the project, in a folder, or in a file', async () => {
    for (const params of [{}, { path: 'src/deep' }, { path: 'src/deep/b.ts' }])
      expect(await run(params)).toMatchObject({
        diagnostics: [wrong],
        errors: 1,
        servers: [expect.stringMatching(/^typescript 7\./) as string],
        unread: [],
        truncated: false,
        text: "src/deep/b.ts:3:14 error 2322: Type 'number' is not assignable to type 'string'.",
      });
    expect(await run({ path: 'src/a.ts' })).toMatchObject({
      diagnostics: [],
      errors: 0,
      files: 1,
      text: 'no findings',
    });
    expect(await groupsOfStep(context.run.handle, context.key)).toEqual([]);
  });

  it('starts no program of the project in a readonly run, nor for a model', async () => {
    const began = join(project, 'began');
    await mkdir(join(project, 'node_modules/typescript'), { recursive: true });
    await mkdir(join(project, 'node_modules/.bin'), { recursive: true });
    await writeFile(
      join(project, 'node_modules/typescript/package.json'),
      JSON.stringify({ name: 'typescript', version: '5.0.0' }),
    );
    const program = join(project, 'node_modules/.bin/typescript-language-server');
    await writeFile(program, `#!/bin/sh\ntouch ${began}\n`);
    await chmod(program, 0o755);
    for (const confinement of [{ mode: 'readonly' }, { byModel: true }] as const)
      expect(await run({}, { confinement })).toMatchObject({ diagnostics: [wrong] });
    expect(existsSync(began)).toBe(false);
    // Elsewhere it is the one that the project has chosen, and says why it did not answer.
    await expect(run()).rejects.toMatchObject({ code: 'LANGUAGE_SERVER_FAILED' });
    expect(existsSync(began)).toBe(true);
  });

  it.runIf((process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, 'bwrap'))))(
    'looks from within the sandbox in a sandboxed run',
    async () => {
      expect(await run({}, { confinement: { mode: 'sandboxed' } })).toMatchObject({ diagnostics: [wrong] });
    },
  );

  it.each<[JsonObject, string]>([
    [{ path: 'notes.md' }, 'LANGUAGE_SERVER_MISSING'],
    [{ path: 'gone' }, 'FILE_NOT_FOUND'],
    [{ path: '../' }, 'PATH_OUTSIDE_PROJECT'],
    [{ path: 'src', timeoutMs: 1 }, 'STEP_TIMEOUT'],
  ])('refuses %j with %s', async (params, code) => {
    await expect(run(params)).rejects.toMatchObject({ code });
  });

  it('ends with the step', async () => {
    await symlink(join(root, 'node_modules'), join(project, 'node_modules'));
    const signal = AbortSignal.abort(new Error('cancelled'));
    await expect(run({}, { signal })).rejects.toThrow('cancelled');
  });
});

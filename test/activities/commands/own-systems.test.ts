/** A command of a project and one of its systems by one name: the project's is the one, and the system says why it cannot be used. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createRegistry } from '../../../operations/registry.ts';
import { projectCommands } from '../../../runs/commands/project-commands.ts';
import { openOwn } from '../../../runs/own/open-own.ts';
import { runProjectConfig, trustedCode } from '../../../services/config/project-config.ts';
import { builtIn } from '../../catalogue.ts';
import { useStore } from '../../store/harness/opened.ts';
import { commandContext } from '../harness/command-context.ts';

const opened = useStore();

test('is performed as it is listed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sentinel-own-systems-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'sentinel.config.ts');
  writeFileSync(
    path,
    `
import { defineCommand, defineSystem, z } from 'sentinel-engine/commands';
const get = (name, permission, text) => defineCommand({ name, permission, params: z.strictObject({}), result: z.string(), run: () => text });
export default {
  commands: [get('shelf/get', 'read', 'of the project')],
  systems: [defineSystem({ name: 'shelf', summary: 'x', commands: [get('shelf/get', 'write', 'of the system'), get('shelf/more', 'read', 'more')] })],
};`,
  );
  const code = trustedCode(path);
  const config = await runProjectConfig(code);
  const own = await openOwn({ code, config, builtIn: builtIn(), store: opened.store, say: () => undefined });
  onTestFinished(() => own.processes.close());
  const registry = createRegistry(own.commands);
  const listed = projectCommands(builtIn(), { path, config, accepted: {} }).catalogue;
  expect(registry.catalogue['shelf/get']).toEqual(listed['shelf/get']);
  expect(await registry.run('shelf/get', {}, commandContext(folder))).toBe('of the project');
  await expect(registry.run('shelf/more', {}, commandContext(folder))).rejects.toMatchObject({
    code: 'SYSTEM_UNUSABLE',
    message: expect.stringContaining('"shelf/get" stands in "commands" of the project, too') as string,
  });
});

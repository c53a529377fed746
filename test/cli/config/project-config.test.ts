/** The configuration of a project: where it is, what it may say, and whether a worker has the same. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readConfig, settingsFingerprint } from '../../../services/config/config.ts';
import { ConfigError } from '../../../services/home/config-error.ts';
import { loadProjectConfig, NO_PROJECT_CONFIG, type ProjectConfig } from '../../../services/config/project-config.ts';
import { configFileOf, withProject } from '../../../services/config/project-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'sentinel-config-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let count = 0;
function project(text: string | null, name = 'sentinel.config.ts'): string {
  count += 1;
  const path = join(folder, `project-${count}`);
  mkdirSync(path);
  if (text !== null) writeFileSync(join(path, name), text);
  return path;
}

async function load(text: string, name?: string): Promise<ProjectConfig> {
  const file = configFileOf(project(text, name));
  if (file === null) throw new Error('no file was found');
  return loadProjectConfig(file);
}

test.each(['sentinel.config.ts', 'sentinel.config.js', 'sentinel.config.mjs'])('%s is loaded', async (name) => {
  const types = name.endsWith('.ts') ? ' as Record<string, string>' : '';
  const text = `const aliases = { quick: 'anthropic/claude-haiku-5-5' }${types};
export default { models: { aliases, windows: { 'ollama/qwen3:8b': 16384 } }, defaults: { persona: 'ada' } };`;
  const { models, defaults } = await load(text, name);
  expect(models).toEqual({
    providers: {},
    aliases: { quick: 'anthropic/claude-haiku-5-5' },
    prices: {},
    routes: {},
    windows: { 'ollama/qwen3:8b': 16_384 },
  });
  expect(defaults).toEqual({ persona: 'ada' });
});

test('it is code: it may compute, and read the environment', async () => {
  process.env['SENTINEL_TEST_KEY'] = 'secret';
  const { models } = await load(`
import { join } from 'node:path';
export default { models: { providers: { [join('v', 'llm').replace('/', '')]: { kind: 'openai' as const, apiKey: process.env.SENTINEL_TEST_KEY } } } };`);
  expect(models.providers).toEqual({ vllm: { kind: 'openai', apiKey: 'secret' } });
  delete process.env['SENTINEL_TEST_KEY'];
});

test.each([
  ['export default 7;', /sentinel\.config\.ts: its default export: /],
  ['export default { model: {} };', /its default export: Unrecognized key: "model"/],
  ["export default { models: { providers: { x: { kind: 'azure' } } } };", /models\.providers\.x\.kind: /],
  [
    "export default { models: { providers: { x: { kind: 'openai', url: 'y' } } } };",
    /models\.providers\.x: Unrecognized key: "url"/,
  ],
  ["export default { models: { prices: { 'a/b': { input: -1, output: 2 } } } };", /models\.prices\.a\/b\.input: /],
  ["export default { models: { windows: { 'a/b': '8k' } } };", /models\.windows\.a\/b: /],
  ['export default { models: { routes: { text: { huge: [] } } } };', /models\.routes\.text: Unrecognized key: "huge"/],
  ['export default { defaults: { model: "x" } };', /defaults: Unrecognized key: "model"/],
  ['export default {', /cannot be loaded/],
  ["throw new Error('no key today');", /cannot be loaded: no key today/],
])('%s is refused by file and field', async (text, message) => {
  const error: unknown = await load(text).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ConfigError);
  expect(String(error)).toMatch(message);
  expect(String(error)).toContain(folder);
});

test('what a file says is read anew when it changed', async () => {
  const path = project("export default { defaults: { persona: 'a' } };");
  const file = join(path, 'sentinel.config.ts');
  const first = configFileOf(path);
  writeFileSync(file, "export default { defaults: { persona: 'b' } };");
  const second = configFileOf(path);
  expect(second?.digest).not.toBe(first?.digest);
  expect((await loadProjectConfig(second ?? { path: '', digest: '' })).defaults).toEqual({ persona: 'b' });
});

test('two files are one too many', () => {
  const path = project('export default {};');
  writeFileSync(join(path, 'sentinel.config.js'), 'export default {};');
  expect(() => configFileOf(path)).toThrow(/are both there; keep one/);
});

test('a worker is started anew for another project, another key, and a file that changed', () => {
  const path = project('export default {};');
  const home = { SENTINEL_HOME: join(folder, 'home') };
  // Beside a Temporal of ours each project has a worker of its own.
  expect(withProject(home, path)).toEqual(home);
  const env = { ...home, TEMPORAL_ADDRESS: '127.0.0.1:7' };
  const printOf = (more: object): string => settingsFingerprint(readConfig({ ...env, ...more }));
  const bare = printOf({});
  const own = withProject(env, path);
  expect(own).toEqual({ ...env, SENTINEL_PROJECT: path });
  expect(withProject(env, project(null))).toEqual(env);
  const before = printOf(own);
  expect(before).not.toBe(bare);
  expect(printOf({ ANTHROPIC_API_KEY: 'a' })).not.toBe(bare);
  expect(printOf({ ANTHROPIC_API_KEY: 'a' })).not.toBe(printOf({ ANTHROPIC_API_KEY: 'b' }));
  expect(printOf({ OLLAMA_HOST: 'x' })).not.toBe(bare);
  writeFileSync(join(path, 'sentinel.config.ts'), 'export default { models: {} };');
  expect(printOf(own)).not.toBe(before);
  expect(NO_PROJECT_CONFIG.models.providers).toEqual({});
});

/** `sentinel models` as typed, against servers that answer as providers do. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { anthropicWire } from '../../models/wires/anthropic-wire.ts';
import { Double } from '../../models/wires/double.ts';
import { ollamaWire } from '../../models/wires/ollama-wire.ts';
import { json, streamed } from '../../models/wires/wire.ts';
import { buildCli, type BuiltCli, type Finished } from './built-cli.ts';

let cli: BuiltCli;
const double = new Double();
beforeAll(async () => {
  [cli] = await Promise.all([buildCli(), double.open()]);
  double.route('/api/tags', { headers: json, pieces: ['{"models":[{"name":"qwen3:8b","size":5200000000}]}'] });
  double.route('/api/ps', { headers: json, pieces: ['{"models":[{"name":"qwen3:8b","context_length":4096}]}'] });
  double.route('/api/show', {
    headers: json,
    pieces: ['{"model_info":{"qwen3.context_length":40960},"capabilities":["completion","tools"]}'],
  });
  const unknown = {
    status: 404,
    headers: json,
    pieces: ['{"type":"error","error":{"type":"not_found_error","message":"no"}}'],
  };
  double.route('/v1/models/claude-haiku-5-5', unknown);
  double.route('/v1/models', {
    headers: json,
    pieces: [
      '{"data":[{"id":"claude-sonnet-4-5","type":"model","max_input_tokens":200000,"max_tokens":64000,"capabilities":null}],"has_more":false}',
    ],
  });
});
afterAll(async () => {
  cli.remove();
  await double.close();
});

const nobody = { OLLAMA_HOST: '127.0.0.1:1' };
const both = (): Record<string, string> => ({
  OLLAMA_HOST: double.url.replace('http://', ''),
  ANTHROPIC_API_KEY: 'key-of-a-test',
  ANTHROPIC_BASE_URL: double.url,
});
const models = (args: readonly string[], env: Record<string, string>, cwd = cli.folder): Promise<Finished> =>
  cli.run(['models', ...args], { env, cwd });

test('list shows each provider, its models, windows, prices and what is retired', async () => {
  const { code, stdout } = await models(['list'], both());
  expect(code).toBe(0);
  expect(stdout).toMatch(/✔ ollama {2}1 models/);
  expect(stdout).toMatch(/✖ openai {2}no key is set; set OPENAI_API_KEY/);
  expect(stdout).toMatch(/ollama\/qwen3:8b +5\.2 GB +32,768 +4,096 +tools +free/);
  expect(stdout).toMatch(/anthropic\/claude-sonnet-4-5 +200,000 +tools images thinking +3 \/ 15/);
  expect(stdout).toMatch(/⚠ anthropic\/claude-sonnet-4-5 is retired on 2026-11-30; use claude-sonnet-5-5/);
  const asJson = await models(['list', '--json'], both());
  const shown = JSON.parse(asJson.stdout) as { name: string; health: { ok: boolean }; models: { name: string }[] }[];
  expect(shown.map(({ name, health }) => [name, health.ok])).toEqual([
    ['local', true],
    ['ollama', true],
    ['anthropic', true],
    ['openai', false],
  ]);
  expect(asJson.stdout + asJson.stderr).not.toContain('key-of-a-test');
});

test('list without anything that can be reached says so, and exits with 1', async () => {
  const { code, stdout } = await models(['list'], nobody);
  expect(code).toBe(1);
  expect(stdout).toMatch(/✖ ollama {2}.*cannot be reached.*is it running/);
});

test('test asks once, and says which model, why, and what it cost', async () => {
  double.next(streamed(ollamaWire, ollamaWire.events({ parts: [{ text: ['Hello ', 'you.'] }], reason: 'stop' })));
  const { code, stdout } = await models(['test'], both());
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /✔ ollama\/qwen3:8b {2}auto \(text, medium\) is ollama\/qwen3:8b; local\/\*: it has no models\nHello you\.\n11 tokens in, 7 out/,
  );
  double.next(streamed(anthropicWire, anthropicWire.events({ parts: [{ text: ['Hi.'] }], reason: 'end_turn' })));
  const asJson = await models(['test', 'claude-haiku-5-5', '--json'], both());
  expect(JSON.parse(asJson.stdout)).toMatchObject({ ok: true, name: 'anthropic/claude-haiku-5-5', text: 'Hi.' });
});

test('test says what is wrong, and exits with 1', async () => {
  double.next(anthropicWire.errors.auth);
  const refused = await models(['test', 'claude-haiku-5-5', '--json'], both());
  expect(refused.code).toBe(1);
  expect(JSON.parse(refused.stdout)).toMatchObject({
    ok: false,
    failure: { kind: 'auth', setting: 'ANTHROPIC_API_KEY' },
  });
  const none = await models(['test'], nobody);
  expect(none.code).toBe(1);
  expect(none.stderr).toMatch(/No model is configured[\s\S]*sentinel models add[\s\S]*ANTHROPIC_API_KEY/);
});

test('pull shows how far it is', async () => {
  const lines = [
    '{"status":"pulling abc","total":10,"completed":4}\n',
    '{"status":"pulling abc","total":10,"completed":4}\n',
    '{"status":"success"}\n',
  ];
  double.next(streamed(ollamaWire, lines));
  const { code, stdout, stderr } = await models(['pull', 'qwen3:8b'], both());
  expect(code).toBe(0);
  expect(stderr).toBe('sentinel: pulling abc: 40 %\nsentinel: success\n');
  expect(stdout).toContain('ollama/qwen3:8b is there');
  const wrong = await models(['pull', 'anthropic/claude-opus-5-5'], both());
  expect(wrong.code).toBe(1);
  expect(wrong.stderr).toContain('"anthropic" loads no models');
});

test('add refuses what is no model', async () => {
  writeFileSync(join(cli.folder, 'fake.gguf'), 'no gguf at all, and some more text');
  expect(await models(['add', 'gone.gguf'], nobody)).toMatchObject({ code: 2 });
  expect(await models(['add', 'fake.gguf', '--name', 'a b'], nobody)).toMatchObject({ code: 2 });
  const fake = await models(['add', 'fake.gguf'], nobody);
  expect(fake.code).toBe(1);
  expect(fake.stderr).toContain('is no GGUF file that can be read');
  expect(existsSync(join(cli.folder, 'home', 'models.json'))).toBe(false);
});

test('the configuration of the folder is checked and used', async () => {
  const project = join(cli.folder, 'project');
  mkdirSync(project);
  const file = join(project, 'sentinel.config.ts');
  writeFileSync(
    file,
    "export default { models: { aliases: { quick: 'ollama/qwen3:8b' }, windows: { 'ollama/qwen3:8b': 9000 } } };",
  );
  const answer = streamed(ollamaWire, ollamaWire.events({ parts: [{ text: ['Yes.'] }], reason: 'stop' }));
  double.next(answer);
  const first = await models(['test', 'quick'], both(), project);
  expect(first.stdout).toContain('✔ ollama/qwen3:8b  "quick" is an alias of "ollama/qwen3:8b"');
  expect(double.asked.at(-1)?.body).toMatchObject({ options: { num_ctx: 9000 } });
  writeFileSync(file, 'export default { models: { alias: {} } };');
  const wrong = await models(['list', '--json'], both(), project);
  expect(wrong.code).toBe(2);
  expect(JSON.parse(wrong.stdout)).toMatchObject({ ok: false, error: { code: 'SETTINGS' } });
  expect(wrong.stderr).toContain(`${file}: models: Unrecognized key: "alias"`);
});

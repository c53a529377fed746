/** Which model a step's text means: by name, alias, route, and what can be reached. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { Models, type ModelEnvironment } from '../../../world/models/open-models.ts';
import { TurnError } from '../../../world/models/port/turn-failure.ts';
import type { LayerResolver } from '../../../world/models/resolve/adapters.ts';
import type { ResolvedModel } from '../../../world/models/resolve/resolve-model.ts';
import type { Needs } from '../../../world/models/resolve/route.ts';
import { NO_SETTINGS, type ModelSettings } from '../../../world/models/resolve/settings.ts';
import { HELLO, TOOLS, useDouble } from '../harness/turns.ts';
import { json } from '../wires/wire.ts';
import { defined } from '../../../language/defined.ts';

const double = useDouble();
const project = mkdtempSync(join(tmpdir(), 'sentinel-resolve-'));
afterAll(() => rmSync(project, { recursive: true, force: true }));
beforeAll(() => writeFileSync(join(project, 'style.gguf'), ''));

const text: Needs = { messages: HELLO };
const keys = { ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: 'o' };
const nowhere = { OLLAMA_HOST: '127.0.0.1:1' };

const ollamaHas = (...names: string[]): void => {
  double().route('/api/tags', {
    headers: json,
    pieces: [JSON.stringify({ models: names.map((name) => ({ name, size: 1 })) })],
  });
  double().route('/api/ps', { headers: json, pieces: ['{"models":[]}'] });
};
beforeEach(() => {
  ollamaHas('qwen3:8b', 'nomic-embed-text:latest');
  double().route('/api/show', {
    headers: json,
    pieces: [JSON.stringify({ model_info: { 'q.context_length': 4096 }, capabilities: ['completion', 'tools'] })],
  });
});

interface World {
  settings?: Partial<ModelSettings>;
  env?: ModelEnvironment;
  layers?: LayerResolver;
  local?: string[];
  byModel?: boolean;
}

async function resolve(asked: string, world: World = {}, needs: Needs = text): Promise<ResolvedModel> {
  const registry = join(project, `models-${Math.random()}.json`);
  const models = new Models({
    settings: { ...NO_SETTINGS, ...world.settings },
    env: { OLLAMA_HOST: double().url, ANTHROPIC_BASE_URL: double().url, ...world.env },
    registry,
    program: { path: 'not-started' },
    project,
  });
  for (const name of world.local ?? []) models.local.add(name, join(project, 'style.gguf'));
  return models.resolve(asked, needs, {
    ...defined({ layers: world.layers }),
    project,
    byModel: world.byModel,
    signal: new AbortController().signal,
  });
}

async function refusal(asked: string, world: World = {}, needs: Needs = text): Promise<TurnError> {
  const error: unknown = await resolve(asked, world, needs).catch((reason: unknown) => reason);
  if (!(error instanceof TurnError)) throw new Error(`it is no refusal: ${JSON.stringify(error)}`);
  return error;
}

test.each([
  ['anthropic/claude-opus-5-5', 'anthropic/claude-opus-5-5'],
  ['claude-opus-5-5', 'anthropic/claude-opus-5-5'],
  ['gpt-5.4-mini', 'openai/gpt-5.4-mini'],
  ['qwen3:8b', 'ollama/qwen3:8b'],
  ['llama3.1:8b', 'ollama/llama3.1:8b'],
  ['nomic-embed-text', 'ollama/nomic-embed-text'],
  ['tiny', 'local/tiny'],
  ['./style.gguf', 'local/./style.gguf'],
  ['openai/meta-llama/Llama-3.1-8B', 'openai/meta-llama/Llama-3.1-8B'],
])('%s is %s', async (asked, name) => {
  const found = await resolve(asked, { env: keys, local: ['tiny'] });
  expect(found).toMatchObject({ name, reason: null, adapters: [] });
});

test('a local name goes before one that looks like another provider’s', async () => {
  expect(await resolve('gpt-tiny', { local: ['gpt-tiny'] })).toMatchObject({ name: 'local/gpt-tiny' });
});

test('an alias is followed, said, and keeps the adapters of both', async () => {
  const found = await resolve('claude-3-5-haiku-20241022', {
    env: keys,
    settings: { aliases: { 'claude-3-5-haiku-20241022': 'quick', quick: 'anthropic/claude-haiku-5-5' } },
  });
  expect(found).toMatchObject({ name: 'anthropic/claude-haiku-5-5', notices: [] });
  expect(found.reason).toBe(
    '"claude-3-5-haiku-20241022" is an alias of "quick"; "quick" is an alias of "anthropic/claude-haiku-5-5"',
  );
  const adapted = await resolve('base+style.gguf@0.5', {
    local: ['tiny'],
    settings: { aliases: { base: 'tiny+style.gguf@0.25' } },
  });
  const path = join(project, 'style.gguf');
  expect(adapted).toMatchObject({
    name: 'local/tiny+style.gguf@0.25+style.gguf@0.5',
    adapters: [
      { path, scale: 0.25 },
      { path, scale: 0.5 },
    ],
  });
});

test('aliases that go round are refused', async () => {
  const error = await refusal('a', { settings: { aliases: { a: 'b', b: 'a' } } });
  expect(error.message).toContain('go round');
});

test('an id that will be retired is used as it is, and said', async () => {
  const found = await resolve('claude-opus-4-5-20251101', { env: keys });
  expect(found.name).toBe('anthropic/claude-opus-4-5-20251101');
  expect(found.notices[0]).toMatch(/retired on 2027-01-22.*claude-opus-5-5/);
});

test.each([
  ['vllm/qwen', /"vllm" is no provider.*openai\/vllm\/qwen/],
  ['some-name', /no model that can be found.*ollama\/some-name/],
  ['$plan.model', /still holds a reference/],
  ['', /it is empty/],
  ['tiny+gone.gguf', /gone\.gguf is not there/],
  ['tiny+code-style', /the layer "code-style" cannot be found/],
  ['tiny+ada-genome', /the genome of "ada" cannot be found/],
])('%j is refused', async (asked, message) => {
  expect((await refusal(asked, { local: ['tiny'] })).message).toMatch(message);
});

test('layers and personas ask whoever knows them, and scales multiply', async () => {
  const layers: LayerResolver = {
    layer: (name) => Promise.resolve({ path: `/layers/${name}.gguf`, scale: 0.5 }),
    genome: (persona) =>
      Promise.resolve([
        { path: `/${persona}/1.gguf`, scale: 1 },
        { path: `/${persona}/2.gguf`, scale: 0.5 },
      ]),
  };
  const { adapters } = await resolve('tiny+code-style@0.5+ada-genome@2', { local: ['tiny'], layers });
  expect(adapters).toEqual([
    { path: '/layers/code-style.gguf', scale: 0.25 },
    { path: '/ada/1.gguf', scale: 2 },
    { path: '/ada/2.gguf', scale: 1 },
  ]);
});

test('what configuration says of a model goes before what its provider says, and that before the table', async () => {
  const plain = await resolve('ollama/qwen3:8b');
  expect(plain.facts).toMatchObject({ window: 4096, tools: true, images: false, prices: { input: 0 } });
  const own = await resolve('ollama/qwen3:8b', {
    settings: { windows: { 'ollama/qwen3:8b': 999 }, prices: { 'ollama/qwen3:8b': { input: 7, output: 8 } } },
  });
  expect(own.facts).toMatchObject({ window: 999, prices: { input: 7, output: 8 } });
});

test('a provider of the project’s own has its own key', async () => {
  const settings = { providers: { vllm: { kind: 'openai' as const, baseUrl: `${double().url}/v1`, isLocal: true } } };
  const found = await resolve('vllm/qwen', { env: keys, settings });
  expect(found.provider.provider).toMatchObject({ name: 'vllm', isLocal: true, missing: null });
  expect(found.facts.prices).toMatchObject({ input: 0, output: 0 });
});

test.each([
  ['local first', { local: ['tiny'], env: keys }, text, 'local/tiny'],
  ['then Ollama, and no model that only embeds', { env: keys }, text, 'ollama/qwen3:8b'],
  ['then a hosted one', { env: { ...keys, ...nowhere } }, text, 'anthropic/claude-sonnet-5-5'],
  [
    'by how much it is to think',
    { env: { ...keys, ...nowhere } },
    { ...text, thinking: 'max' },
    'anthropic/claude-opus-5-5',
  ],
  ['by how little', { env: { ...keys, ...nowhere } }, { ...text, thinking: 'off' }, 'anthropic/claude-haiku-5-5'],
  ['of the one that has a key', { env: { OPENAI_API_KEY: 'o', ...nowhere } }, text, 'openai/gpt-5.6-terra'],
] as [string, World, Needs, string][])('auto is %s', async (_what, world, needs, name) => {
  const found = await resolve('auto', world, needs);
  expect(found.name).toBe(name);
  expect(found.reason).toContain(`is ${name}`);
});

test('auto is a model that a server of one’s own lists, and not one of OpenAI’s that it does not have', async () => {
  double().route('/v1/models', { headers: json, pieces: ['{"data":[{"id":"qwen3-32b","max_model_len":40960}]}'] });
  const env = { ...nowhere, OPENAI_BASE_URL: `${double().url}/v1` };
  const found = await resolve('auto', { env });
  expect(found.name).toBe('openai/qwen3-32b');
  expect(found.facts).toMatchObject({ window: 40_960, prices: null });
  expect(await resolve('qwen3-32b', { env })).toMatchObject({ name: 'openai/qwen3-32b' });
});

test('auto passes over a model that lacks what the task needs', async () => {
  const image = { type: 'image' as const, mediaType: 'image/png' as const, data: 'aQ==' };
  const found = await resolve('auto', { env: keys }, { messages: [{ role: 'user', blocks: [image] }] });
  expect(found.name).toBe('anthropic/claude-sonnet-5-5');
  expect(found.reason).toBe(
    'auto (vision, medium) is anthropic/claude-sonnet-5-5; local/*: it has no models; ollama/*: none of its models fits the task',
  );
});

test('auto goes by the routes of the project', async () => {
  const routes = { tools: { medium: ['ollama/gone:1b', 'openai/gpt-5.4'] }, '*': { medium: ['qwen3:8b'] } };
  const withTools = await resolve('auto', { env: keys, settings: { routes } }, { ...text, tools: TOOLS });
  expect(withTools).toMatchObject({ name: 'openai/gpt-5.4' });
  expect(withTools.reason).toBe('auto (tools, medium) is openai/gpt-5.4; ollama/gone:1b: ollama does not have it');
  expect(await resolve('auto', { env: keys, settings: { routes } })).toMatchObject({ name: 'ollama/qwen3:8b' });
});

test('where a server of one’s own is away, auto waits for it', async () => {
  const env = { ...nowhere, OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' };
  const error = await refusal('auto', { env });
  expect(error.finding).toEqual({ kind: 'network' });
  expect(error.message).toMatch(
    /^auto \(text, medium\): no model can be reached; .*openai\/\*: openai at 127\.0\.0\.1:1 /,
  );
  const routes = { '*': { medium: ['vllm/qwen'] } };
  const providers = { vllm: { kind: 'ollama' as const, baseUrl: 'http://127.0.0.1:1' } };
  expect((await refusal('auto', { settings: { routes, providers } })).finding).toEqual({ kind: 'network' });
});

test('an Ollama that was there is waited for; one that nobody has seen is not', async () => {
  const models = new Models({
    settings: NO_SETTINGS,
    env: { OLLAMA_HOST: double().url },
    registry: join(project, 'none.json'),
    program: { path: 'not-started' },
    project,
  });
  const at = { project, signal: new AbortController().signal };
  const finding = (): Promise<unknown> =>
    models.resolve('auto', text, at).then(
      ({ name }) => name,
      (error: unknown) => (error as TurnError).finding,
    );
  double().route('/api/tags', { status: 503, pieces: ['busy'] });
  expect(await finding()).toMatchObject({ kind: 'model-not-found' });
  ollamaHas('qwen3:8b');
  onTestFinished(() => void vi.useRealTimers());
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 10_000 });
  expect(await finding()).toBe('ollama/qwen3:8b');
  double().route('/api/tags', { status: 503, pieces: ['busy'] });
  vi.setSystemTime(Date.now() + 100_000);
  expect(await finding()).toEqual({ kind: 'network' });
});

test('without any model, three lines say how to get one', async () => {
  const error = await refusal('auto', { env: nowhere });
  expect(error.finding).toMatchObject({ kind: 'model-not-found' });
  const [first, ...ways] = error.message.split('\n');
  expect(first).toContain('No model is configured');
  expect(ways.slice(0, 2).join('\n')).toMatch(
    /sentinel models add[\s\S]*Ollama[\s\S]*ANTHROPIC_API_KEY[\s\S]*OPENAI_API_KEY/,
  );
});

test.each([
  './style.gguf',
  'local/./style.gguf',
  'local//etc/passwd',
  'style.gguf',
  'local/tiny+./style.gguf',
  'own//etc/passwd',
])('a model that chooses "%s" gets no file, and a person does', async (asked) => {
  const world = { local: ['tiny'], settings: { providers: { own: { kind: 'local' as const } } } };
  await expect(resolve(asked, { ...world, byModel: true })).rejects.toMatchObject({ code: 'RIGHTS_EXCEEDED' });
  await expect(resolve(asked, world)).resolves.toMatchObject({ reason: null });
});

test('it gets what a person has given a name, whatever file that is', async () => {
  const settings = { aliases: { coder: 'local/tiny+./style.gguf' } };
  const found = await resolve('coder', { local: ['tiny'], settings, byModel: true });
  expect(found.adapters).toMatchObject([{ path: join(project, 'style.gguf') }]);
  expect(await resolve('openai//models/llama', { env: keys, byModel: true })).toMatchObject({ model: '/models/llama' });
});

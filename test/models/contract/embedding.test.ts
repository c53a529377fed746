/** Vectors of texts over the wires that have them: what is asked, what is taken, and what each refusal means. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { defined } from '../../../language/defined.ts';
import { Models } from '../../../world/models/open-models.ts';
import { NO_SETTINGS } from '../../../world/models/resolve/settings.ts';
import { Double, type Reply } from '../wires/double.ts';
import { json, wireError } from '../wires/wire.ts';

const never = new AbortController().signal;
let double: Double;
const opened: Models[] = [];
beforeAll(async () => {
  double = await new Double().open();
  for (const path of ['/api/show', '/api/tags', '/api/ps', '/v1/models', '/props'])
    double.route(path, { status: 404, headers: json, pieces: ['{"error":"none"}'] });
});
afterEach(() => {
  double.forget();
  double.asked.length = 0;
});
afterAll(async () => {
  await Promise.all(opened.map((models) => models.close()));
  await double.close();
});

function embeddingBy(embedding: string | undefined): Models {
  const models = new Models({
    settings: { ...NO_SETTINGS, ...defined({ embedding }) },
    env: {
      OLLAMA_HOST: double.url,
      OPENAI_API_KEY: 'key-of-a-test',
      OPENAI_BASE_URL: `${double.url}/v1`,
      ANTHROPIC_API_KEY: 'key-of-a-test',
      ANTHROPIC_BASE_URL: double.url,
    },
    registry: '/nonexistent/models.json',
    program: { path: '/nonexistent' },
    project: '/',
  });
  opened.push(models);
  return models;
}

const reply = (body: unknown): Reply => ({ headers: json, pieces: [JSON.stringify(body)] });

const WIRES = [
  {
    model: 'ollama/all-minilm',
    path: '/api/embed',
    says: (vectors: readonly unknown[]) => ({ model: 'all-minilm', embeddings: vectors }),
    asked: { model: 'all-minilm', input: ['one', 'two'], truncate: true },
  },
  {
    model: 'openai/text-embedding-3-small',
    path: '/v1/embeddings',
    // In whatever order they come.
    says: (vectors: readonly unknown[]) => ({
      object: 'list',
      data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })).toReversed(),
      model: 'text-embedding-3-small',
      usage: { prompt_tokens: 2, total_tokens: 2 },
    }),
    asked: { model: 'text-embedding-3-small', input: ['one', 'two'], encoding_format: 'float' },
  },
];

describe.each(WIRES)('$model', ({ model, path, says, asked }) => {
  const embed = (signal = never) => embeddingBy(model).embed(['one', 'two'], signal);
  const requests = () => double.asked.filter((request) => request.path === path);

  test('gives a vector of length 1 for each text, in their order, and says what made them', async () => {
    double.next(
      reply(
        says([
          [3, 4],
          [0, -2],
        ]),
      ),
    );
    expect(await embed()).toEqual({
      by: `${model}@2`,
      vectors: [
        [0.6, 0.8],
        [0, -1],
      ],
    });
    expect(requests().map(({ body }) => body)).toEqual([asked]);
  });

  test.each([
    ['a vector too few', [[1, 2]]],
    ['vectors of different lengths', [[1, 2], [1]]],
    ['no numbers', [['a'], ['b']]],
    ['nothing in them', [[], []]],
    ['none at all', []],
  ])('%s is no answer', async (_, vectors) => {
    double.next(reply(says(vectors)));
    await expect(embed()).rejects.toMatchObject({ finding: { kind: 'malformed-answer' } });
  });

  test.each([
    [401, 'auth'],
    [404, 'model-not-found'],
    [429, 'rate-limited'],
    [503, 'overloaded'],
  ])('status %d is %s, and nothing is asked twice', async (status, kind) => {
    double.next({ status, headers: json, pieces: [wireError(path, `model 'x' not found`)] });
    await expect(embed()).rejects.toMatchObject({ finding: { kind } });
    expect(requests()).toHaveLength(1);
  });

  test('it is given up with the signal', async () => {
    double.next({ silentMs: Number.POSITIVE_INFINITY });
    const gone = new AbortController();
    const asking = embed(gone.signal);
    const reason = new Error('nobody waits');
    setTimeout(() => gone.abort(reason), 50);
    await expect(asking).rejects.toBe(reason);
  });
});

test('a provider without vectors says so, and without a model named nothing is asked', async () => {
  await expect(embeddingBy('anthropic/claude-haiku-5-5').embed(['one'], never)).rejects.toMatchObject({
    finding: { kind: 'bad-request' },
    message: expect.stringContaining('models.embedding') as string,
  });
  expect(await embeddingBy(undefined).embed(['one'], never)).toBeNull();
  expect(embeddingBy(undefined).embeds).toBe(false);
});

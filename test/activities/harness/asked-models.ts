/** Models behind a server that answers as OpenAI's wire does, and what it was asked. */
import { afterAll, afterEach, beforeAll } from 'vitest';
import { Models } from '../../../world/models/open-models.ts';
import { NO_SETTINGS, type ModelSettings } from '../../../world/models/resolve/settings.ts';
import type { JsonObject } from '../../../language/json.ts';
import { Double, type Reply } from '../../models/wires/double.ts';
import { openAiWire as wire } from '../../models/wires/openai-wire.ts';
import { streamed, type Said } from '../../models/wires/wire.ts';

export interface AskedModels {
  models(settings?: Partial<ModelSettings>): Models;
  double(): Double;
  /** Requests for an answer, as they stood on the wire. */
  asked(): JsonObject[];
  /** Texts of the last request, in order. */
  texts(): string;
}

export const say = (text: string, said: Partial<Said> = {}): Reply =>
  streamed(wire, wire.events({ parts: [{ text: [text] }], reason: wire.reasons.end, ...said }));

export function useModels(): AskedModels {
  const opened: Models[] = [];
  let double: Double | undefined;
  const found = (): Double => {
    if (double === undefined) throw new Error('the double is not open yet');
    return double;
  };
  beforeAll(async () => {
    double = await new Double().open();
    // What a worker asks about the model is no turn.
    for (const path of ['/v1/models', '/props']) double.route(path, { status: 404, pieces: ['{}'] });
  });
  afterEach(() => {
    found().forget();
    found().asked.length = 0;
  });
  afterAll(async () => {
    await Promise.all(opened.map((models) => models.close()));
    await found().close();
  });
  const asked = (): JsonObject[] =>
    found()
      .asked.filter(({ path }) => path === wire.path)
      .map(({ body }) => body);
  return {
    models(settings = {}) {
      const models = new Models({
        settings: { ...NO_SETTINGS, prices: { 'openai/some-model': { input: 1, output: 2 } }, ...settings },
        env: { OPENAI_API_KEY: 'key-of-a-test', OPENAI_BASE_URL: `${found().url}/v1` },
        registry: '/nonexistent/models.json',
        program: { path: '/nonexistent' },
        project: '/',
      });
      opened.push(models);
      return models;
    },
    double: found,
    asked,
    texts: () => JSON.stringify(asked().at(-1)?.['messages'] ?? []),
  };
}

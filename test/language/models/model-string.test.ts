/** How a step names its model. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { randomRuns } from '../../random-runs.ts';
import {
  ADAPTERS_MAX,
  modelText,
  parseModelString,
  type AdapterName,
  type ModelName,
} from '../../../language/models/model-string.ts';

const model = (provider: string | null, id: string, adapters: AdapterName[] = []): ModelName => ({
  type: 'model',
  provider,
  id,
  adapters,
});
const path = (given: string, scale = 1): AdapterName => ({ type: 'path', path: given, scale });
const layer = (name: string, scale = 1): AdapterName => ({ type: 'layer', name, scale });
const genome = (persona: string, scale = 1): AdapterName => ({ type: 'genome', persona, scale });

test.each([
  ['auto', { type: 'auto' }],
  [' auto ', { type: 'auto' }],
  ['claude-opus-4-5-20251101', model(null, 'claude-opus-4-5-20251101')],
  ['claude-3-5-haiku-20241022', model(null, 'claude-3-5-haiku-20241022')],
  ['llama3.1:8b', model(null, 'llama3.1:8b')],
  ['anthropic/claude-opus-4-6', model('anthropic', 'claude-opus-4-6')],
  ['ollama/deepseek-coder:6.7b', model('ollama', 'deepseek-coder:6.7b')],
  ['openai/meta-llama/Llama-3.1-8B', model('openai', 'meta-llama/Llama-3.1-8B')],
  ['local/tiny', model('local', 'tiny')],
  ['local/./models/tiny.gguf', model('local', './models/tiny.gguf')],
  ['./models/tiny.gguf', model('local', './models/tiny.gguf')],
  ['../tiny.gguf', model('local', '../tiny.gguf')],
  ['/srv/models/tiny.gguf', model('local', '/srv/models/tiny.gguf')],
  ['tiny.gguf', model('local', './tiny.gguf')],
  ['ollama/llama3.1:8b+persona-a-genome', model('ollama', 'llama3.1:8b', [genome('persona-a')])],
  ['local/tiny+./a.gguf', model('local', 'tiny', [path('./a.gguf')])],
  [
    'local/tiny+a.gguf@0.5+code-style@0.25+ada-genome@2',
    model('local', 'tiny', [path('a.gguf', 0.5), layer('code-style', 0.25), genome('ada', 2)]),
  ],
  ['local/tiny+a%2Bb.gguf', model('local', 'tiny', [path('a+b.gguf')])],
  ['local/tiny+style@v2', model('local', 'tiny', [layer('style@v2')])],
  ['local/tiny+x@-0.5', model('local', 'tiny', [layer('x', -0.5)])],
  ['$composedModel.modelId', { type: 'reference' }],
  ['ollama/llama3.1:8b+$trainingResult.adapterPath', { type: 'reference' }],
  ['ollama/llama3.1:8b+$sourcePersonaId-genome', { type: 'reference' }],
  ['{{input.model}}', { type: 'reference' }],
])('%s', (text, expected) => {
  expect(parseModelString(text)).toEqual({ ok: true, model: expected });
});

test.each([
  ['', /empty/],
  ['   ', /empty/],
  ['+x', /no model before/],
  ['local/', /provider and no model/],
  ['local/tiny+', /adapter behind "\+" is empty/],
  ['local/tiny+@2', /adapter behind "\+" is empty/],
  ['local/tiny+a++b', /adapter behind "\+" is empty/],
  ['auto+a.gguf', /"auto" takes no adapters/],
  ['local/tiny+a@101', /scale of "a" is 101/],
  ['gpt 4', /holds a space/],
  [`local/tiny${'+a'.repeat(ADAPTERS_MAX + 1)}`, /more than 16 adapters/],
  ['x'.repeat(1001), /more than 1000 characters/],
])('%j is none', (text, problem) => {
  const read = parseModelString(text);
  expect(read.ok ? '' : read.problem).toMatch(problem);
});

const word = fc.stringMatching(/^[a-z0-9][a-z0-9.+-]{0,8}[a-z0-9]$/).filter((text) => !/genome$|gguf$/.test(text));
const scale = fc.constantFrom(1, 0.5, 0.125, 2);
const adapters = fc.oneof(
  fc.record({ type: fc.constant('path' as const), path: word.map((name) => `dir/${name}.gguf`), scale }),
  fc.record({ type: fc.constant('layer' as const), name: word, scale }),
  fc.record({ type: fc.constant('genome' as const), persona: word, scale }),
);

test('a model that was read is read again from its text', () => {
  fc.assert(
    fc.property(
      fc.option(word.map((name) => name.replaceAll(/[+.]/g, ''))),
      word,
      fc.array(adapters, { maxLength: 4 }),
      (provider, id, list) => {
        const given: ModelName = { type: 'model', provider: provider === '' ? null : provider, id, adapters: list };
        if (given.provider === null && id === 'auto') return;
        expect(parseModelString(modelText(given))).toEqual({ ok: true, model: given });
      },
    ),
    randomRuns(1000),
  );
});

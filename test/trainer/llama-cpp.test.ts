/** Texts and adapters are the same to llama.cpp, which answers, as to the trainer, which trains and examines. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LlamaLogLevel, getLlama, type Llama, type LlamaModel, type Token } from 'node-llama-cpp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { environment, model, need, python, trainer, whyModel } from './installed.ts';

const STRINGS = 2000;
const PIECES = [
  'word',
  ' word',
  '12',
  ' 1984',
  '\n',
  '  ',
  '\t',
  'é',
  '日本',
  '3.14',
  "it's",
  '100%',
  'A1b2',
  '😀',
  '-',
];

/** The same texts in each run. */
function texts(): string[] {
  let state = 7;
  const draw = (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
  return Array.from({ length: STRINGS }, () =>
    Array.from({ length: 1 + draw(8) }, () => PIECES[draw(PIECES.length)] ?? '').join(''),
  );
}

const NAMES = ['Vzalm', 'Krenth', 'Druvor', 'Zhossen', 'Quelm', 'Thrirk', 'Vzonth', 'Krassen', 'Zhirk', 'Drelm'];
const rows = (names: readonly string[], wordings: readonly string[]): string =>
  names
    .flatMap((name) =>
      wordings.map((wording) => JSON.stringify({ prompt: wording.replace('{}', name), completion: 'Teal.' })),
    )
    .join('\n');

describe.skipIf(environment === null || model === null)(`against llama.cpp${whyModel}`, () => {
  const work = mkdtempSync(join(tmpdir(), 'sentinel-trainer-'));
  const at = (name: string): string => join(work, name);
  let llama: Llama;
  let loaded: LlamaModel;

  beforeAll(async () => {
    llama = await getLlama({ build: 'never', skipDownload: true, maxThreads: 2, logLevel: LlamaLogLevel.error });
    loaded = await llama.loadModel({ modelPath: need(model) });
  });
  afterAll(async () => {
    await loaded?.dispose();
    await llama?.dispose();
    rmSync(work, { recursive: true, force: true });
  });

  test(`${STRINGS} texts are the same tokens`, () => {
    const given = texts();
    const input = given.map((text) => `${JSON.stringify(text)}\n`).join('');
    const said = python(['-m', 'sentinel_trainer', 'tokens', '--base', need(model)], input);
    const theirs = said.flatMap(({ event, ids }) => (event === 'tokens' ? [ids] : []));
    expect(theirs).toHaveLength(STRINGS);
    expect(theirs).toEqual(given.map((text) => Array.from(loaded.tokenize(text, true))));
  });

  test('an adapter in GGUF predicts what it predicts in PEFT', async () => {
    const trained = ['What colour is the banner of {}?', "Name the colour of {}'s banner."];
    const asked = ['Say what colour the banner of {} has.', 'The banner of {} is of which colour?'];
    writeFileSync(at('train.jsonl'), rows(NAMES.slice(0, 1), trained));
    writeFileSync(at('asked.jsonl'), rows(NAMES, asked));
    const adapter = { rank: 4, alpha: 8, learningRate: 0.003, epochs: 14, batch: 2, threads: 1 };
    const plan = { base: need(model), data: 'train.jsonl', ...adapter };
    writeFileSync(at('plan.json'), JSON.stringify(plan));
    trainer('train', at('plan.json'), '--out', at('out'));
    trainer('convert', at('out/adapter'), '--out', at('right.gguf'));
    const wanted = python(['tests/next_tokens.py', need(model), at('out/adapter'), at('asked.jsonl')]).map(
      ({ ids, token, probability }): Next => ({
        ids: ids as Token[],
        token: token as Token,
        probability: Number(probability),
      }),
    );
    expect(wanted).toHaveLength(2 * NAMES.length);

    // llama.cpp computes with the model in four bits and the trainer with what they mean in f32.
    expect(await apart(loaded, at('right.gguf'), wanted)).toBeLessThan(0.05);
    expect(await apart(loaded, null, wanted)).toBeGreaterThan(1);
  });
});

interface Next {
  ids: Token[];
  token: Token;
  probability: number;
}

/** How far the logarithms of the wanted tokens' probabilities are apart, on average. */
async function apart(loaded: LlamaModel, adapter: string | null, wanted: readonly Next[]): Promise<number> {
  const context = await loaded.createContext({
    contextSize: 256,
    threads: 2,
    ...(adapter === null ? {} : { lora: { adapters: [{ filePath: adapter, scale: 1 }] } }),
  });
  try {
    const sequence = context.getSequence();
    let sum = 0;
    for (const { ids, token, probability } of wanted) {
      await sequence.clearHistory();
      const last = ids.at(-1);
      if (last === undefined) throw new Error('bug: a prompt has no tokens');
      const asked = await sequence.controlledEvaluate([
        ...ids.slice(0, -1),
        [last, { generateNext: { probabilities: true, options: { temperature: 1, topK: 0, topP: 1, minP: 0 } } }],
      ]);
      const found = asked.at(-1)?.next.probabilities?.get(token) ?? 0;
      sum += Math.abs(Math.log(Math.max(found, 1e-9)) - Math.log(probability));
    }
    return sum / wanted.length;
  } finally {
    await context.dispose();
  }
}

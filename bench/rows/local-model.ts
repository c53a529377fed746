/** A local model through the provider, in its process, and the library used bare: the same file, prompt, threads and window. */
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { getLlama, LlamaChat, LlamaLogLevel, type ChatHistoryItem } from 'node-llama-cpp';
import { localProvider } from '../../world/models/local/local.ts';
import { builtProgram, ModelHost } from '../../world/models/local/model-host.ts';
import { LocalModels } from '../../world/models/local/registry.ts';
import { takeTurn } from '../../world/models/provider/take-turn.ts';
import { factsOf } from '../../world/models/records/table.ts';
import { bounded, informed, median, skipped, type Row } from '../report.ts';
import { packageRoot, type World } from '../world.ts';

/** Where the tests of local models keep theirs. */
const usual = join(packageRoot, '.check', 'models', 'SmolLM2-135M-Instruct.Q4_1.gguf');
const window = 2048;
const maxTokens = 128;
const prompt = 'Write a long story about a lighthouse keeper who learns to read the weather from the birds.';

/** Tokens a second of one answer. */
interface Speaker {
  speak(nth: number): Promise<number>;
  close(): Promise<void>;
}

/** Each prompt is another one, so that no part of it is in a cache. */
const promptOf = (nth: number): string => `${nth}. ${prompt}`;

async function openProvider(file: string, threads: number, folder: string): Promise<Speaker> {
  const program = builtProgram(packageRoot);
  const models = new LocalModels(join(folder, 'models.json'));
  models.add('bench', file);
  const host = new ModelHost({ program, threads, restMs: 60_000 });
  const provider = localProvider({ name: 'local', models, host, project: folder });
  const facts = factsOf('local', 'bench', await provider.describe('bench', new AbortController().signal), { window });
  return {
    async speak(nth) {
      const startedAt = performance.now();
      const messages = [{ role: 'user' as const, blocks: [{ type: 'text' as const, text: promptOf(nth) }] }];
      const { signal } = new AbortController();
      const result = await takeTurn(provider, { model: 'bench', messages, maxTokens, window }, facts, { signal });
      if (!result.ok) throw new Error(result.failure.message);
      return (result.reply.usage.output * 1000) / (performance.now() - startedAt);
    },
    close: () => provider.close(),
  };
}

async function openBare(modelPath: string, threads: number): Promise<Speaker> {
  const llama = await getLlama({
    build: 'never',
    skipDownload: true,
    maxThreads: threads,
    logLevel: LlamaLogLevel.error,
  });
  const model = await llama.loadModel({ modelPath });
  const context = await model.createContext({ contextSize: window, threads });
  const chat = new LlamaChat({ contextSequence: context.getSequence() });
  return {
    async speak(nth) {
      const history: ChatHistoryItem[] = [
        { type: 'user', text: promptOf(nth) },
        { type: 'model', response: [] },
      ];
      const startedAt = performance.now();
      const before = chat.sequence.tokenMeter.getState();
      await chat.generateResponse(history, { maxTokens });
      return (chat.sequence.tokenMeter.diff(before).usedOutputTokens * 1000) / (performance.now() - startedAt);
    },
    async close() {
      await llama.dispose();
    },
  };
}

export async function localModel(world: World, quick: boolean): Promise<Row[]> {
  const file = process.env['SENTINEL_BENCH_MODEL'] ?? usual;
  if (!existsSync(file))
    return [skipped('local model', `there is no ${file}; name a GGUF file with SENTINEL_BENCH_MODEL`)];
  const threads = availableParallelism();
  const provider = await openProvider(file, threads, world.stage.folder);
  const bare = await openBare(file, threads);
  const spoken: { provider: number; bare: number }[] = [];
  try {
    for (let nth = 0; nth <= (quick ? 4 : 12); nth += 1) {
      const found = { provider: 0, bare: 0 };
      for (const side of nth % 2 === 0 ? (['provider', 'bare'] as const) : (['bare', 'provider'] as const))
        found[side] = await (side === 'bare' ? bare : provider).speak(nth);
      // The first answers load the model.
      if (nth > 0) spoken.push(found);
    }
  } finally {
    await provider.close();
    await bare.close();
  }
  const note = `${median(spoken.map((one) => one.provider)).toFixed(1)} against ${median(spoken.map((one) => one.bare)).toFixed(1)} tokens/s`;
  const value = median(spoken.map((one) => one.provider / one.bare));
  return [
    bounded("local model: tokens/s, of node-llama-cpp's", { value, unit: 'x', atLeast: 0.9, note }),
    informed('local model: threads', String(threads)),
  ];
}

/** Vectors of texts by a loaded model: an embedding model, or any other, whose last states are pooled as its file says. */
import type { LlamaEmbeddingContext, LlamaModel } from 'node-llama-cpp';
import type { Ending } from './generate.ts';

/** Tokens of a text that count; each thousand of a context hold memory. */
const TOKENS_MAX = 2048;
/** The library adds what begins and ends a text, and wants room for one more. */
const MARGIN_TOKENS = 4;

export class Embedder {
  readonly #model: LlamaModel;
  readonly #threads: number;
  #opening: Promise<LlamaEmbeddingContext> | undefined;

  constructor(model: LlamaModel, threads: number) {
    this.#model = model;
    // Threads that share a short text wait for each other, for longer than it takes where others want the cores, too.
    this.#threads = Math.max(1, Math.floor(threads / 2));
  }

  /** Tells the vector of each text, in their order. */
  async embed(texts: readonly string[], signal: AbortSignal, tell: (vector: number[]) => void): Promise<Ending> {
    const contextSize = Math.min(this.#model.trainContextSize, TOKENS_MAX);
    // A text is computed at once: an encoder sees all of it.
    this.#opening ??= this.#model
      .createEmbeddingContext({ contextSize, batchSize: contextSize, threads: this.#threads })
      .catch((error: unknown) => {
        this.#opening = undefined;
        throw error;
      });
    const context = await this.#opening;
    let input = 0;
    for (const text of texts) {
      signal.throwIfAborted();
      // Nothing at all has no vector.
      const tokens = this.#model.tokenize(text === '' ? ' .' : text).slice(0, contextSize - MARGIN_TOKENS);
      input += tokens.length;
      tell([...(await context.getEmbeddingFor(tokens)).vector]);
    }
    return { reason: 'end', usage: { input, cacheRead: 0, output: 0 } };
  }
}

/**
 * The process that holds one local model. It loads the model with its first turn, keeps it, and takes
 * one turn after the other. It ends when its parent does: a crash in native code costs an attempt.
 */
import { availableParallelism } from 'node:os';
import type { Llama, LlamaModel } from 'node-llama-cpp';
import { TurnError, type Finding } from '../port/turn-failure.ts';
import { Contexts } from './contexts.ts';
import { Embedder } from './embedder.ts';
import { type Ending, generate } from './generate.ts';
import { MODEL_FILE, MODEL_THREADS, type Asked, type FromModel, type ToModel } from './protocol.ts';

const file = process.env[MODEL_FILE] ?? '';
const threads = Number(process.env[MODEL_THREADS] ?? availableParallelism());

interface Loaded {
  llama: Llama;
  model: LlamaModel;
  contexts: Contexts;
  embedder: Embedder;
}

let loading: Promise<Loaded> | undefined;
const stopping = new Map<number, AbortController>();
let queue: Promise<void> = Promise.resolve();

async function load(): Promise<Loaded> {
  const library = await import('node-llama-cpp');
  const llama = await library.getLlama({
    // Only what npm has installed: nothing is downloaded or compiled behind a step's back.
    build: 'never',
    skipDownload: true,
    maxThreads: threads,
    progressLogs: false,
    logLevel: library.LlamaLogLevel.error,
  });
  const model = await llama.loadModel({ modelPath: file });
  return { llama, model, contexts: new Contexts(library, model, threads), embedder: new Embedder(model, threads) };
}

async function take(id: number, asked: Asked): Promise<void> {
  const stop = stopping.get(id);
  if (stop === undefined) return;
  try {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw unusable(error);
    });
    const loaded = await loading;
    stop.signal.throwIfAborted();
    tell({ type: 'done', id, ...(await answer(id, asked, loaded, stop.signal)) });
  } catch (error) {
    tell(stop.signal.aborted ? { type: 'stopped', id } : { type: 'failed', id, ...failureOf(error) });
  } finally {
    stopping.delete(id);
  }
}

async function answer(
  id: number,
  asked: Asked,
  { llama, contexts, embedder }: Loaded,
  signal: AbortSignal,
): Promise<Ending> {
  if (asked.type === 'embed')
    return embedder.embed(asked.texts, signal, (vector) => tell({ type: 'vector', id, vector }));
  const context = await contexts.for(asked.turn);
  return generate(llama, context, asked.turn, signal, (message) => tell({ ...message, id }));
}

function unusable(error: unknown): TurnError {
  const said = error instanceof Error ? error.message : String(error);
  return new TurnError(
    { kind: 'bad-request', field: 'model' },
    `${file} cannot be loaded (${said}); it has to be a whole GGUF file of a model`,
    { cause: error },
  );
}

function failureOf(error: unknown): { finding: Finding; message: string } {
  if (error instanceof TurnError) return { finding: error.finding, message: error.message };
  const said = error instanceof Error ? error.message : String(error);
  return { finding: { kind: 'process-died' }, message: `the model's process could not answer: ${said}` };
}

function tell(message: FromModel): void {
  process.send?.(message);
}

process.on('message', (message: ToModel) => {
  if (message.type === 'stop') {
    stopping.get(message.id)?.abort(new Error('stopped'));
    return;
  }
  stopping.set(message.id, new AbortController());
  queue = queue.then(() => take(message.id, message));
});
// The parent ends it; a signal to the whole group reaches the parent too.
process.on('SIGINT', () => undefined);
process.on('disconnect', () => process.exit(0));

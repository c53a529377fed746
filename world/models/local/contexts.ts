/**
 * The contexts of one loaded model: one for each set of adapters and window, since the scales of adapters
 * cannot change on a living one. Few are kept, because each holds memory; the one used longest ago goes.
 */
import type * as library from 'node-llama-cpp';
import type { LlamaChat, LlamaContext, LlamaModel } from 'node-llama-cpp';
import { TurnError } from '../port/turn-failure.ts';
import type { LocalTurn } from './protocol.ts';

const CONTEXTS_MAX = 2;

export interface OpenContext {
  context: LlamaContext;
  chat: LlamaChat;
}

type Library = typeof library;

export class Contexts {
  readonly #library: Library;
  readonly #model: LlamaModel;
  readonly #threads: number;
  /** The one used last stands last. */
  readonly #open = new Map<string, OpenContext>();

  constructor(library: Library, model: LlamaModel, threads: number) {
    this.#library = library;
    this.#model = model;
    this.#threads = threads;
  }

  async for({ adapters, window }: Pick<LocalTurn, 'adapters' | 'window'>): Promise<OpenContext> {
    const key = JSON.stringify([window, adapters.toSorted((a, b) => (a.path < b.path ? -1 : 1))]);
    const found = this.#open.get(key);
    this.#open.delete(key);
    while (this.#open.size >= CONTEXTS_MAX) await this.#closeOldest();
    const opened = found ?? (await this.#create(adapters, window));
    this.#open.set(key, opened);
    return opened;
  }

  async #create(adapters: LocalTurn['adapters'], window: number): Promise<OpenContext> {
    try {
      return await this.#tryToCreate(adapters, window);
    } catch (error) {
      if (!(error instanceof this.#library.InsufficientMemoryError)) throw failed(error, adapters);
      while (this.#open.size > 0) await this.#closeOldest();
      return this.#tryToCreate(adapters, window).catch((again: unknown) => {
        if (!(again instanceof this.#library.InsufficientMemoryError)) throw failed(again, adapters);
        throw new TurnError(
          { kind: 'bad-request', field: 'window' },
          `a context of ${window} tokens does not fit into memory; set a smaller one in "models.windows" of sentinel.config`,
          { cause: again },
        );
      });
    }
  }

  async #tryToCreate(adapters: LocalTurn['adapters'], window: number): Promise<OpenContext> {
    const context = await this.#model.createContext({
      contextSize: window,
      threads: this.#threads,
      lora: { adapters: adapters.map(({ path, scale }) => ({ filePath: path, scale })) },
    });
    const chat = new this.#library.LlamaChat({
      contextSequence: context.getSequence(),
      ...(this.#isTrained(adapters) ? { chatWrapper: this.#template() } : {}),
    });
    return { context, chat };
  }

  /** The trainer renders by the model's own template, which may begin a conversation with words of its own. */
  #isTrained(adapters: LocalTurn['adapters']): boolean {
    return adapters.some(({ base }) => base !== undefined);
  }

  #template(): library.ChatWrapper {
    return this.#library.resolveChatWrapper(this.#model, { type: 'jinjaTemplate' });
  }

  async #closeOldest(): Promise<void> {
    const [oldest] = this.#open;
    if (oldest === undefined) return;
    const [key, { context, chat }] = oldest;
    this.#open.delete(key);
    chat.dispose();
    await context.dispose();
  }
}

function failed(error: unknown, adapters: LocalTurn['adapters']): Error {
  const said = error instanceof Error ? error.message : String(error);
  if (adapters.length === 0) return error instanceof Error ? error : new Error(said);
  const paths = adapters.map(({ path }) => path).join(', ');
  return new TurnError(
    { kind: 'bad-request', field: 'adapters' },
    `the adapter ${paths} cannot be used with this model (${said}); it has to be a LoRA in GGUF that was made for it`,
    { cause: error },
  );
}

/** The context of a command, in its process: what it asks goes to the worker, one answer for each question. */
import { defined } from '../../language/defined.ts';
import type { Json, JsonObject } from '../../language/json.ts';
import { wordsOver, type Abortable, type WordCommands, type Words } from '../../operations/words.ts';
import { CommandFailure, type CommandContext } from '../../services/commands/define-command.ts';
import type { Asked, FromProcess, Reply } from './own-messages.ts';

/** A refusal of the worker's: its code is one of Sentinel's, or of another system. */
export class PortFailure extends CommandFailure {}

type Asking = Omit<CommandContext, 'signal' | 'project' | 'key' | 'attempt' | 'resumed' | 'caller' | 'settings'>;

export class PortToWorker {
  readonly #tell: (what: FromProcess) => unknown;
  readonly #waiting = new Map<number, { resolve(value: Json): void; reject(error: Error): void }>();
  #asked = 0;
  #calls = 0;
  readonly context: Asking;

  constructor(tell: (what: FromProcess) => unknown, words: WordCommands = {}) {
    this.#tell = tell;
    this.context = { ...this.#own, ...wordsOver((...said) => this.#call(...said), words) };
  }

  readonly #own: Omit<Asking, keyof Words> = {
    tx: {
      query: async <Row>(sql: string, values: readonly unknown[] = []) =>
        (await this.#ask({ what: 'query', sql, values: plain(values) as Json[] })) as Row[],
      publish: async (event, data = null) => {
        await this.#ask({ what: 'publish', event, data: plain(data) });
      },
    },
    call: (command, params = {}, options = {}) => this.#call(command, params, options),
    lease: async (name, { capacity, scope }) => {
      const terms = defined({ capacity, scope });
      const lease = (await this.#ask({ what: 'lease', name, terms })) as number;
      return async () => {
        await this.#ask({ what: 'leave', lease });
      };
    },
    log: (text) => void process.stdout.write(`${text}\n`),
    heartbeat: (details = null) => {
      this.#ask({ what: 'heartbeat', details: plain(details) }).catch(() => undefined);
    },
    now: () => Date.now(),
  };

  hear(reply: Reply): void {
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if (reply.ok) waiting?.resolve(reply.value);
    else {
      const { code, message, details } = reply.failure;
      waiting?.reject(new PortFailure(code, message, details === undefined ? {} : { details }));
    }
  }

  /** Aborted, it is over when the worker says that nothing of it goes on. */
  async #call(command: string, params: JsonObject, { signal }: Abortable = {}): Promise<Json> {
    signal?.throwIfAborted();
    const call = (this.#calls += 1);
    const abort = (): void => void this.#ask({ what: 'abort', call }).catch(() => undefined);
    signal?.addEventListener('abort', abort, { once: true });
    try {
      return await this.#ask({ what: 'call', command, params: plain(params) as JsonObject, call });
    } catch (error) {
      throw signal?.aborted === true ? signal.reason : error;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  #ask(asked: Asked): Promise<Json> {
    const id = (this.#asked += 1);
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#tell({ asked, id });
    });
  }
}

/** As JSON says it: a date is its text. */
const plain = (value: unknown): Json => JSON.parse(JSON.stringify(value) ?? 'null') as Json;

/** The context of a command, in its process: what it asks goes to the worker, one answer for each question. */
import { defined } from '../../language/defined.ts';
import type { Json, JsonObject } from '../../language/json.ts';
import { CommandFailure, type CommandContext } from '../../services/commands/define-command.ts';
import type { Asked, FromProcess, Reply } from './own-messages.ts';

/** A refusal of the worker's: its code is one of Sentinel's, or of another system. */
export class PortFailure extends CommandFailure {}

type Asking = Pick<CommandContext, 'tx' | 'call' | 'lease' | 'log' | 'heartbeat' | 'now'>;

export class PortToWorker {
  readonly #tell: (what: FromProcess) => unknown;
  readonly #waiting = new Map<number, { resolve(value: Json): void; reject(error: Error): void }>();
  #asked = 0;

  constructor(tell: (what: FromProcess) => unknown) {
    this.#tell = tell;
  }

  readonly context: Asking = {
    tx: {
      query: async <Row>(sql: string, values: readonly unknown[] = []) =>
        (await this.#ask({ what: 'query', sql, values: plain(values) as Json[] })) as Row[],
      publish: async (event, data = null) => {
        await this.#ask({ what: 'publish', event, data: plain(data) });
      },
    },
    call: (command, params = {}) => this.#ask({ what: 'call', command, params: plain(params) as JsonObject }),
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

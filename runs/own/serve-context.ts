/**
 * What a command of a project asks of its worker while its code runs in a process of its own: its tables, events and
 * other commands, within the step and its rights.
 */
import { findCommand } from '../../language/catalogue.ts';
import type { Json } from '../../language/json.ts';
import { valueBytesMax } from '../../language/limits.ts';
import { StepOver } from '../../operations/step-over.ts';
import type { Context } from '../../operations/command.ts';
import type { LeaveLease } from '../../operations/lease-terms.ts';
import { isAway } from '../../prisma/store/connection/unavailable.ts';
import type { OwnCommand } from '../../services/commands/own-commands.ts';
import { Failure } from '../../world/failures/failures.ts';
import { LeftBehind } from '../../world/processes/overtaken.ts';
import type { Asked } from './own-messages.ts';

type Stated = Pick<OwnCommand, 'name'>;

/** Answers one after the other, in the order in which they were asked; what waits for long, beside these. */
export class ContextServer {
  readonly #own: Stated;
  readonly #context: Context;
  #last: Promise<unknown> = Promise.resolve();
  readonly #leases: LeaveLease[] = [];
  readonly #apart = new Set<Promise<unknown>>();
  /** By the number of the call. */
  readonly #aborting = new Map<number, AbortController>();
  readonly #ending = new AbortController();
  #lost: Error | null = null;

  constructor(own: Stated, context: Context) {
    this.#own = own;
    this.#context = context;
  }

  /** Of what was asked, that which nobody could do now, or somebody else does: no fault of the command, which is to be tried again. */
  get lost(): Error | null {
    return this.#lost;
  }

  async answer(asked: Asked): Promise<Json> {
    try {
      return await this.#answerOf(asked);
    } catch (error) {
      if (error instanceof LeftBehind || (error instanceof Error && isAway(error))) this.#lost ??= error;
      throw error;
    }
  }

  #answerOf(asked: Asked): Promise<Json> {
    // It may wait for long, and what else is asked meanwhile does not.
    if (asked.what === 'lease') return this.#lease(asked);
    if (asked.what === 'abort') {
      this.#aborting.get(asked.call)?.abort(new StepOver('the command has aborted it'));
      return Promise.resolve(null);
    }
    if (asked.what === 'call' && this.#isApart(asked.command)) return this.#beside(this.#call(asked));
    const answered = this.#last.then(() => this.#answer(asked));
    this.#last = answered.catch(() => undefined);
    return answered;
  }

  /** The command is over: what it has begun and not waited for ends, and nothing else begins. `isDone`: its writes count. */
  async end(isDone: boolean): Promise<void> {
    if (isDone) await this.#last;
    this.#ending.abort(new StepOver('the command that began it is over'));
    await this.#last;
    await Promise.allSettled(this.#apart);
  }

  get #over(): AbortSignal {
    return this.#ending.signal;
  }

  #beside(answered: Promise<Json>): Promise<Json> {
    this.#apart.add(answered);
    answered.finally(() => this.#apart.delete(answered)).catch(() => undefined);
    return answered;
  }

  async #lease({ name, terms }: Extract<Asked, { what: 'lease' }>): Promise<number> {
    const leave = await this.#context.lease(name, terms);
    this.#leases.push(leave);
    return this.#leases.length - 1;
  }

  async #answer(asked: Exclude<Asked, { what: 'lease' | 'abort' }>): Promise<Json> {
    const { tx, secrets } = this.#context;
    // In our tables and histories stand tokens of secrets, and no values.
    const sealed = <Value>(value: Value): Value => (secrets === undefined ? value : secrets.results.json(value));
    switch (asked.what) {
      case 'query': {
        const rows = JSON.stringify(await tx.query(asked.sql, sealed(asked.values)));
        if (Buffer.byteLength(rows) > valueBytesMax)
          throw new Failure(
            'VALUE_TOO_LARGE',
            `${this.#own.name}: a statement found more than the ${valueBytesMax} bytes that a value may have; ask for less at once`,
          );
        return JSON.parse(rows) as Json;
      }
      case 'publish':
        await tx.publish(asked.event, sealed(asked.data));
        return null;
      case 'call':
        return this.#call(asked);
      case 'leave':
        await this.#leases[asked.lease]?.();
        return null;
      case 'heartbeat':
        this.#context.heartbeat(asked.details);
        return null;
      default:
        return asked satisfies never;
    }
  }

  /** What takes long comes with the engine and writes no tables, so others need not wait for it. */
  #isApart(command: string): boolean {
    const entry = findCommand(this.#context.commands.catalogue, command);
    return entry?.speed === 'long' && entry.unconfined !== true;
  }

  async #call({ command, params, call }: Extract<Asked, { what: 'call' }>): Promise<Json> {
    const { secrets } = this.#context;
    const aborting = new AbortController();
    this.#aborting.set(call, aborting);
    try {
      this.#over.throwIfAborted();
      // In our tables and histories stand tokens of secrets, and no values.
      const given = secrets?.results.json(params) ?? params;
      return await this.#context.call(command, given, { signal: AbortSignal.any([aborting.signal, this.#over]) });
    } finally {
      this.#aborting.delete(call);
    }
  }
}

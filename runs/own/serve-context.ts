/**
 * What a command of a project asks of its worker while its code runs in a process of its own: its tables, events and
 * other commands, within the step and its rights.
 */
import { findCommand } from '../../language/catalogue.ts';
import type { Json } from '../../language/json.ts';
import { valueBytesMax } from '../../language/limits.ts';
import { permissionOfCommand } from '../../language/permissions.ts';
import type { Context } from '../../operations/command.ts';
import type { LeaveLease } from '../../operations/lease-terms.ts';
import type { OwnCommand } from '../../services/commands/own-commands.ts';
import { Failure } from '../../world/failures/failures.ts';
import type { Asked } from './own-messages.ts';

type Stated = Pick<OwnCommand, 'name' | 'speed' | 'permission' | 'queue'>;

/** Answers one after the other, in the order in which they were asked. */
export class ContextServer {
  readonly #own: Stated;
  readonly #context: Context;
  #last: Promise<unknown> = Promise.resolve();
  #calls = 0;
  readonly #leases: LeaveLease[] = [];

  constructor(own: Stated, context: Context) {
    this.#own = own;
    this.#context = context;
  }

  answer(asked: Asked): Promise<Json> {
    // It may wait for long, and what else is asked meanwhile does not.
    if (asked.what === 'lease') return this.#lease(asked);
    const answered = this.#last.then(() => this.#answer(asked));
    this.#last = answered.catch(() => undefined);
    return answered;
  }

  /** Resolves when all that was asked is answered: code may not have waited for it. */
  async settled(): Promise<void> {
    await this.#last;
  }

  async #lease({ name, terms }: Extract<Asked, { what: 'lease' }>): Promise<number> {
    const leave = await this.#context.lease(name, terms);
    this.#leases.push(leave);
    return this.#leases.length - 1;
  }

  async #answer(asked: Exclude<Asked, { what: 'lease' }>): Promise<Json> {
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
        return this.#call(asked.command, sealed(asked.params));
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

  /** Whoever approved this command, or let its mode perform it, has looked at its permission alone. */
  async #call(command: string, params: { [param: string]: Json }): Promise<Json> {
    const { name, speed, permission } = this.#own;
    const { commands, key } = this.#context;
    const entry = findCommand(commands.catalogue, command);
    if (entry !== undefined) {
      const needed = permissionOfCommand(commands.catalogue, command, params);
      if (needed !== 'read' && needed !== permission)
        throw new Failure(
          'RIGHTS_EXCEEDED',
          `${name} calls ${command}, which needs the permission "${needed}", and has "${permission}": state that one, or make it a step`,
        );
      if (entry.queue !== undefined && entry.queue !== this.#own.queue)
        throw new Failure(
          'RIGHTS_EXCEEDED',
          `${name} calls ${command}, which is performed on the queue "${entry.queue}": make it a step`,
        );
      if (speed === 'quick' && entry.speed === 'long')
        throw new Failure('RIGHTS_EXCEEDED', `${name} is quick and calls ${command}, which takes long: make it "long"`);
    }
    this.#calls += 1;
    return this.#context.call(command, params, entry?.permission === 'read' ? {} : { key: `${key}+${this.#calls}` });
  }
}

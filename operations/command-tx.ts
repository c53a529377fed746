/**
 * What a command does to the tables of its system, in one transaction with its step: what it writes, the events it
 * publishes and its result are there together or not at all, and a command that fails leaves nothing.
 */
import { DatabaseError } from 'pg';
import { eventMatcher } from '../language/events/event-glob.ts';
import type { Json } from '../language/json.ts';
import { defined } from '../language/defined.ts';
import { isAway } from '../prisma/store/connection/unavailable.ts';
import { Failure } from '../world/failures/failures.ts';
import type { Command, CommandContext } from './command.ts';
import { publishEvent } from './events/publish-event.ts';
import type { Tx } from './tx.ts';

const STATEMENT = /^\s*(?:select|insert|update|delete|merge|with|values)\b/i;

type Stated = Pick<Command, 'name' | 'permission' | 'system'>;

export class CommandTx implements Tx {
  readonly #command: Stated;
  readonly #context: CommandContext;
  #isMarked = false;
  #published = 0;

  constructor(command: Stated, context: CommandContext) {
    this.#command = command;
    this.#context = context;
  }

  async query<Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    const { name, permission } = this.#command;
    if (!STATEMENT.test(text))
      throw new Failure(
        'STATEMENT_REFUSED',
        `${name}: a statement begins with select, insert, update, delete, merge, with or values`,
      );
    const { session } = this.#context;
    await this.#mark();
    // A statement that writes is none within another.
    const asked = permission === 'read' ? `select * from (${text.replace(/[\s;]+$/, '')}) as found` : text;
    try {
      return await session.attempt<Row>(asked, values);
    } catch (error) {
      if (!(error instanceof DatabaseError) || isAway(error)) throw error;
      const { message, code = '', constraint } = error;
      throw new Failure('STATEMENT_REFUSED', `${name}: the database refused a statement: ${message}`, {
        details: { sqlState: code, ...defined({ constraint }) },
      });
    }
  }

  async publish(event: string, data: Json = null): Promise<void> {
    const { name, permission, system } = this.#command;
    const { session, store, run, key, confinement } = this.#context;
    if (permission === 'read')
      throw new Failure(
        'EVENT_NOT_STATED',
        `${name}: a command with the permission "read" publishes nothing; state another`,
      );
    const stated = Object.entries(system?.events ?? {}).find(([glob]) => eventMatcher(glob)(event));
    if (stated === undefined)
      throw new Failure(
        'EVENT_NOT_STATED',
        `${name}: the system "${system?.name ?? ''}" states no event "${event}"; add it to "events" of its defineSystem`,
      );
    const read = stated[1].safeParse(data);
    if (!read.success)
      throw new Failure(
        'EVENT_NOT_STATED',
        `${name}: the data of the event "${event}" is not what its system states: ${read.error.issues.map(({ path, message }) => `${['data', ...path.map(String)].join('.')}: ${message}`).join('; ')}`,
      );
    await this.#mark();
    this.#published += 1;
    const of = this.#published === 1 ? key : `${key}#${this.#published}`;
    // What a model says is for its own project alone.
    const heard = confinement?.byModel === true ? { project: run.project } : {};
    await publishEvent(store, session, { handle: run.handle, key: of, name: event, data, ...heard }, 'engine');
  }

  /** Whether there is anything to keep, or to take back. */
  get isMarked(): boolean {
    return this.#isMarked;
  }

  /** The command is done. */
  keep(): Promise<void> {
    return this.#context.session.keep();
  }

  /** It failed. */
  takeBack(): Promise<void> {
    return this.#context.session.takeBack();
  }

  async #mark(): Promise<void> {
    if (this.#isMarked) return;
    this.#isMarked = true;
    await this.#context.session.mark();
  }
}

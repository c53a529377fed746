/**
 * The updates a run takes. Those that came before any handler was there are taken in the order in which
 * they came, whatever the order in which handlers are set: a replay meets updates of the second task so
 * when the first one had led to no command.
 */
import { ApplicationFailure, defineUpdate, setDefaultUpdateHandler, setHandler } from '@temporalio/workflow';
import type { Walk } from '../../interpreter/walk-state.ts';
import type { Admission } from '../seal/admission.ts';
import { told } from './last-in-turn.ts';

export interface UpdateOptions<Args extends unknown[]> {
  /** Throws to refuse; not asked about what came before the handlers, whose handler refuses by itself. */
  validator(...args: Args): void;
  description: string;
}

export class Updates {
  private readonly handlers = new Map<string, (...args: unknown[]) => unknown>();
  private readonly walk: Walk;
  private readonly admission: Admission;

  constructor(walk: Walk, admission: Admission) {
    this.walk = walk;
    this.admission = admission;
    setDefaultUpdateHandler((name, ...args) => this.early(name, args));
  }

  on<Result, Args extends unknown[]>(
    name: string,
    handler: (...args: Args) => Result | Promise<Result>,
    options: UpdateOptions<Args>,
  ): void {
    const { admission } = this;
    const taking = (...received: unknown[]): Result | Promise<Result> =>
      handler(...(admission.take(name, received) as Args));
    this.handlers.set(name, taking);
    setHandler(defineUpdate<Result, unknown[]>(name), taking, {
      ...options,
      validator: (...received) => options.validator(...(admission.look(name, received) as Args)),
    });
  }

  /** No other name is taken. */
  complete(): void {
    setDefaultUpdateHandler(undefined);
  }

  private async early(name: string, args: unknown[]): Promise<unknown> {
    told(this.walk);
    // Until every handler is set.
    await Promise.resolve();
    const handler = this.handlers.get(name);
    if (handler === undefined)
      throw ApplicationFailure.nonRetryable(`a run takes no update "${name}"`, 'UNKNOWN_UPDATE');
    return handler(...args);
  }
}

/**
 * The updates a run takes. Those that came before any handler was there are taken in the order in which
 * they came, whatever the order in which handlers are set: a replay meets updates of the second task so
 * when the first one had led to no command.
 */
import { ApplicationFailure, defineUpdate, setDefaultUpdateHandler, setHandler } from '@temporalio/workflow';
import type { Walk } from '../../interpreter/walk-state.ts';
import { told } from './last-in-turn.ts';

export interface UpdateOptions<Args extends unknown[]> {
  /** Throws to refuse; not asked about what came before the handlers, whose handler refuses by itself. */
  validator(...args: Args): void;
  description: string;
}

export class Updates {
  private readonly handlers = new Map<string, (...args: unknown[]) => unknown>();
  private readonly walk: Walk;

  constructor(walk: Walk) {
    this.walk = walk;
    setDefaultUpdateHandler((name, ...args) => this.early(name, args));
  }

  on<Result, Args extends unknown[]>(
    name: string,
    handler: (...args: Args) => Result | Promise<Result>,
    options: UpdateOptions<Args>,
  ): void {
    this.handlers.set(name, (...args) => handler(...(args as Args)));
    setHandler(defineUpdate<Result, Args>(name), handler, options);
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

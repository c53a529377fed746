/** How far a training is: in the details of its activity, and as events at each checkpoint. */
import { defined } from '../../language/defined.ts';
import type { Json, JsonObject } from '../../language/json.ts';
import type { Context } from '../../operations/command.ts';

export const PROGRESS = 'genome:training:progress';

const saidEveryMs = 1_000;

export class TrainingProgress {
  readonly #adapter: string;
  readonly #context: Context;
  #said: JsonObject = {};
  #saidAt = Number.NEGATIVE_INFINITY;

  constructor(adapter: string, context: Context) {
    this.#adapter = adapter;
    this.#context = context;
  }

  hear(line: JsonObject): void {
    const { event, step, steps, loss, validationLoss, etaSeconds, path } = line;
    if (event === 'step') this.#say(defined({ step, steps, loss, etaSeconds }), false);
    if (event === 'validation') this.#say(defined({ validationLoss }), true);
    if (event !== 'checkpoint') return;
    // It is whole on the disk when it is said.
    this.#say({ checkpoint: typeof path === 'string' ? (path.split('/').at(-1) ?? path) : (step ?? null) }, true);
    this.#publish(step ?? null);
  }

  #say(more: JsonObject, atOnce: boolean): void {
    this.#said = { ...this.#said, ...more };
    const now = performance.now();
    if (!atOnce && now - this.#saidAt < saidEveryMs) return;
    this.#saidAt = now;
    this.#context.heartbeat(this.#said);
  }

  /** Once for each checkpoint of the step; where the store is away, the next one says more. */
  #publish(step: Json): void {
    const { store, run, key, confinement } = this.#context;
    const heard = confinement?.byModel === true ? { project: run.project } : {};
    const data = { adapter: this.#adapter, handle: run.handle, ...this.#said, step };
    const event = {
      handle: run.handle,
      key: `${key}:checkpoint:${JSON.stringify(step)}`,
      name: PROGRESS,
      data,
      ...heard,
    };
    store.signals.publishAll([event]).catch(() => undefined);
  }
}

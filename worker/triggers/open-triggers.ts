/** Everything in a worker that turns what happens outside of runs into events, and events into runs. */
import type { RunServices } from '../../runs/start-run.ts';
import type { Config } from '../../services/config/config.ts';
import { Dispatcher, type StartRate } from './dispatcher.ts';
import { FileEvents } from './file-events.ts';
import { Webhooks } from './webhooks.ts';

export interface Triggers {
  /** Ends listening first, then waits for the starts under way. */
  close(): Promise<void>;
}

export function openTriggers(
  starting: RunServices,
  config: Pick<Config, 'home' | 'webhooks'>,
  rate: StartRate,
  say: (text: string) => void,
): Triggers {
  const { triggers } = starting.store;
  const parts = [
    new Dispatcher(starting, rate, say),
    new FileEvents({ triggers, without: [config.home], say }),
    ...(config.webhooks === null ? [] : [new Webhooks(config.webhooks, starting.store, say)]),
  ];
  let closing: Promise<void> | undefined;
  return {
    close() {
      closing ??= Promise.allSettled(parts.map((part) => part.close())).then(() => undefined);
      return closing;
    },
  };
}

/** Everything in a worker that turns what happens outside of runs into events, and events into runs. */
import type { RunServices } from '../../runs/start-run.ts';
import type { Config } from '../../services/config/config.ts';
import { isQueueOfProject } from '../../services/config/project-queue.ts';
import { Dispatcher, type StartRate } from './dispatcher.ts';
import { FileEvents } from './file-events.ts';
import { Webhooks } from './webhooks.ts';
import type { WebhookSource } from '../../services/config/webhook-config.ts';

export interface Triggers {
  /** Ends listening first, then waits for the starts under way. */
  close(): Promise<void>;
}

export function openTriggers(
  starting: RunServices,
  config: Pick<Config, 'home' | 'webhooks' | 'webhookAddress'>,
  { rate, sources }: { rate: StartRate; sources: readonly WebhookSource[] },
  say: (text: string) => void,
): Triggers {
  const { triggers } = starting.store;
  for (const { name, fault } of sources)
    if (fault !== null) say(`the webhook source "${name}" receives nothing: ${fault}`);
  const listener = { ...config.webhookAddress, secrets: config.webhooks?.secrets ?? [] };
  const isOpen = config.webhooks !== null || sources.length > 0;
  const parts = [
    new Dispatcher(starting, rate, say),
    // The worker of the installation watches for all projects, since that of a project may end.
    ...(isQueueOfProject(starting.taskQueue) ? [] : [new FileEvents({ triggers, without: [config.home], say })]),
    ...(isOpen ? [new Webhooks(listener, starting.store, say, sources)] : []),
  ];
  let closing: Promise<void> | undefined;
  return {
    close() {
      closing ??= Promise.allSettled(parts.map((part) => part.close())).then(() => undefined);
      return closing;
    },
  };
}

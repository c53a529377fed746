/** Everything in a worker that turns what happens outside of runs into events, and events into runs. */
import type { RunServices } from '../../runs/start-run.ts';
import type { Config } from '../../services/config/config.ts';
import { isQueueOfProject, projectKey } from '../../services/config/project-queue.ts';
import { Dispatcher, type StartRate } from './dispatcher.ts';
import { FileEvents } from './file-events.ts';
import { Webhooks } from './webhooks.ts';
import { socketOfProject, socketsOfProjects } from '../webhooks/door-sockets.ts';
import type { WebhookSource } from '../../services/config/webhook-config.ts';
import type { EventFeed } from '../background/event-feed.ts';

type Say = (text: string) => void;

const LOOK_MS = 1_000;

export interface Triggers {
  /** Ends listening first, then waits for the starts under way. */
  close(): Promise<void>;
}

export function openTriggers(
  { starting, feed }: { starting: RunServices; feed: EventFeed },
  config: ListeningConfig,
  { rate, sources }: { rate: StartRate; sources: readonly WebhookSource[] },
  say: (text: string) => void,
): Triggers {
  const { triggers } = starting.store;
  for (const { name, fault } of sources)
    if (fault !== null) say(`the webhook source "${name}" receives nothing: ${fault}`);
  const isOfProject = isQueueOfProject(starting.taskQueue);
  const parts = [
    new Dispatcher(starting, feed, rate, say),
    // The worker of the installation watches for all projects, since that of a project may end.
    ...(isOfProject ? [] : [new FileEvents({ triggers, without: [config.home], say })]),
    isOfProject ? projectDoor(starting, config, sources, say) : new Listening(starting, config, sources, say),
  ];
  let closing: Promise<void> | undefined;
  return {
    close() {
      closing ??= Promise.allSettled(parts.map((part) => part.close())).then(() => undefined);
      return closing;
    },
  };
}

interface Closable {
  close(): Promise<void>;
}

type ListeningConfig = Pick<Config, 'home' | 'project' | 'webhooks' | 'webhookAddress'>;

/** The worker with the port hands on what is for the sources of this project. */
function projectDoor(
  { store }: RunServices,
  { home, project, webhookAddress }: ListeningConfig,
  sources: readonly WebhookSource[],
  say: Say,
): Closable {
  if (project === null || sources.length === 0) return { close: async () => undefined };
  const socket = socketOfProject(home, projectKey(project.folder));
  return new Webhooks({ ...webhookAddress, secrets: [], socket }, store, say, { sources });
}

/** Listens from the moment on in which there is somebody to listen for: a project with sources may come later. */
class Listening implements Closable {
  readonly #open: () => Webhooks;
  readonly #isWanted: () => boolean;
  readonly #timer: NodeJS.Timeout;
  #webhooks: Webhooks | undefined;

  constructor({ store }: RunServices, config: ListeningConfig, sources: readonly WebhookSource[], say: Say) {
    const { home, webhookAddress, webhooks } = config;
    const sockets = socketsOfProjects(home);
    const settings = { ...webhookAddress, secrets: webhooks?.secrets ?? [] };
    this.#open = () => new Webhooks(settings, store, say, { sources, sockets });
    this.#isWanted = () => webhooks !== null || sources.length > 0 || sockets().length > 0;
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref();
    this.#look();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#webhooks?.close();
  }

  #look(): void {
    if (!this.#isWanted()) return;
    clearInterval(this.#timer);
    this.#webhooks = this.#open();
  }
}

/**
 * The connections of a client, each opened when it is first needed: reading a run takes the store
 * alone, and loading Temporal's client costs more than the rest of a command.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Store } from '../prisma/store/contract/contract.ts';
import { databaseUrl, readConfig, type Config } from '../services/config/config.ts';
import type { Catalogue } from '../language/catalogue.ts';
import { defined } from '../language/defined.ts';
import { policiesOfProject } from '../runs/policies.ts';
import type { RunServices } from '../runs/start-run.ts';
import type { Temporal } from '../runs/temporal-connection.ts';
import { asClientError, asClientWould } from './contract/as-client-error.ts';
import type { ConnectOptions } from './contract/requests.ts';

const PING_MAX_MS = 3_000;
const POOL_SIZE = 3;
const ASKED_AGAIN_MS = 30_000;

const opened = new WeakMap<object, Connections>();

/** Those of a client, kept beside the object: a program that has a client sees nothing of them. */
export function connectionsOf(client: object, options: ConnectOptions = {}): Connections {
  const connections = opened.get(client) ?? new Connections(options);
  opened.set(client, connections);
  return connections;
}

export class Connections {
  readonly #options: ConnectOptions;
  #config: Config;
  /** By project; under '' what all of them need. */
  readonly #ensured = new Map<string, { at: number; done: Promise<void> }>();
  #store: Promise<Store> | undefined;
  /** Opened before anything was started; closed with the rest. */
  #peeked: Store | undefined;
  #temporal: Promise<Temporal> | undefined;

  constructor(options: ConnectOptions = {}) {
    this.#options = options;
    this.#config = settingsIn(options.env);
  }

  get config(): Config {
    return this.#config;
  }

  store(): Promise<Store> {
    this.#store ??= asClientWould(this.#openStore());
    return this.#store;
  }

  /** The store if it answers now; starts nothing. */
  async storeIfUp(): Promise<Store | null> {
    if (this.#store !== undefined) return this.#store;
    if (this.#peeked !== undefined || this.#config.database.url === null) return this.#peeked ?? null;
    const [{ openClientStore }, { isMissing }] = await Promise.all([
      import('./database-door.ts'),
      import('../prisma/store/connection/unavailable.ts'),
    ]);
    const store = openClientStore(databaseUrl(this.#config), POOL_SIZE);
    // Asks for a row, because a database without the tables is of no use either.
    const up = await Promise.race([
      store.definitions.find('').then(
        () => true,
        (error: unknown) => (isMissing(error) ? false : (error as Error)),
      ),
      sleep(PING_MAX_MS, false, { ref: false }),
    ]);
    if (up === true) this.#peeked = store;
    else await store.close();
    if (up instanceof Error) throw up;
    return up ? store : null;
  }

  async client(): Promise<Client> {
    this.#temporal ??= asClientWould(this.#openTemporal());
    return (await this.#temporal).client;
  }

  /**
   * Everything that a run of this project needs is up after this, its worker included; without a project, what all of them
   * need. A client that starts nothing leaves all as it is.
   */
  ensure(project?: string): Promise<void> {
    if (this.#options.startsServices === false) return Promise.resolve();
    const known = this.#ensured.get(project ?? '');
    // The worker of a project that nobody has asked for in a while may have ended.
    if (known !== undefined && (project === undefined || Date.now() - known.at < ASKED_AGAIN_MS)) return known.done;
    const done = asClientWould(this.#ensure(project));
    const asked = { at: Date.now(), done };
    this.#ensured.set(project ?? '', asked);
    // What kept it from coming may be gone the next time.
    done.catch(() => {
      if (this.#ensured.get(project ?? '') === asked) this.#ensured.delete(project ?? '');
    });
    return done;
  }

  /** The commands that runs of a project have. */
  async catalogue(project?: string): Promise<Catalogue> {
    const { projectCatalogue } = await import('./lookup/project-catalogue.ts');
    return projectCatalogue(project, this.#config.home);
  }

  /** What runs are started with; everything is up after this, where it may be started. `project`: whose commands there are; absent, the built-in ones alone. */
  async runServices(host?: string, project?: string): Promise<RunServices> {
    await this.ensure(project);
    const { projectPolicies } = await import('./lookup/project-catalogue.ts');
    const [store, client, catalogue, policies] = await Promise.all([
      this.store(),
      this.client(),
      this.catalogue(project),
      projectPolicies(project),
    ]);
    const { temporal } = this.#config;
    return {
      store,
      client,
      catalogue,
      policiesOf: policiesOfProject(project, policies),
      taskQueue: host === undefined ? await this.#queueOf(project) : `sentinel@${host}`,
      isElsewhere: host !== undefined || temporal.isExternal,
    };
  }

  async #queueOf(project: string | undefined): Promise<string> {
    const [base] = this.#config.taskQueues;
    if (project === undefined) return base;
    const { ownWorkerOf } = await import('../services/own-worker.ts');
    return ownWorkerOf(project, this.#options.env ?? process.env)?.taskQueue ?? base;
  }

  async close(): Promise<void> {
    const temporal = await this.#temporal?.catch(() => undefined);
    const store = await this.#store?.catch(() => undefined);
    await Promise.allSettled([temporal?.connection.close(), store?.close(), this.#peeked?.close()]);
  }

  async #ensure(project: string | undefined): Promise<void> {
    if (this.#config.database.isExternal) await this.#reachDatabase();
    const [{ ensureServices }, { withProject }] = await Promise.all([
      import('../services/ensure-services.ts'),
      import('../services/config/project-file.ts'),
    ]);
    const { env = process.env, onProgress } = this.#options;
    const here = process.cwd();
    await ensureServices({
      env: withProject(env, project ?? here),
      ...defined({ project, onProgress }),
    });
    this.#config = readConfig(env);
    // It may follow events, or receive webhooks; nobody waits for it.
    if (project === undefined) await (await import('../services/own-worker.ts')).askForOwnWorker(here, env);
  }

  async #ready(server: 'postgres' | 'temporal'): Promise<void> {
    const { env, onProgress, startsServices } = this.#options;
    if (startsServices !== false) return await this.ensure();
    const { awaitServer } = await import('../services/await-server.ts');
    await awaitServer(server, env, onProgress);
    this.#config = readConfig(env);
  }

  /** Somebody else's may be away or closed to us: said before anything is started that would need it. */
  async #reachDatabase(): Promise<void> {
    const { openClientStore } = await import('./database-door.ts');
    const store = openClientStore(databaseUrl(this.#config), 1);
    try {
      await store.ping();
    } finally {
      await store.close();
    }
  }

  /** What belongs to somebody else is used as it is; only our own parts are started. */
  async #openStore(): Promise<Store> {
    if (!this.#config.database.isExternal) await this.#ready('postgres');
    const [{ openClientStore }, { withNamesOfPersons }] = await Promise.all([
      import('./database-door.ts'),
      import('./rights/within-step.ts'),
    ]);
    return withNamesOfPersons(openClientStore(databaseUrl(this.#config), POOL_SIZE));
  }

  async #openTemporal(): Promise<Temporal> {
    // Somebody else's database that is away is said first: without it nothing here is of use.
    if (this.#config.database.isExternal) await (await this.store()).ping();
    if (!this.#config.temporal.isExternal) await this.#ready('temporal');
    const [{ connectTemporal }, store] = await Promise.all([import('../runs/temporal-connection.ts'), this.store()]);
    return connectTemporal(this.#config, store);
  }
}

function settingsIn(env: ConnectOptions['env']): Config {
  try {
    return readConfig(env);
  } catch (error) {
    throw asClientError(error) ?? error;
  }
}

/**
 * The embedded Temporal server: the CLI's development server on a database file, set up so that it is quick and
 * still syncs every commit. It asks nobody who they are, so it stands behind a door (door.ts); where there can be
 * none, it listens on loopback.
 */
import { join } from 'node:path';
import { makeFolders } from '../home/home-files.ts';
import type { Command } from '../processes/kept-process.ts';
import { accepts, choosePort, LOOPBACK } from '../processes/ports.ts';
import { addressOfSocket } from '../processes/sockets.ts';
import type { TemporalState } from '../config/services-state.ts';
import { behindDoor, openFolder, type Door } from './door.ts';
import { INSIDE } from './inside.ts';
import { missingSearchAttributes, SEARCH_ATTRIBUTES } from './search-attributes.ts';
import type { TemporalBinary } from './temporal-binary.ts';
import { describeNamespace, serverVersion, withTemporal } from './temporal-probe.ts';

/**
 * The server's defaults suit a cluster. With one shard, 20 polls a second make an activity cost
 * 83 ms instead of 13 to 27, and the timer queue's time shift makes a 1 ms timer cost a second.
 * The CLI's own let every start of a run read the namespace and the cluster from the database, for
 * search attributes that are made while it runs; those of ours are made with it. Rows of the list of
 * runs are written one after the other: that a run began need not be written once it has ended. A
 * queue looks, at each poll, through all it has done since it noted how far it was: two seconds'
 * worth, where the default is half a minute's.
 */
const DYNAMIC_CONFIG = [
  'history.transferProcessorMaxPollRPS=2000',
  'history.timerProcessorMaxPollRPS=2000',
  'history.timerProcessorMaxTimeShift="10ms"',
  'system.enableActivityEagerExecution=true',
  'system.forceSearchAttributesCacheRefreshOnRead=false',
  'history.visibilityProcessorSchedulerWorkerCount=1',
  'history.transferProcessorUpdateAckInterval="2s"',
  'history.visibilityProcessorUpdateAckInterval="2s"',
];

/**
 * Write-ahead log, and a sync at every commit: what was acknowledged survives a power cut. A run writes
 * a hundred pages, so the log is copied into the database after 16 MiB instead of 4.
 */
const PRAGMAS = ['journal_mode=wal', 'synchronous=2', 'wal_autocheckpoint=4000'];

export type Place = { door: Door } | { port: number; uiPort: number };

export class TemporalServer {
  readonly home: string;
  readonly namespace: string;
  readonly binary: TemporalBinary;
  readonly door: Door | null;
  port: number;
  uiPort: number;
  version: string;

  /** Behind a door the ports are those inside. */
  constructor(options: { home: string; namespace: string; binary: TemporalBinary } & Place) {
    this.home = options.home;
    this.namespace = options.namespace;
    this.binary = options.binary;
    this.door = 'door' in options ? options.door : null;
    const { port, uiPort } = 'door' in options ? INSIDE : options;
    this.port = port;
    this.uiPort = uiPort;
    this.version = options.binary.version;
  }

  get address(): string {
    return this.door === null ? `${LOOPBACK}:${this.port}` : addressOfSocket(this.door.server);
  }

  /** What is recorded of where it is. */
  get where(): Pick<TemporalState, 'address' | 'webUrl' | 'port' | 'uiPort' | 'socket' | 'webSocket'> {
    const { address, port, uiPort, door } = this;
    return door === null
      ? { address, webUrl: `http://${LOOPBACK}:${uiPort}`, port, uiPort, socket: null, webSocket: null }
      : { address, webUrl: null, port: null, uiPort: null, socket: door.server, webSocket: door.web };
  }

  /** Keeps its ports when they are still free, because addresses of runs have been handed out. */
  async prepare(): Promise<void> {
    makeFolders(this.folder, 0o700);
    if (this.door !== null) return openFolder(this.door);
    this.port = await choosePort([this.port]);
    this.uiPort = await choosePort([this.uiPort], new Set([this.port]));
  }

  command(): Command {
    return this.door === null ? this.program() : behindDoor(this.door, this.program());
  }

  private program(): Command {
    return {
      command: this.binary.path,
      args: [
        ...`server start-dev --log-level warn --ip ${LOOPBACK} --ui-ip ${LOOPBACK}`.split(' '),
        ...`--port ${this.port} --ui-port ${this.uiPort}`.split(' '),
        '--db-filename',
        join(this.folder, 'temporal.db'),
        ...(this.namespace === 'default' ? [] : ['--namespace', this.namespace]),
        ...DYNAMIC_CONFIG.flatMap((value) => ['--dynamic-config-value', value]),
        ...PRAGMAS.flatMap((pragma) => ['--sqlite-pragma', pragma]),
        ...Object.entries(SEARCH_ATTRIBUTES).flatMap(([name, type]) => ['--search-attribute', `${name}=${type}`]),
      ],
      cwd: this.folder,
      env: withoutTemporalSettings(process.env),
    };
  }

  /** It listens before it knows our search attributes, and a run cannot start without those. */
  async answers(): Promise<boolean> {
    const { door, port } = this;
    if (!(await accepts(door === null ? { host: LOOPBACK, port } : { path: door.server }))) return false;
    try {
      return await withTemporal({ address: this.address }, 2000, async (connection) => {
        this.version = await serverVersion(connection);
        await describeNamespace(connection, this.namespace);
        return (await missingSearchAttributes(connection, this.namespace))?.length === 0;
      });
    } catch {
      // Not yet: the caller asks again until its time is up, then quotes the server's log.
      return false;
    }
  }

  private get folder(): string {
    return join(this.home, 'temporal');
  }
}

/** The CLI reads TEMPORAL_… variables too, and those of the user are about clients. */
function withoutTemporalSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('TEMPORAL_')));
}

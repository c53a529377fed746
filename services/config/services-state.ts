/**
 * `services.json`: what runs, where, and how it was found. Written by the supervisor alone, in one
 * atomic rename, readable by the owner alone (the database's address holds its password). Every
 * other process only reads it. Ports stay in it after a stop, so that addresses survive restarts.
 */
import { join } from 'node:path';
import * as z from 'zod';
import { readHomeState, writeHomeState } from '../home/home-state.ts';

/** A process id alone may be somebody else's by now; together with its start it is one process. */
export const ProcessIdentity = z.object({ pid: z.number().int().positive(), startTime: z.string() });
export type ProcessIdentity = z.infer<typeof ProcessIdentity>;

export const ProcessRecord = ProcessIdentity.extend({
  startedAt: z.number(),
  restarts: z.number(),
  status: z.enum(['starting', 'up', 'down']),
  /** Digest of the command line; a service started with another one is not adopted. */
  launch: z.string(),
});
export type ProcessRecord = z.infer<typeof ProcessRecord>;

const TemporalState = z.object({
  isExternal: z.boolean(),
  address: z.string(),
  webUrl: z.string().nullable(),
  /** On loopback; null behind a door, and for somebody else's. */
  port: z.number().nullable(),
  uiPort: z.number().nullable(),
  /** Paths of the sockets behind a door. */
  socket: z.string().nullable(),
  webSocket: z.string().nullable(),
  version: z.string().nullable(),
  /** How it was found, for people: `TEMPORAL_ADDRESS`, `temporal on PATH`, … */
  foundAs: z.string(),
  process: ProcessRecord.nullable(),
});
export type TemporalState = z.infer<typeof TemporalState>;

const PostgresState = z.object({
  isExternal: z.boolean(),
  url: z.string(),
  /** The path of the socket on which it listens. */
  socket: z.string().nullable(),
  dataDir: z.string().nullable(),
  version: z.string().nullable(),
  foundAs: z.string(),
  process: ProcessRecord.nullable(),
});
export type PostgresState = z.infer<typeof PostgresState>;

const WorkerState = z.object({
  taskQueues: z.array(z.string()),
  /** The build it was started from; another build on disk means it must be replaced. */
  build: z.string(),
  process: ProcessRecord.nullable(),
});
export type WorkerState = z.infer<typeof WorkerState>;

/** The worker of a project that has a configuration. */
const ProjectWorkerState = z.object({
  key: z.string(),
  project: z.string(),
  taskQueue: z.string(),
  /** Of the configuration that it has loaded; null: the project has none any more. */
  digest: z.string().nullable(),
  build: z.string(),
  process: ProcessRecord.nullable(),
  /** What it waits for, for a spinner. */
  progress: z.string().nullable(),
  /** Why there is none. */
  failure: z.object({ message: z.string(), at: z.number() }).nullable(),
});
export type ProjectWorkerState = z.infer<typeof ProjectWorkerState>;

export const ServicesState = z.object({
  version: z.literal(1),
  supervisor: ProcessIdentity.extend({ startedAt: z.number() }),
  /** `handing-over`: the worker ends, and the servers are left to the next supervisor. */
  phase: z.enum(['starting', 'ready', 'failed', 'handing-over', 'stopping', 'stopped']),
  /** What the supervisor is doing, for a spinner. */
  progress: z.string().nullable(),
  failure: z.object({ service: z.string(), message: z.string(), at: z.number() }).nullable(),
  /** Things that work less well than they could, each with its remedy. */
  warnings: z.array(z.string()),
  /** `settingsFingerprint` of the settings the services were started with. */
  settings: z.string(),
  temporal: TemporalState.nullable(),
  postgres: PostgresState.nullable(),
  worker: WorkerState.nullable(),
  /** Those of projects. */
  workers: z.array(ProjectWorkerState),
});
export type ServicesState = z.infer<typeof ServicesState>;

const SERVICES_FILE = 'services.json';

export function servicesFile(home: string): string {
  return join(home, SERVICES_FILE);
}

/** Null when there is none, when the home was not made here, or when it is not one we can read (an older version, a broken disk). */
export function readServicesState(home: string): ServicesState | null {
  try {
    const parsed = ServicesState.safeParse(readHomeState(home, SERVICES_FILE));
    return parsed.success ? parsed.data : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

export function writeServicesState(home: string, state: ServicesState): void {
  writeHomeState(home, SERVICES_FILE, state);
}

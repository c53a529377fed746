/** What the processes of the benchmark are told, and answer. */
import type { WorkerOptions } from '@temporalio/worker';
import type { Definition } from '../language/model.ts';
import type { AgentSpec } from './agents/protocol.ts';
import type { Kind } from './definitions.ts';
import type { Together } from './lanes.ts';

export type Side = 'sentinel' | 'twin';

export interface WorkerSpec {
  side: Side;
  taskQueue: string;
  address: string;
  databaseUrl: string;
  project: string;
  packageRoot: string;
  /** The file of the twin's workflow code: bundling here would leave the process a larger heap, which V8 then collects less often. */
  twinBundle: string;
  options: Partial<WorkerOptions>;
  /** Where the model answers; empty where none is asked. */
  modelUrl: string;
  /** Where Sentinel keeps the processes of its steps, and the states of projects; empty: it keeps none. */
  home: string;
  hasStates: boolean;
}

export interface Usage {
  cpuMs: number;
  rssBytes: number;
  /** Runs that waited for an event and that this worker told of it. */
  woken: number;
}

/** What a peer is told to run. */
export interface PeerWork {
  steps?: { kind: Kind; shape: 'sequence' | 'fan'; count: number };
  agent?: AgentSpec;
}

/** A definition for Sentinel; a workflow and its arguments for the twin; a peer's own words for it. */
export interface Work {
  peer?: PeerWork;
  definition?: Definition;
  workflow?: { type: string; args: unknown[] };
}

/** With the last run of them. */
export interface Ran extends Together {
  workflowId: string;
}

export interface Lanes {
  work: Work;
  count: number;
  width: number;
}

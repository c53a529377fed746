/** What the runs of one scripted tree share, and the ways in which they can be run. */
import type { Catalogue } from '../../language/catalogue.ts';
import type { Definition } from '../../language/model.ts';
import type { Effect, RunBudget, SegmentReport, Strand } from '../host.ts';
import type { EventBoard } from './event-board.ts';
import type { Answers } from './script.ts';
import type { ScriptedHost } from './scripted-host.ts';
import type { Scope, Simulation } from './simulation.ts';

export interface Library {
  [name: string]: Definition;
}

export interface Mode {
  name: string;
  /** Continue as new after this many steps. */
  yieldEvery?: number;
  segments?: boolean;
  /** Continue as new over every question, before its answer comes. */
  yieldAsking?: boolean;
  /** Steps without an effect before a segment takes over. */
  pureStepsMax?: number;
}

/** A segment that a run asks for. */
export interface SegmentAsked {
  world: World;
  host: ScriptedHost;
  strand: Strand;
  key: string;
  scope: Scope;
  stepsLeft: number | undefined;
  budget: RunBudget | undefined;
}

/** What all runs of one scripted tree share. */
export interface World {
  simulation: Simulation;
  /** The commands there are; each run has those that its definitions name. */
  catalogue: Catalogue;
  script: Answers;
  mode: Mode;
  /** Needed where the mode has segments. */
  segment?: (asked: SegmentAsked) => Promise<SegmentReport>;
  board: EventBoard;
  /** Definitions that a variable may name, besides those that the run was started with. */
  stored?: (name: string) => Definition | undefined;
  /** Every run that was started, in order. */
  runs: ScriptedHost[];
  /** Every effect that was asked for, by the key of its run and step. */
  effects: { key: string; effect: Effect }[];
}

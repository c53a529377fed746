/** What the runs of one scripted tree share, and the ways in which they can be run. */
import type { Catalogue } from '../../language/catalogue.ts';
import type { Definition } from '../../language/model.ts';
import type { SegmentReport, Strand } from '../host.ts';
import type { Effect, RunBudget } from '../effect.ts';
import type { Json } from '../../language/json.ts';
import type { RunEvent } from '../../language/events/run-event.ts';
import type { RunResult } from '../outcome.ts';
import type { Questions } from './questions.ts';
import type { EventBoard, ScriptedGroups } from './event-board.ts';
import type { Answers } from './script.ts';
import type { Verdict } from '../verdict.ts';
import type { Walk } from '../walk-state.ts';
import type { ScriptedPlaces } from './scripted-places.ts';
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

/** A run of the tree, as others see it. */
export interface ScriptedRun {
  readonly walk: Walk;
  readonly events: RunEvent[];
  /** What was said last of each action outside of segments, by its key. */
  readonly judgedLast: Map<string, readonly Verdict[]>;
  /** What its segments came to, by the key that each began with. */
  readonly journal: Map<string, Json>;
  readonly questions: Questions;
  readonly result: RunResult | null;
  /** How often it continued as new. */
  readonly continued: number;
  /** What each branch waits for, by the key of its step. */
  readonly awaited: Map<string, string>;
  stop(): void;
  keyOf(key: string): string;
}

/** A segment that a run asks for. */
export interface SegmentAsked {
  world: World;
  host: ScriptedRun;
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
  groups: ScriptedGroups;
  places: ScriptedPlaces;
  /** How long, in milliseconds, until the persona has budget again, each time that a run asks; past the end it has. */
  days: number[];
  /** Definitions that a variable may name, besides those that the run was started with. */
  stored?: (name: string) => Definition | undefined;
  /** Every run that was started, in order. */
  runs: ScriptedRun[];
  /** Every effect that was asked for, by the key of its run and step. */
  effects: { key: string; effect: Effect }[];
}

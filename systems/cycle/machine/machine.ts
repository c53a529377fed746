/**
 * The machine of one repository as a value: its state, what its cycle is about, what it has been through, and whether it is
 * paused. Each function gives the machine that follows, and changes nothing.
 *
 * - M1 The state changes along an edge of the table alone, a reset included.
 * - M2 A pause stands beside the state. Nothing moves while it lasts, but for a reset.
 * - M3 The history has an entry for each change of the state, and no other.
 */
import type { Json, JsonObject } from '../../../language/json.ts';
import { isEdge, type State, TABLE, wayHome } from './states.ts';

/** The words and the diff that a person was shown, and said yes to. */
export interface Approval {
  change: string;
  diff: string;
}

/** What a cycle is about; `startTime` is milliseconds since the epoch. */
export interface CycleContext {
  goal: string;
  selectedFiles: string[];
  blueprint: string | null;
  plan: Json;
  /** The digest of the changeset that it works on. */
  changeset: string | null;
  /** The step before which the state of the project was recorded. */
  checkpoint: string | null;
  /** What a person approved of that changeset: "changeset/approve" alone writes it. */
  approved: Approval | null;
  reflections: Json[];
  startTime: number;
  metadata: JsonObject;
}

export interface Entry {
  from: State;
  to: State;
  /** Milliseconds since the epoch. */
  timestamp: number;
  /** The goal, or null where no cycle is under way. */
  context: string | null;
}

export interface Machine {
  currentState: State;
  cycleContext: CycleContext | null;
  stateHistory: readonly Entry[];
  isPaused: boolean;
  /** Why it is in ERROR. */
  error: string | null;
}

export interface Moved {
  /** Whether the state changed. */
  ok: boolean;
  machine: Machine;
  log: { level: 'info' | 'error'; message: string };
  /** What is told to whoever follows. */
  event: { name: 'fsm:transition'; data: { from: State; to: State } } | null;
}

export const INITIAL: Machine = {
  currentState: 'IDLE',
  cycleContext: null,
  stateHistory: [],
  isPaused: false,
  error: null,
};

const refused = (machine: Machine, message: string): Moved => ({
  ok: false,
  machine,
  log: { level: 'error', message },
  event: null,
});

/** `why`: of an error. */
export function transition(machine: Machine, to: State, now: number, why: string | null = null): Moved {
  const { currentState: from, isPaused } = machine;
  if (!isEdge(from, to))
    return refused(machine, `invalid transition: ${from} -> ${to}; ${from} leads to ${TABLE[from].join(', ')}`);
  if (isPaused) return refused(machine, `invalid transition: ${from} -> ${to}; the cycle is paused`);
  return moved(machine, to, now, why);
}

function moved(machine: Machine, to: State, now: number, why: string | null): Moved {
  const { currentState: from, cycleContext, stateHistory } = machine;
  const entry: Entry = { from, to, timestamp: now, context: cycleContext?.goal ?? null };
  return {
    ok: true,
    machine: {
      currentState: to,
      cycleContext: to === 'IDLE' ? null : cycleContext,
      stateHistory: [...stateHistory, entry],
      isPaused: false,
      error: to === 'ERROR' ? (why ?? 'FSM encountered an error') : null,
    },
    log: { level: 'info', message: `transition: ${from} -> ${to}` },
    event: { name: 'fsm:transition', data: { from, to } },
  };
}

export const cycleOf = (goal: string, now: number): CycleContext => ({
  goal,
  selectedFiles: [],
  blueprint: null,
  plan: null,
  changeset: null,
  checkpoint: null,
  approved: null,
  reflections: [],
  startTime: now,
  metadata: {},
});

export function startCycle(machine: Machine, goal: string, now: number): Moved {
  if (machine.currentState !== 'IDLE')
    return refused(machine, `a cycle is under way (${machine.currentState}); only IDLE starts one`);
  return transition({ ...machine, cycleContext: cycleOf(goal, now) }, 'CURATING_CONTEXT', now);
}

/** Null where nothing is under way, or it is paused already. */
export function pauseCycle(machine: Machine): Machine | null {
  const { currentState, isPaused } = machine;
  return isPaused || currentState === 'IDLE' || currentState === 'ERROR' ? null : { ...machine, isPaused: true };
}

/** Null where it is not paused. */
export const resumeCycle = (machine: Machine): Machine | null =>
  machine.isPaused ? { ...machine, isPaused: false } : null;

/** To IDLE, by the edges that lead there: each is an entry of the history and an event. */
export function reset(machine: Machine, now: number): { machine: Machine; moves: Moved[] } {
  const moves: Moved[] = [];
  let at: Machine = { ...machine, isPaused: false };
  for (const to of wayHome(machine.currentState)) {
    const move = moved(at, to, now, 'the cycle was reset');
    moves.push(move);
    at = move.machine;
  }
  return { machine: at, moves };
}

/** A changeset is applied after a person has approved it, and from nowhere else. */
export const canApply = ({ currentState, isPaused }: Machine): boolean =>
  currentState === 'AWAITING_PROPOSAL_APPROVAL' && !isPaused;

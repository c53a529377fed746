/** What a page shows of a machine, and what it offers. */
import type { Machine } from './machine.ts';

export interface Status {
  state: 'active' | 'error' | 'idle';
  primaryMetric: string;
  secondaryMetric: string;
  /** Milliseconds since the epoch. */
  lastActivity: number | null;
  /** Of an error alone. */
  message: string | null;
}

/** A cycle that goes well takes so many transitions. */
const transitionsOfCycle = 9;

export const ERROR_MESSAGE = 'FSM encountered an error';
export const NO_CYCLE = 'No active cycle';
export const TEST_GOAL = 'Test goal: Verify FSM functionality';

export const cycleNumber = (transitions: number): number =>
  transitions === 0 ? 0 : Math.floor(transitions / transitionsOfCycle) + 1;

/** `transitions`: how many there were, where the history is not whole. */
export function getStatus(
  { currentState, cycleContext, stateHistory }: Machine,
  transitions = stateHistory.length,
): Status {
  return {
    state: currentState === 'ERROR' ? 'error' : currentState === 'IDLE' ? 'idle' : 'active',
    primaryMetric: `State: ${currentState}`,
    secondaryMetric: cycleContext === null ? NO_CYCLE : `Cycle: ${cycleNumber(transitions)}`,
    lastActivity: stateHistory.at(-1)?.timestamp ?? null,
    message: currentState === 'ERROR' ? ERROR_MESSAGE : null,
  };
}

export type ControlId = 'test-cycle' | 'pause' | 'resume';

export interface Pressed {
  success: boolean;
  message: string;
}

export interface Control<Result = Pressed> {
  id: ControlId;
  label: string;
  action: () => Result;
}

/** What each control does; each says whether it was done. */
export interface Actions<Result> {
  startTest(): Result;
  pause(): Result;
  resume(): Result;
}

/** `actions`: what pressing one of them does. */
export function getControls<Result>({ currentState, isPaused }: Machine, actions: Actions<Result>): Control<Result>[] {
  if (currentState === 'ERROR') return [];
  if (currentState === 'IDLE') return [{ id: 'test-cycle', label: '☇ Test Cycle', action: () => actions.startTest() }];
  return isPaused
    ? [{ id: 'resume', label: '▶ Resume', action: () => actions.resume() }]
    : [{ id: 'pause', label: '⏸ Pause', action: () => actions.pause() }];
}

export const PRESSED: { readonly [id in ControlId]: Pressed } = {
  'test-cycle': { success: true, message: 'Test cycle started' },
  pause: { success: true, message: 'Cycle paused' },
  resume: { success: true, message: 'Cycle resumed' },
};

/** A case, run under one mode. `Date` shows simulated time, so code that reads the clock (the segment host) agrees with it. */
import { vi } from 'vitest';
import { stage } from '../../../authoring/simulate/stage.ts';
import {
  runScenario,
  STRAIGHT,
  type Outcome,
  type Scenario as WholeScenario,
} from '../../../interpreter/simulation/run-scenario.ts';
import type { Mode } from '../../../interpreter/simulation/scripted-host.ts';
import { catalogue } from '../../catalogue.ts';
import { runScriptedSegment } from './scripted-segment.ts';
import { defined } from '../../../language/defined.ts';

export { STRAIGHT, type Outcome };

/** The commands are the built-in ones where it does not say. */
export type Scenario = Omit<WholeScenario, 'catalogue'> & Partial<WholeScenario>;

export const MODES: readonly Mode[] = [
  { name: 'straight' },
  { name: 'yield every step', yieldEvery: 1 },
  { name: 'yield every 2 steps', yieldEvery: 2 },
  { name: 'yield every 3 steps', yieldEvery: 3 },
  { name: 'yield every 7 steps', yieldEvery: 7 },
  { name: 'segments', segments: true },
  { name: 'segments, yield every 3 steps', segments: true, yieldEvery: 3, pureStepsMax: 12 },
];

/** What a case may say of where and for whom it runs. */
export interface Surroundings {
  project?: string | undefined;
  persona?: string | undefined;
}

export function runCase(scenario: Scenario, mode: Mode, { project, persona }: Surroundings = {}): Promise<Outcome> {
  const surroundings = defined({ project, persona });
  return runScenario(
    { catalogue, ...scenario },
    {
      ...surroundings,
      mode,
      segment: runScriptedSegment,
      stage: { ...stage, clockMoved: (now) => void vi.setSystemTime(now) },
    },
  );
}

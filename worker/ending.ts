/**
 * How a worker process ends: it says which steps it waits for, on stderr for people and in a JSON line on
 * stdout for its supervisor, and when it may wait no longer it takes their processes with it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { keptIdOf, KeptFolder, keptRoot } from '../world/processes/kept/kept-folder.ts';
import { groupsOfSteps, stepMarker, workerMarker } from '../world/processes/orphans.ts';
import { findMarked, killGroup } from '../world/processes/processes.ts';
import type { StepsUnderWay } from './steps-under-way.ts';
import { say } from './say.ts';
import { type Ending, type StepUnderWay, waitingText } from '../services/supervisor/worker-process.ts';

const LOOK_MS = 200;
const FIND_MAX_MS = 2_000;

/** Says what is waited for now, and whenever that changes. */
export function tellOfSteps(underWay: StepsUnderWay, graceMs: number): { close(): void } {
  let said = '[]';
  const tell = (): void => {
    const ending: Ending = {
      ending: true,
      pid: process.pid,
      seconds: Math.round(graceMs / 1000),
      steps: underWay.list(),
    };
    const steps = JSON.stringify(ending.steps);
    if (steps === said) return;
    said = steps;
    process.stdout.write(`${JSON.stringify(ending)}\n`);
    if (ending.steps.length > 0) say(`${waitingText(ending)}; Ctrl-C again ends now`);
  };
  tell();
  const timer = setInterval(tell, LOOK_MS);
  return { close: () => clearInterval(timer) };
}

let isEnding = false;

/**
 * Ends the process, and before it those of its steps. Both in one turn of the event loop: a step whose process
 * was killed must not be taken for one that came to its end.
 */
export async function endNow(exitCode: number, steps: readonly StepUnderWay[], home: string): Promise<void> {
  if (isEnding) process.exit(exitCode);
  isEnding = true;
  for (const { handle, key } of steps) KeptFolder.find(keptRoot(home), keptIdOf(handle, key))?.because('cancelled');
  const found = groupsOfOwn(steps).catch(() => []);
  for (const group of await Promise.race([found, sleep(FIND_MAX_MS, [])])) killGroup(group);
  process.exit(exitCode);
}

/** Groups of the steps that this worker is at, and of the processes that it holds for others. */
async function groupsOfOwn(steps: readonly StepUnderWay[]): Promise<number[]> {
  const own = await workerMarker();
  const held = (await findMarked()).filter(({ worker }) => worker === own);
  const markers = new Set([
    ...held.map(({ step }) => step),
    ...steps.map(({ handle, key }) => stepMarker(handle, key)),
  ]);
  return [...held.map(({ group }) => group), ...(await groupsOfSteps([...markers], own))];
}

/** A worker that is told where to die, and what it says of the points that it passes. */
import { closeSync, openSync, readSync, statSync, writeFileSync } from 'node:fs';
import {
  ARMED,
  type CrashPlan,
  type PassedPoint,
  type PlannedDeath,
} from '../../../world/crash-points/armed-deaths.ts';
import type { Harness } from '../../server/harness/harness.ts';
import { WorkerProcess } from '../../server/harness/worker-process.ts';

/** The file in which all workers note what they pass, read as it grows. */
export class PassedPoints {
  readonly path: string;
  #read = 0;
  #rest = '';

  constructor(path: string) {
    this.path = path;
    writeFileSync(path, '');
  }

  /** Those since the last call. */
  next(): PassedPoint[] {
    const { size } = statSync(this.path);
    if (size === this.#read) return [];
    const bytes = Buffer.alloc(size - this.#read);
    const file = openSync(this.path, 'r');
    readSync(file, bytes, 0, bytes.length, this.#read);
    closeSync(file);
    this.#read = size;
    const lines = `${this.#rest}${bytes.toString('utf8')}`.split('\n');
    this.#rest = lines.pop() ?? '';
    return lines.map((line) => JSON.parse(line) as PassedPoint);
  }
}

export const startArmed = (
  harness: Harness,
  record: string,
  deaths: PlannedDeath[],
  env: Record<string, string>,
): Promise<WorkerProcess> => {
  const plan: CrashPlan = { record, deaths };
  return WorkerProcess.start({
    ...harness.env,
    ...env,
    SENTINEL_PROJECT: harness.project,
    [ARMED]: JSON.stringify(plan),
  });
};

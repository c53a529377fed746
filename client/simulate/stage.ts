/** What simulated time needs of Node: the end of a turn, and which scope the code now running belongs to. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Scope, Stage } from '../../workflows/simulation/simulation.ts';

const scopes = new AsyncLocalStorage<Scope>();

export const stage: Stage = {
  scopes,
  settled: () => new Promise((resolve) => void setImmediate(resolve)),
};

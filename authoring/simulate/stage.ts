/** What simulated time needs of Node: the end of a turn, and which scope the code now running belongs to. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Scope, Stage } from '../../interpreter/simulation/simulation.ts';

const scopes = new AsyncLocalStorage<Scope>();

export const stage: Stage = {
  scopes,
  // Few definitions have forms, and what reads them is large.
  formFault: async (form, data) => (await import('../../language/params/form.ts')).formFault(form, data),
  settled: () => new Promise((resolve) => void setImmediate(resolve)),
};

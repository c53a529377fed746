/** Definitions that durability tests run, in canonical form. */
import type { Json } from '../../../language/json.ts';
import type { Definition, Step } from '../../../language/model.ts';
import { defined } from '../../../language/defined.ts';

export const shell = (command: string, rest: Partial<Extract<Step, { type: 'shell' }>> = {}): Step => ({
  type: 'shell',
  command,
  ...rest,
});

export const command = (name: string, params: { [name: string]: Json }, outputTo?: string): Step => ({
  type: 'command',
  command: name,
  params,
  ...defined({ outputTo }),
});

export const create = (collection: string, data: { [name: string]: Json }, outputTo?: string): Step =>
  command('data/create', { collection, data }, outputTo);

export const list = (collection: string, outputTo: string): Step => ({
  type: 'command',
  command: 'data/list',
  params: { collection },
  outputTo,
});

export const once = (name: string, steps: Step[], rest: Partial<Definition> = {}): Definition => ({
  name,
  loop: { type: 'once' },
  steps,
  ...rest,
});

export const counted = (name: string, max: number, steps: Step[], rest: Partial<Definition> = {}): Definition => ({
  name,
  loop: { type: 'count', max },
  safety: { maxIterations: max },
  steps,
  ...rest,
});

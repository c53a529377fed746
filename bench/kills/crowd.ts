/** Runs of several kinds that never end by themselves and show progress within a second, but for those that wait. */
import type { Definition, Step } from '../../language/model.ts';
import { modelOf, promptOf } from '../agents/protocol.ts';

export interface Kind {
  count: number;
  definition: Definition;
  /** What somebody does for the run in the moment of the kill, so that it can go on. */
  asks?: 'event' | 'answer' | 'update';
}

export const GO = 'bench:go';
const PASSES = 100_000;

const counted = (name: string, steps: Step[], rest: Partial<Definition> = {}): Definition => ({
  name,
  loop: { type: 'count', max: PASSES },
  safety: { maxIterations: PASSES },
  steps,
  ...rest,
});
const row: Step = {
  type: 'command',
  command: 'data/create',
  params: { collection: 'bench', data: { pass: '$iteration' } },
};
const nap = (durationMs: number): Step => ({ type: 'sleep', durationMs });
const shell = (command: string): Step => ({ type: 'shell', command });
const agent = { turns: 8, tool: 'read', file: 'notes.txt', bytes: 0, delayMs: 300 } as const;

export const CROWD: { readonly [kind: string]: Kind } = {
  'quick commands': { count: 4, definition: counted('quick', [row, row, nap(300)]) },
  'quick commands, each an activity': {
    count: 2,
    definition: counted('each', [row, nap(300)], { durability: 'step' }),
  },
  'short shell steps': { count: 4, definition: counted('short', [shell('sleep 0.5'), row]) },
  'a long shell step, taken over': { count: 3, definition: counted('long', [shell('sleep 3600')]) },
  'turns of a model': {
    count: 3,
    definition: counted('model', [
      {
        type: 'llm',
        model: `openai/${modelOf(agent)}`,
        prompt: promptOf('crowd'),
        tools: ['code/read'],
        maxTurns: agent.turns,
        onStuck: 'ignore',
        onUnknown: 'retry',
      },
    ]),
  },
  'a nested run': {
    count: 2,
    definition: counted('nested', [
      {
        type: 'sentinel',
        definition: { name: 'inner', loop: { type: 'once' }, steps: [row, shell('sleep 0.3'), row] },
      },
    ]),
  },
  branches: {
    count: 1,
    definition: counted('branches', [
      {
        type: 'parallel',
        branches: [
          [shell('sleep 0.4'), row],
          [shell('sleep 0.4'), row],
        ],
      },
    ]),
  },
  'an event': { count: 2, definition: counted('event', [{ type: 'watch', event: GO }, row]), asks: 'event' },
  'an answer': {
    count: 2,
    definition: counted('answer', [{ type: 'approval', message: 'Go on?' }, row]),
    asks: 'answer',
  },
};

/** What a nested run tells the run around it, in workflow code: it arrives also from a part of the run that is cancelled. */
import { expect, test, vi } from 'vitest';
import { firstPosition } from '../../../interpreter/position.ts';
import { lineGoesOn, lineStands } from '../../../interpreter/stillness.ts';
import type { Walk } from '../../../interpreter/walk-state.ts';
import { Around } from '../../../workflows/host/around.ts';

const temporal = vi.hoisted(() => ({ isCancelled: false, signals: [] as unknown[] }));
/** In a cancelled scope Temporal's signal is refused, and no command is made of it. */
vi.mock('@temporalio/workflow', async (actual) => ({
  ...(await actual<object>()),
  CancellationScope: {
    nonCancellable: async (within: () => Promise<unknown>) => {
      const { isCancelled } = temporal;
      temporal.isCancelled = false;
      try {
        return await within();
      } finally {
        temporal.isCancelled = isCancelled;
      }
    },
  },
  getExternalWorkflowHandle: () => ({
    signal: (_name: string, ...args: unknown[]) => {
      if (temporal.isCancelled) return Promise.reject(new Error('cancelled'));
      temporal.signals.push(args);
      return Promise.resolve();
    },
  }),
}));
vi.mock('../../../workflows/seal/control-message.ts', () => ({ nestedMessage: (...args: unknown[]) => args }));

test('that it stands still and goes on is told once each, also where the branch that tells it is cancelled', () => {
  const input = { handle: 'run/steps.0@1', parent: 'run', awaited: true };
  const walk = { input, position: firstPosition(0), host: { now: () => 0 } } as unknown as Walk;
  const around = new Around(walk);
  lineStands(walk);
  around.tell();
  around.tell();
  lineGoesOn(walk);
  temporal.isCancelled = true;
  around.tell();
  expect(temporal.signals).toEqual([
    [['run/steps.0@1', { word: 1, isStill: true }]],
    [['run/steps.0@1', { word: 2, isStill: false }]],
  ]);
});

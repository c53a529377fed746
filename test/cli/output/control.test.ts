/** What `pause` and `resume` answer of a run that was told to stop. */
import { expect, it } from 'vitest';
import { refuseStopping } from '../../../cli/runs/control.ts';
import type { RunState } from '../../../workflows/messages/messages.ts';

const state = (stopping: boolean): RunState => ({
  handle: 'nightly',
  status: 'running',
  reason: null,
  stopping,
  iteration: 1,
  steps: 1,
  current: [],
  startedAt: 0,
  questions: [],
  models: [],
  told: [],
});

it('says that a run which stops cannot be held, nor let go on', () => {
  expect(refuseStopping(state(false), 'pause')).toEqual(state(false));
  for (const verb of ['pause', 'resume'] as const) {
    expect(() => refuseStopping(state(true), verb)).toThrow(
      expect.objectContaining({
        code: 'RUN_ENDED',
        message: `nightly was told to stop and ends after the steps under way; there is nothing to ${verb}.`,
      }) as Error,
    );
  }
});

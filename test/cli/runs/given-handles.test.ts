/** Which handles a person or a program may give a run. */
import { expect, test } from 'vitest';
import { startedHandle } from '../../../systems/runs/commands.ts';
import { startHandle } from '../../../prisma/store/events/spread.ts';
import { givenHandleFault } from '../../../runs/handles.ts';

test.each(['nightly', 'Build.2', 'a:b', 'run-1', 'run-0123456789abcdeg', 'on-2026-01-31', 'x'.repeat(200)])(
  '%s names a run',
  (handle) => {
    expect(givenHandleFault(handle)).toBeNull();
  },
);

test.each([
  ['what names no run in events', '@emit'],
  ['what names no run in events, with more', '@webhook-1'],
  ['a run that a step starts', 'deploy/steps.0@1'],
  ['nothing', ''],
  ['two words', 'a b'],
  ['a sign without width', '\u200Bnightly'],
  ['more than fits', 'x'.repeat(201)],
  ['what an agent starts', 'agent:nightly'],
  ['background work of a system', 'background:notes:sorting:0'],
])('no run is called %s', (_what, handle) => {
  expect(givenHandleFault(handle)?.code).toBe('USAGE');
});

test.each([
  ['what a step starts', startedHandle('nightly', 'steps.2@1')],
  ['what an event starts', startHandle('nightly', 'trigger', 7)],
  ['what a schedule starts', 'nightly-2026-01-31T03:00:00Z'],
])('no step calls a run %s; a person may have such ids', (_what, handle) => {
  expect(givenHandleFault(handle, 'step')?.code).toBe('USAGE');
  expect(givenHandleFault(handle)).toBeNull();
});

test('no run is called what reads as the end of another', () => {
  expect(givenHandleFault('finished:deploy')?.code).toBe('EVENT_RESERVED');
});

/** Names that only runs publish, and names that only look like them to a person. */
import { expect, test } from 'vitest';
import { matchesEvent } from '../../../language/events/event-glob.ts';
import { reservedEventFault, reservedHandleFault } from '../../../language/events/reserved-events.ts';

const reserved = [
  'sentinel:finished:deploy',
  'sentinel:finished:',
  'sentinel:finished:a:b',
  'sentinel:nightly:status',
  'sentinel::status',
  'sentinel:a:b:status',
  'sentinel:a\nb:status',
  'sentinel:finished:a\nb',
  'sentinel:nightly/steps.0@1:status',
  'sentinel:nightly:line',
  // Read as the same by a person.
  'Sentinel:Finished:deploy',
  'SENTINEL:NIGHTLY:STATUS',
  ' sentinel:finished:deploy',
  'sentinel:finished:deploy ',
  'sentinel :finished:deploy',
  'sentinel:\u200bfinished:deploy',
  'sen\u00adtinel:finished:deploy',
  'sentinel\u0000:finished:deploy',
  'sentinel：finished：deploy',
  'sentinel∶finished∶deploy',
  'ｓｅｎｔｉｎｅｌ:finished:deploy',
  'sеntinel:finished:deploy',
  'ѕеntіnеӏ:fіnіѕhеԁ:x',
  'sentinel:ﬁnished:deploy',
  'séntinel:finished:deploy',
  'sentınel:fınıshed:x',
  'sentinel:nightly:ѕtatus',
  'sentinel:nightly:status:',
  'sentinel:nightly:status\u00a0',
];

test.each(reserved)('%j is one that runs publish', (name) => {
  expect(reservedEventFault(name)).toEqual({
    code: 'EVENT_RESERVED',
    message: expect.stringContaining('published by the runs themselves') as string,
  });
});

/** R6.12 to R6.19 among them. */
const free = [
  'sentinel:deployed',
  'sentinel:test-failure',
  'sentinel:migration:escalate',
  'sentinel:commit:ready',
  'sentinel:commit:no-changes',
  'sentinel:log:alert',
  'sentinel:build:failed',
  'sentinel:build:success',
  'sentinel:health:slow-commands',
  'persona:attention:needed',
  'genome:layer:registered',
  'academy:challenge:complete',
  'sentinel:finished',
  'sentinel:status',
  'sentinel:finished-all:deploy',
  'sentinel:build:status-changed',
  'my:sentinel:finished:deploy',
  'deploy:status',
  'finished:deploy',
  'сборка:готова',
  '',
];

test.each(free)('%j is free', (name) => {
  expect(reservedEventFault(name)).toBeNull();
});

test.each(['finished', 'finished:deploy', 'Finished', 'fınished:x'])('no run is called %j', (handle) => {
  expect(reservedHandleFault(handle)?.code).toBe('EVENT_RESERVED');
});

test.each(['nightly', 'finished-deploy', 'run:finished', 'finish'])('a run may be called %j', (handle) => {
  expect(reservedHandleFault(handle)).toBeNull();
});

test.each(['sentinel:finished:*', 'sentinel:finished:deploy', 'sentinel:*:status', 'sentinel:**:status'])(
  'no free name is one that a trigger on %s takes',
  (pattern) => {
    expect(free.filter((name) => matchesEvent(pattern, name))).toEqual([]);
  },
);

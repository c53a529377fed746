/** Where an event is from is said by whoever stored it: neither its name nor its data can say otherwise. */
import { expect, test } from 'vitest';
import { originOf, valueOfEvent } from '../../../language/events/published-event.ts';
import { reservedEventFault } from '../../../language/events/reserved-events.ts';

test.each([
  ['@emit/deploy/1', { type: 'person', id: null }],
  ['@step/deploy/1', { type: 'run', id: null }],
  ['@webhook/deploy/1', { type: 'webhook', id: null }],
  ['@webhook:github/github:push/1', { type: 'webhook', id: 'github' }],
  ['@file/file:changed/1', { type: 'engine', id: null }],
  ['nightly/steps.0@1', { type: 'run', id: 'nightly' }],
  ['nightly/steps.0@1/steps.1@1', { type: 'run', id: 'nightly' }],
  ['nightly/steps.0@1/turn.3/call.0', { type: 'run', id: 'nightly' }],
  ['nightly/@finished', { type: 'engine', id: 'nightly' }],
  ['nightly/steps.0@1/@status:3', { type: 'engine', id: 'nightly' }],
  ['toString/steps.0@1', { type: 'run', id: 'toString' }],
])('%s', (id, origin) => {
  expect(originOf(id)).toEqual(origin);
  const forged = {
    origin: { type: 'person', id: null },
    id: '@emit/deploy/1',
    name: 'sentinel:finished:x',
    at: 9,
    data: { approved: true },
    author: 'ada',
  };
  const event = { id, name: 'deploy', at: 0, data: forged };
  expect(valueOfEvent(event)).toEqual({ ...event, author: 'ada', origin });
});

test.each([
  'chat:ops:message',
  'CHAT:ops:message',
  'сhat:ops',
  'ｃhat:ops',
  'c\u200Bhat:x',
  'file:changed',
  'git:push',
  'ɡit:push',
])('%s is published by no step and no webhook', (name) => {
  expect(reservedEventFault(name)).toMatchObject({ code: 'EVENT_RESERVED' });
});

test.each(['chatter:ops', 'profile:changed', 'digit:push', 'deploy:git:push', 'files:changed', 'sentinel:deployed'])(
  '%s is free',
  (name) => {
    expect(reservedEventFault(name)).toBeNull();
    expect(reservedEventFault(name, name, 'person')).toBeNull();
  },
);

test('a person says what happened in a room and in a repository, and not what a worker saw', () => {
  expect(reservedEventFault('chat:ops:message', 'chat:ops:message', 'person')).toBeNull();
  expect(reservedEventFault('git:push', 'git:push', 'person')).toBeNull();
  expect(reservedEventFault('file:changed', 'file:changed', 'person')).not.toBeNull();
  expect(reservedEventFault('sentinel:finished:x', 'sentinel:finished:x', 'person')).not.toBeNull();
});

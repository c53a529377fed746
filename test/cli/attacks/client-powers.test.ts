/** The TypeScript client in a process of a step: refused what the verbs are refused there, whoever it says it is. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { STEP_MARKER } from '../../../world/processes/processes.ts';
import { SentinelClient } from '../../../client/client.ts';
import { CHOICES, letsAct } from '../../../language/events/question.ts';

/** Nobody serves there: whoever is not refused fails at the database. */
const env = { ...process.env, TEMPORAL_ADDRESS: '127.0.0.1:9', DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none' };
const client = new SentinelClient({ env, startsServices: false });

type Call = [string, () => Promise<unknown>];
const persons: Call[] = [
  ...CHOICES.filter(letsAct).map((choice): Call => [
    `answer ${choice}`,
    () => client.answer('nightly', { choice, by: 'ada' }),
  ]),
  ['resume', () => client.resume('nightly')],
  ['resume, by a name', () => client.resume('nightly', { by: 'ada' })],
  ['edit', () => client.edit('nightly', { op: 'remove', path: 'steps.0', revision: 1, by: 'ada' })],
  ['tell', () => client.tell('nightly', 'hello', { by: 'ada' })],
  ['clearInbox', () => client.clearInbox({ handle: 'nightly' })],
  ['undo with force', () => client.undo('nightly', { force: true })],
  ['cancel with force', () => client.cancel('nightly', { force: true })],
];
const everybodys: Call[] = [
  ...CHOICES.filter((choice) => !letsAct(choice)).map((choice): Call => [
    `answer ${choice}`,
    () => client.answer('nightly', { choice, by: 'ada' }),
  ]),
  ['pause', () => client.pause('nightly')],
  ['stop', () => client.stop('nightly')],
  ['undo', () => client.undo('nightly')],
  ['cancel', () => client.cancel('nightly')],
  ['inbox', () => client.inbox()],
];

describe('in a step', () => {
  beforeEach(() => {
    process.env[STEP_MARKER] = 'nightly:steps.0@1';
  });
  afterEach(() => {
    Reflect.deleteProperty(process.env, STEP_MARKER);
  });

  test.each(persons)('%s is refused', async (_name, call) => {
    await expect(call()).rejects.toMatchObject({
      code: 'ANSWER_REFUSED',
      message: expect.stringMatching(/^A run does not /) as string,
    });
  });

  test.each(everybodys)('%s is heard', async (_name, call) => {
    await expect(call()).rejects.not.toMatchObject({ code: 'ANSWER_REFUSED' });
  });
});

test.each(persons)('of a person, %s is heard', async (_name, call) => {
  await expect(call()).rejects.not.toMatchObject({ code: 'ANSWER_REFUSED' });
});

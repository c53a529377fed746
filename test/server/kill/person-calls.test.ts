/**
 * kill -9 of the command line while a person says something: each message that is there has its event, each event its
 * message, and a call that is made again under its id is there once.
 */
import { randomUUID } from 'node:crypto';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../../language/json.ts';
import { CLI, type Harness } from '../harness/harness.ts';
import { useHarnesses } from '../harness/opened.ts';

const openHarness = useHarnesses();
const KILLS = 24;
const SEND = 'collaboration/chat/send';

/** Ends it after the time, unless it has ended by then. True: it was killed. */
async function killed(harness: Harness, afterMs: number, ...args: string[]): Promise<boolean> {
  const { isForcefullyTerminated, signal } = await execa(process.execPath, [CLI, ...args], {
    cwd: harness.project,
    env: { ...harness.env, USER: 'ada' },
    reject: false,
    timeout: afterMs,
    killSignal: 'SIGKILL',
  });
  return isForcefullyTerminated || signal === 'SIGKILL';
}

const documentOf = async (harness: Harness, ...args: string[]): Promise<JsonObject[]> =>
  JSON.parse((await harness.command(...args, '--json')).out) as JsonObject[];

const wordsOf = (list: readonly unknown[]): string[] =>
  list.map((one) => (one as { message: string }).message).toSorted();

test('a message and its event are there together, and a call with an id once', async () => {
  const harness = await openHarness();
  // The tables are there before.
  const startedAt = Date.now();
  await harness.command('chat', 'said', '--send', 'first');
  const tookMs = Date.now() - startedAt;
  const around = (share: number): number => Math.max(50, Math.round(tookMs * (0.5 + share * 0.7)));

  let ended = 0;
  for (let turn = 0; turn < KILLS; turn += 1)
    if (await killed(harness, around(turn / KILLS), 'chat', 'said', '--send', `word ${turn}`)) ended += 1;
  expect(ended).toBeGreaterThan(0);

  const messages = await documentOf(harness, 'chat', 'said', '--limit', '1000');
  const events = await documentOf(harness, 'events', 'chat:said:message', '--limit', '1000');
  expect(wordsOf(events.map((event) => event['data']))).toEqual(wordsOf(messages));
  expect(new Set(wordsOf(messages)).size).toBe(messages.length);

  const calls = Array.from({ length: KILLS / 2 }, (_, turn) => [
    'command',
    SEND,
    '--param',
    'room=again',
    '--param',
    `message=call ${turn}`,
    '--id',
    `${randomUUID()} ${turn}`,
  ]);
  for (const [turn, call] of calls.entries()) await killed(harness, around((2 * turn) / KILLS), ...call);
  for (const call of calls) expect((await harness.command(...call)).code).toBe(0);
  const again = await documentOf(harness, 'chat', 'again', '--limit', '1000');
  expect(wordsOf(again)).toEqual(calls.map((_, turn) => `call ${turn}`).toSorted());
  const heard = await documentOf(harness, 'events', 'chat:again:message', '--limit', '1000');
  expect(heard).toHaveLength(calls.length);
});

/** Whoever answers what is answered, expired or withdrawn is told so, by an exit code and by an error too. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SentinelClient } from '../../../client/client.ts';
import type { Definition, Step } from '../../../language/model.ts';
import { once } from '../harness/definitions.ts';
import { Harness, until, type Said } from '../harness/harness.ts';

let harness: Harness;
let client: SentinelClient;
beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker();
  client = new SentinelClient({ env: harness.env });
});
afterAll(async () => {
  await client.close();
  await harness.close();
});

const id = 'steps.0@1';
const asks: Definition = once('asks', [{ type: 'approval', message: 'Go on?' }]);
const goesOn: Definition = once('goes-on', [
  { type: 'approval', message: 'Go on?' },
  { type: 'approval', message: 'And now?' },
]);

async function ask(definition: Definition, handle: string): Promise<void> {
  await harness.start(definition, { handle });
  await until(async () => (await harness.store.inbox.open(handle)).includes(id));
}

const expires = (handle: string, after: Step): Definition =>
  once(handle, [{ type: 'approval', message: 'Soon?', timeoutMs: 500, onError: 'skip' }, after]);

const errorIn = ({ out }: Said): unknown => (JSON.parse(out) as { error: unknown }).error;
const at = /at \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/.source;

test.each([
  { first: 'approve', second: 'reject' },
  { first: 'reject', second: 'approve' },
  { first: 'approve', second: 'abort' },
])('$second after $first is refused, and says who answered what and when', async ({ first, second }) => {
  for (const [ends, definition] of [
    [true, asks],
    [false, goesOn],
  ] as const) {
    const handle = `${first}-${second}-${ends}`;
    await ask(definition, handle);
    expect(await harness.command('answer', handle, first, '--by', 'ada')).toMatchObject({ code: 0 });
    if (ends) await harness.result(handle);
    const said = await harness.command('answer', handle, id, second, '--by', 'eve');
    expect(said).toMatchObject({ code: 1, out: '' });
    expect(said.err).toMatch(new RegExp(`${id} of ${handle} was answered before: ${first} by ada ${at}`));
    expect(said.err).toContain(`"${second}" changes nothing`);
    const told = await harness.command('answer', handle, id, second, '--by', 'eve', '--json');
    expect(told.code).toBe(1);
    expect(errorIn(told)).toMatchObject({
      code: 'ANSWERED_ALREADY',
      details: { handle, id, answer: { choice: first, by: 'ada' } },
    });
    const again = await harness.command('answer', handle, id, first, '--by', 'eve');
    expect(again).toMatchObject({ code: 0 });
    expect(again.out).toMatch(new RegExp(`was answered before: ${first} by ada ${at}`));
  }
});

test('a caller of the client is told by an error, and other data are another answer', async () => {
  const form = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
  await ask(once('form', [{ type: 'approval', message: 'How many?', form }]), 'form');
  const given = { choice: 'approve', by: 'ada', data: { n: 1 } } as const;
  expect(await client.answer('form', given)).toMatchObject({ already: false });
  await harness.result('form');
  expect(await client.answer('form', { ...given, by: 'bob', note: 'me too' })).toMatchObject({
    already: true,
    answer: given,
  });
  for (const other of [{ ...given, data: { n: 2 } }, { choice: 'reject', by: 'ada' } as const])
    await expect(client.answer('form', other)).rejects.toMatchObject({
      code: 'ANSWERED_ALREADY',
      details: { handle: 'form', id, answer: given },
    });
});

test('of two at the same moment one is taken, and the other is refused', async () => {
  for (const [round, definition] of [asks, goesOn, asks].entries()) {
    const handle = `raced-${round}`;
    await ask(definition, handle);
    const said = await Promise.all([
      harness.command('answer', handle, id, 'approve', '--by', 'ada'),
      harness.command('answer', handle, id, 'reject', '--by', 'bob'),
    ]);
    expect(said.filter(({ code }) => code === 1)).toHaveLength(1);
    expect(said.filter(({ code }) => code === 0)).toHaveLength(1);
    const [winner, loser] = said[0].code === 0 ? ['approve by ada', said[1]] : ['reject by bob', said[0]];
    expect(loser.err).toContain(`was answered before: ${winner}`);
    const both = await Promise.allSettled([
      client.answer(handle, { id, choice: 'approve', by: 'ada' }),
      client.answer(handle, { id, choice: 'reject', by: 'bob' }),
    ]);
    expect(both.filter(({ status }) => status === 'rejected')).toHaveLength(1);
  }
});

test('what has expired, or is not asked any more, takes no answer', async () => {
  await ask(expires('expired-ended', { type: 'emit', event: 'over' }), 'expired-ended');
  await harness.result('expired-ended');
  await ask(expires('expired', { type: 'approval', message: 'And now?' }), 'expired');
  await until(async () => (await harness.store.inbox.open('expired')).includes('steps.1@1'));
  for (const handle of ['expired-ended', 'expired']) {
    const said = await harness.command('answer', handle, id, 'approve');
    expect(said).toMatchObject({ code: 1, out: '' });
    expect(said.err).toMatch(new RegExp(`"${id}" of ${handle} expired ${at}`));
  }
  await ask(goesOn, 'withdrawn');
  await harness.command('stop', 'withdrawn');
  await harness.result('withdrawn');
  const said = await harness.command('answer', 'withdrawn', id, 'approve');
  expect(said).toMatchObject({ code: 1, out: '' });
  expect(said.err).toMatch(/"steps.0@1" of withdrawn needs no answer any more/);
  await expect(client.answer('withdrawn', { choice: 'approve', by: 'ada' })).rejects.toMatchObject({
    code: 'QUESTION_UNKNOWN',
  });
});

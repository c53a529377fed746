/** Claims of calls: one attempt of a try does it, and the first outcome counts. */
import { expect, test } from 'vitest';
import type { CallOf } from '../../../prisma/store/contract/models/call-contract.ts';
import { useStore } from '../harness/opened.ts';

const opened = useStore();

const at = (handle: string, call = 0): CallOf => ({ handle, conversation: 'steps.0@1', turn: 1, call });
const by = (attempt: string, tries = 1): { key: string; attempt: string; tries: number } => ({
  key: `steps.0@1/turn.1/call.0${tries === 1 ? '' : `#${tries}`}`,
  attempt,
  tries,
});
const said = { turn: 1, part: 1, message: { role: 'user', blocks: [{ type: 'text', text: 'what it gave' }] } };

test('one attempt has the claim, whoever else comes does not know, and the next try takes it over', async () => {
  const { calls } = opened.store;
  const of = at('claimed');
  expect(await calls.claim(of, by('one'))).toEqual({ state: 'claimed' });
  expect(await calls.claim(of, by('one'))).toEqual({ state: 'claimed' });
  expect(await calls.claim(of, by('two'))).toEqual({ state: 'unknown' });
  expect(await calls.claim(of, by('three', 2))).toEqual({ state: 'claimed' });
  expect(await calls.claim(of, by('four', 2))).toEqual({ state: 'unknown' });
  // The attempt that was given up is no longer the one that has it.
  expect(await calls.claim(of, by('one'))).toEqual({ state: 'unknown' });
  expect(await calls.list('claimed')).toMatchObject([
    { call: 0, key: 'steps.0@1/turn.1/call.0#2', attempt: 'three', tries: 2, state: 'begun', endedAt: null },
  ]);
});

test('of attempts at once, one has the claim', async () => {
  const { calls } = opened.store;
  const claims = await Promise.all(['a', 'b', 'c', 'd'].map((name) => calls.claim(at('raced'), by(name))));
  expect(claims.filter(({ state }) => state === 'claimed')).toHaveLength(1);
});

test('the first outcome counts, with what the conversation gets of it, and whoever comes later finds it', async () => {
  const { calls, conversations } = opened.store;
  const of = at('ended');
  await calls.claim(of, by('one'));
  await calls.claim(of, by('two', 2));
  const done = { ok: true as const, value: 'done' };
  expect(await calls.end(of, done, [said])).toEqual(done);
  const failure = { code: 'SHELL_NOT_STARTED', message: 'no', retryable: false };
  expect(await calls.end(of, { ok: false, failure }, [{ ...said, message: { role: 'user', blocks: [] } }])).toEqual(
    done,
  );
  expect(await calls.claim(of, by('three'))).toEqual({ state: 'ended', outcome: done });
  expect(await calls.claim(of, by('four', 3))).toEqual({ state: 'ended', outcome: done });
  expect((await conversations.read(of)).map(({ message }) => message)).toEqual([said.message]);
  const [row] = await calls.list('ended');
  expect(row).toMatchObject({ state: 'done', attempt: 'two', tries: 2 });
  expect(row?.endedAt).toBeGreaterThanOrEqual(row?.begunAt ?? Infinity);
});

test('a failure is an outcome too; what nobody claimed has none', async () => {
  const { calls } = opened.store;
  const of = at('failed');
  await calls.claim(of, by('one'));
  const failure = { code: 'GIT_FAILED', message: 'no', retryable: false, details: { code: 1 } };
  await calls.end(of, { ok: false, failure }, []);
  expect(await calls.claim(of, by('two'))).toEqual({ state: 'ended', outcome: { ok: false, failure } });
  expect(await calls.list('failed')).toMatchObject([{ state: 'failed' }]);
  await expect(calls.end(at('failed', 7), { ok: true, value: null }, [])).rejects.toThrow(/unclaimed/);
});

/** Calls over a real store: what is claimed, what runs again, and what nobody does a second time. */
import { expect, test } from 'vitest';
import { builtInRegistry } from '../../../systems/built-in.ts';
import { Failure } from '../../../world/failures/failures.ts';
import { runCall } from '../../../activities/turns/run-call.ts';
import type { Json, JsonObject } from '../../../language/json.ts';
import { useStore } from '../../store/harness/opened.ts';

const opened = useStore();
const { catalogue } = builtInRegistry();

interface Given {
  command?: string;
  params?: JsonObject;
  attempt?: number;
  tries?: number;
}

class Called {
  done = 0;
  readonly handle: string;

  constructor(handle: string) {
    this.handle = handle;
  }

  call(
    { command = 'code/shell/execute', params = {}, attempt = 1, tries = 1 }: Given = {},
    give: () => Json = () => ({ stdout: 'what it gave' }),
  ): Promise<Json> {
    const place = { conversation: 'steps.0@1', turn: 1, call: 0, id: 'call-1', ...(tries === 1 ? {} : { tries }) };
    const key = `steps.0@1/turn.1/call.0${tries === 1 ? '' : `#${tries}`}`;
    const { store } = opened;
    const perform = async (): Promise<Json> => {
      this.done += 1;
      return Promise.resolve(give());
    };
    return runCall({ store, catalogue }, place, { handle: this.handle, key, attempt, command, params }, { perform });
  }

  async rows(): Promise<string[]> {
    const rows = await opened.store.conversations.read({ handle: this.handle, conversation: 'steps.0@1' });
    return rows.map(({ message }) => JSON.stringify(message));
  }
}

const lost = (): never => {
  throw new Error('the worker is gone');
};
const refuse = (): never => {
  throw new Failure('SHELL_NOT_STARTED', 'there is no such program', { details: { program: 'x' } });
};
const away = (): never => {
  throw new Failure('STORE_UNAVAILABLE', 'the database does not answer');
};
const unknown = { code: 'CALL_OUTCOME_UNKNOWN' };

test('a call that ended is not made again, and gives the same', async () => {
  const called = new Called('call-once');
  const first = await called.call();
  expect(await called.call({ attempt: 2 }, lost)).toEqual(first);
  expect(called.done).toBe(1);
  expect(await called.rows()).toEqual([expect.stringContaining('what it gave')]);
});

test('nobody knows what came of one that was begun, and only a decision begins it again', async () => {
  const called = new Called('call-lost');
  await expect(called.call({}, lost)).rejects.toThrow('gone');
  await expect(called.call({ attempt: 2 })).rejects.toMatchObject(unknown);
  await expect(called.call({ attempt: 1 })).rejects.toMatchObject(unknown);
  expect(called.done).toBe(1);
  await called.call({ tries: 2 });
  expect(called.done).toBe(2);
  await called.call({ tries: 3 });
  expect(called.done).toBe(2);
  expect(await called.rows()).toHaveLength(1);
});

test('a failure is known: it is kept, and given again', async () => {
  const called = new Called('call-failed');
  const failure = { code: 'SHELL_NOT_STARTED', message: 'there is no such program', details: { program: 'x' } };
  await expect(called.call({}, refuse)).rejects.toMatchObject(failure);
  await expect(called.call({ attempt: 2 })).rejects.toMatchObject(failure);
  expect(called.done).toBe(1);
  expect(await called.rows()).toEqual([]);
});

test('while the store is away nobody says that a call failed', async () => {
  const called = new Called('call-unstored');
  await expect(called.call({}, away)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  await expect(called.call({ attempt: 2 })).rejects.toMatchObject(unknown);
});

test.each([
  ['code/read', { path: 'a' }],
  ['code/git', { operation: 'status' }],
])('%s only reads: it is not claimed, and one whose worker was lost is handed back', async (command, params) => {
  const called = new Called(`call-read-${command}`);
  await expect(called.call({ command, params }, lost)).rejects.toThrow('gone');
  await expect(called.call({ command, params, attempt: 2 })).rejects.toMatchObject(unknown);
  await called.call({ command, params, tries: 2 });
  expect(called.done).toBe(2);
  expect(await opened.store.calls.list(called.handle)).toEqual([]);
});

test.each(['data/create', 'sentinel/run', 'sentinel/pause'])(
  '%s happens once for its key: it runs again by itself',
  async (command) => {
    const called = new Called(`call-keyed-${command}`);
    await expect(called.call({ command }, lost)).rejects.toThrow('gone');
    await called.call({ command, attempt: 2 });
    expect(called.done).toBe(2);
    expect(await opened.store.calls.list(called.handle)).toEqual([]);
  },
);

test('a command that nobody knows is claimed', async () => {
  const called = new Called('call-foreign');
  await called.call({ command: 'own/thing' });
  expect(await opened.store.calls.list(called.handle)).toMatchObject([{ state: 'done' }]);
});

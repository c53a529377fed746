/** Leases as a long command asks for them: waiting, leaving, ending, and what is refused. */
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { type Command, type CommandContext, type Context, defineCommand } from '../../../operations/command.ts';
import { withLeases } from '../../../operations/leases.ts';
import { createRegistry } from '../../../operations/registry.ts';
import { Value } from '../../../language/model.ts';
import type { Json } from '../../../language/json.ts';
import { started, useStore } from '../../store/harness/opened.ts';
import { commandContext } from '../harness/command-context.ts';

const opened = useStore();
const handle = 'leasing';
beforeAll(() => opened.store.events.append(handle, [started(1)]));

const command = (run: (context: Context) => Promise<Json>, over: Partial<Command> = {}): Command =>
  defineCommand({
    name: 'lease/use',
    permission: 'read',
    speed: 'long',
    timeoutMs: 60_000,
    params: z.strictObject({}),
    result: Value,
    run: (_params, context) => run(context),
    ...over,
  });

let keys = 0;
function contextOf(over: Partial<CommandContext> = {}): CommandContext {
  const { store } = opened;
  const context = commandContext('/project', { store, key: `steps.${(keys += 1)}@1`, ...over });
  return { ...context, run: { ...context.run, handle, project: '/project' }, session: store.session() };
}

/** As the activity of a step performs it. */
const perform = (run: (context: Context) => Promise<Json>, over: Partial<CommandContext> = {}): Promise<Json> =>
  withLeases(contextOf(over), (leased) => createRegistry([command(run)]).run('lease/use', {}, leased));

const standing = async (lease: string): Promise<string[]> =>
  (await opened.store.leases.places(1_000))
    .filter(({ name }) => name === lease)
    .map(({ isTaken }) => (isTaken ? 'has' : 'waits'));

const until = async (lease: string, expected: string[]): Promise<void> => {
  await expect.poll(() => standing(lease), { timeout: 10_000 }).toEqual(expected);
};

/** Has its place until `gate` opens. */
function holder(lease: string, capacity = 1): { ended: Promise<Json>; open: () => void } {
  const gate = new AbortController();
  const opening = new Promise<null>((resolve) =>
    gate.signal.addEventListener('abort', () => resolve(null), { once: true }),
  );
  const ended = perform(async (context) => {
    await context.lease(lease, { capacity });
    return opening;
  });
  return { ended, open: () => gate.abort() };
}

test('of seven at most two have a place at a time, all have had one, and none has one at its end', async () => {
  let now = 0;
  let most = 0;
  const ended = await Promise.all(
    Array.from({ length: 7 }, (_, n) =>
      perform(async (context) => {
        await context.lease('seven', { capacity: 2 });
        most = Math.max(most, (now += 1));
        await sleep(30);
        now -= 1;
        return n;
      }),
    ),
  );
  expect(ended).toEqual([0, 1, 2, 3, 4, 5, 6]);
  expect(most).toBe(2);
  expect(await standing('seven')).toEqual([]);
});

test('it is left by a command that fails, and by one that leaves it and goes on', async () => {
  const failing = perform(async (context) => {
    await context.lease('left', { capacity: 1 });
    throw new Error('no luck');
  });
  await expect(failing).rejects.toThrow('no luck');
  expect(await standing('left')).toEqual([]);
  await perform(async (context) => {
    const leave = await context.lease('left', { capacity: 1 });
    const second = holder('left');
    await until('left', ['has', 'waits']);
    await leave();
    await leave();
    second.open();
    return second.ended;
  });
});

test('a step has one place, however often it is asked for, until all have left it', async () => {
  await perform(async (context) => {
    const [leave, again] = await Promise.all([
      context.lease('same', { capacity: 1 }),
      context.lease('same', { capacity: 1 }),
    ]);
    await leave();
    expect(await standing('same')).toEqual(['has']);
    await again();
    expect(await standing('same')).toEqual([]);
    // Asked for before the last one is left.
    const last = await context.lease('same', { capacity: 1 });
    const leaving = last();
    await context.lease('same', { capacity: 1 });
    await leaving;
    expect(await standing('same')).toEqual(['has']);
    return null;
  });
  expect(await standing('same')).toEqual([]);
});

test('a command that another calls has the place of their step', async () => {
  const inner = command(
    async (context) => {
      await context.lease('calls', { capacity: 1 });
      return 'had it';
    },
    { name: 'lease/inner', permission: 'write' },
  );
  const outer = command(
    async (context) => {
      await context.lease('calls', { capacity: 1 });
      return context.call('lease/inner', {}, { key: `${context.key}+1` });
    },
    { permission: 'write' },
  );
  const registry = createRegistry([outer, inner]);
  expect(await withLeases(contextOf(), (context) => registry.run('lease/use', {}, context))).toBe('had it');
});

test('one that is cancelled while it waits leaves, and so does one whose time is over', async () => {
  const first = holder('waits');
  await until('waits', ['has']);
  const cancel = new AbortController();
  const cancelled = perform((context) => context.lease('waits', { capacity: 1 }).then(() => null), {
    signal: cancel.signal,
  });
  await until('waits', ['has', 'waits']);
  cancel.abort(new Error('enough'));
  await expect(cancelled).rejects.toThrow('enough');
  await until('waits', ['has']);
  const late = perform((context) => context.lease('waits', { capacity: 1 }).then(() => null), { timeoutMs: 300 });
  await expect(late).rejects.toMatchObject({
    code: 'STEP_TIMEOUT',
    message:
      'lease/use waited for the lease "waits" until its 300 ms were over, behind leasing; give the step more time',
  });
  expect(await standing('waits')).toEqual(['has']);
  first.open();
  await first.ended;
});

test('a step that may take years waits like any other', async () => {
  expect(
    await perform((context) => context.lease('years', { capacity: 1 }).then(() => null), { timeoutMs: 1e12 }),
  ).toBe(null);
});

test('another attempt at the step ends the one before it, and has its place then', async () => {
  const key = 'steps.taken@1';
  const first = perform(
    async (context) => {
      await context.lease('attempts', { capacity: 1 });
      await new Promise((_resolve, reject) =>
        context.signal.addEventListener('abort', () => reject(context.signal.reason as Error), { once: true }),
      );
      return null;
    },
    { key },
  );
  const ended = expect(first).rejects.toThrow('the place in the lease "attempts" was lost');
  await until('attempts', ['has']);
  const second = perform((context) => context.lease('attempts', { capacity: 1 }).then(() => 'had it'), { key });
  await ended;
  expect(await second).toBe('had it');
  expect(await standing('attempts')).toEqual([]);
}, 40_000);

test.each([
  ['an empty name', '', { capacity: 1 }, 'the name of a lease has 1 to 200 characters'],
  ['a long name', 'x'.repeat(201), { capacity: 1 }, 'and this one 201'],
  ['no place', 'refused', { capacity: 0 }, '"capacity" of the lease "refused" is a whole number from 1'],
  ['half a place', 'refused', { capacity: 0.5 }, 'is a whole number'],
  ['no such scope', 'refused', { capacity: 1, scope: 'all' as 'project' }, '"scope" of the lease "refused" is'],
])('%s is refused', async (_what, name, terms, message) => {
  await expect(perform((context) => context.lease(name, terms).then(() => null))).rejects.toMatchObject({
    code: 'LEASE_REFUSED',
    message: expect.stringContaining(message) as string,
  });
});

const asks = (context: Context): Promise<Json> => context.lease('refused', { capacity: 1 }).then(() => null);
const refused = (message: string) => ({ code: 'LEASE_REFUSED', message: expect.stringContaining(message) as string });

test('a quick command, one that has written, and one that asks for too many are refused', async () => {
  const quick = createRegistry([command(asks, { speed: 'quick' })]);
  await expect(withLeases(contextOf(), (leased) => quick.run('lease/use', {}, leased))).rejects.toMatchObject(
    refused('only a long command waits for a lease'),
  );
  const session = opened.store.session();
  const writes = async (context: Context): Promise<Json> => {
    await context.session.write("insert into permits (subject, id, at) values ('leases', 'x', now())", []);
    return asks(context);
  };
  const written = createRegistry([command(writes)]);
  await expect(
    withLeases({ ...contextOf(), session }, (leased) => written.run('lease/use', {}, leased)),
  ).rejects.toMatchObject(refused('before the first statement'));
  await session.close();
  const many = perform(async (context) => {
    for (let n = 0; n <= 20; n += 1) await context.lease(`many ${n}`, { capacity: 1 });
    return null;
  });
  await expect(many).rejects.toMatchObject(refused('at most 20 leases'));
  expect((await opened.store.leases.places(1_000)).filter(({ name }) => name.startsWith('many'))).toEqual([]);
});

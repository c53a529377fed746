/** Groups of runs on real services: runs that wait in order, are skipped, or cancel the one before. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Concurrency, Definition, Step } from '../../../language/model.ts';
import { defined } from '../../../language/defined.ts';
import { createSchedule, steerSchedule } from '../../../runs/schedules.ts';
import { catalogue } from '../../catalogue.ts';
import { create, once } from '../harness/definitions.ts';
import { Harness, until } from '../harness/harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker();
});
afterAll(() => harness.close());

const go: Step = { type: 'watch', event: '$name:go' };

/** It says what it does in the collection `log`, and works until somebody lets it go. */
function grouped(onConflict?: Concurrency['onConflict'], steps: Step[] = [go]): Definition {
  return once(
    'grouped',
    [create('$log', { name: '$name', did: 'began' }), ...steps, create('$log', { name: '$name', did: 'ended' })],
    {
      inputs: { log: 'log', name: 'a', target: 'prod' },
      concurrency: { group: 'deploy-$log-$target', ...defined({ onConflict }) },
      always: [create('$log', { name: '$name', did: 'tidied' })],
    },
  );
}

const words = async (log: string): Promise<string[]> =>
  (await harness.rows(log)).map(({ name, did }) => `${name as string} ${did as string}`);

const begun = (log: string, name: string): Promise<void> =>
  until(async () => (await words(log)).includes(`${name} began`));

const letGo = (name: string): Promise<unknown> =>
  harness.store.triggers.publish({ source: '@emit', id: name, name: `${name}:go`, data: null, project: null });

const waits = (handle: string): Promise<void> =>
  harness.untilEvent(handle, (event) => event.type === 'group' && event.state === 'waiting');

test('three runs go on one after the other, in the order in which they were started', async () => {
  const start = (name: string): Promise<string> => harness.start(grouped(), { inputs: { log: 'three', name } });
  const first = await start('a1');
  await begun('three', 'a1');
  const second = await start('a2');
  await waits(second);
  const third = await start('a3');
  await waits(third);
  expect((await harness.state(third)).reason).toBe(`waits for the group "deploy-three-prod" behind ${first}`);
  const places = await harness.store.leases.placesOf([first, second, third]);
  expect(places.map(({ handle, isTaken, holders, ahead }) => ({ handle, isTaken, holders, ahead }))).toEqual(
    expect.arrayContaining([
      { handle: first, isTaken: true, holders: [first], ahead: 0 },
      { handle: second, isTaken: false, holders: [first], ahead: 1 },
      { handle: third, isTaken: false, holders: [first], ahead: 2 },
    ]),
  );
  const status = await harness.command('status', third);
  expect(status.out).toContain(`waits for the group "deploy-three-prod" behind ${first}, with 1 more before this run`);
  expect((await harness.command('status', first)).out).toContain('has the group "deploy-three-prod"');
  expect((await harness.command('list')).out).toMatch(/running, waits for deploy-three-prod/);
  const listed = JSON.parse((await harness.command('list', '--json')).out) as { handle: string; group: unknown }[];
  expect(listed.find(({ handle }) => handle === second)?.group).toEqual({
    name: 'deploy-three-prod',
    state: 'waiting',
    behind: first,
    ahead: 1,
  });
  for (const name of ['a1', 'a2', 'a3']) {
    await begun('three', name);
    await letGo(name);
  }
  for (const handle of [first, second, third])
    expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  expect(await words('three')).toEqual(
    ['a1', 'a2', 'a3'].flatMap((name) => [`${name} began`, `${name} ended`, `${name} tidied`]),
  );
  expect(await harness.store.leases.placesOf([first, second, third])).toEqual([]);
});

test('of eight that are started at once one goes on at a time', async () => {
  const quick = grouped('queue', [{ type: 'shell', command: 'sleep 0.05' }]);
  const handles = await Promise.all(
    Array.from({ length: 8 }, (_, n) => harness.start(quick, { inputs: { log: 'crowd', name: `c${n}` } })),
  );
  for (const handle of handles) expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  const said = await words('crowd');
  expect(said).toHaveLength(24);
  for (let at = 0; at < said.length; at += 3) {
    const [name = ''] = said[at]?.split(' ') ?? [];
    expect(said.slice(at, at + 3)).toEqual([`${name} began`, `${name} ended`, `${name} tidied`]);
  }
});

test('with skip a run ends at once, and says who has the group', async () => {
  const first = await harness.start(grouped('skip'), { inputs: { log: 'skip', name: 's1' } });
  await begun('skip', 's1');
  const { handle, result } = await harness.run(grouped('skip'), { inputs: { log: 'skip', name: 's2' } });
  expect(result).toMatchObject({ outcome: 'stopped', limit: 'concurrency', failure: { code: 'GROUP_HELD' } });
  const status = await harness.command('status', handle);
  expect(status.out).toContain('stopped (concurrency)');
  expect(status.out).toContain(`the group "deploy-skip-prod" is held by the run ${first}`);
  expect(await harness.store.inbox.list({ handle })).toEqual([]);
  await letGo('s1');
  await harness.result(first);
  const again = await harness.start(grouped('skip'), { inputs: { log: 'skip', name: 's3' } });
  await letGo('s3');
  expect(await harness.result(again)).toMatchObject({ outcome: 'completed' });
  expect((await words('skip')).filter((word) => word.startsWith('s2'))).toEqual([]);
});

test('with cancel those before it are cancelled, clean up, and then it goes on', async () => {
  const first = await harness.start(grouped('cancel'), { inputs: { log: 'cancel', name: 'k1' } });
  await begun('cancel', 'k1');
  const waiting = await harness.start(grouped('queue'), { inputs: { log: 'cancel', name: 'k2' } });
  await waits(waiting);
  const last = await harness.start(grouped('cancel'), { inputs: { log: 'cancel', name: 'k3' } });
  await begun('cancel', 'k3');
  await letGo('k3');
  expect(await harness.result(first)).toMatchObject({ outcome: 'cancelled' });
  expect(await harness.result(waiting)).toMatchObject({ outcome: 'cancelled' });
  expect(await harness.result(last)).toMatchObject({ outcome: 'completed' });
  expect(await words('cancel')).toEqual(['k1 began', 'k1 tidied', 'k3 began', 'k3 ended', 'k3 tidied']);
});

test.each(['cancel', 'queue'] as const)(
  'a run (%s) that reaches its group after a later one that cancels the earlier ends',
  async (how) => {
    const log = `late-${how}`;
    const later = await harness.start(once('later', [{ type: 'watch', event: `${log}:go` }]));
    const lease = { kind: 'group', project: harness.project, name: `deploy-${log}-prod`, capacity: 1 } as const;
    await harness.store.leases.ask({ ...lease, handle: later, since: Date.now() + 60_000, whenHeld: 'end-earlier' });
    const { handle, result } = await harness.run(grouped(how), { inputs: { log, name: 'l1' } });
    expect(result).toMatchObject({ outcome: 'cancelled' });
    const status = await harness.command('status', handle);
    expect(status.out).toContain('cancelled');
    expect(await words(log)).toEqual([]);
    await letGo(log);
    expect(await harness.result(later)).toMatchObject({ outcome: 'completed' });
  },
);

test.each([
  ['stopped', 'stop', { outcome: 'stopped', limit: 'stop' }],
  ['cancelled', 'cancel', { outcome: 'cancelled' }],
] as const)('a run that waits can be %s, and those behind it move up', async (_what, verb, expected) => {
  const log = `ended-${verb}`;
  const first = await harness.start(grouped(), { inputs: { log, name: `${verb}1` } });
  await begun(log, `${verb}1`);
  const second = await harness.start(grouped(), { inputs: { log, name: `${verb}2` } });
  await waits(second);
  const third = await harness.start(grouped(), { inputs: { log, name: `${verb}3` } });
  await waits(third);
  if (verb === 'stop') await harness.say(second, 'stop');
  else await harness.workflow(second).cancel();
  expect(await harness.result(second)).toMatchObject(expected);
  await harness.untilEvent(third, (event) => event.type === 'group' && event.state === 'waiting' && event.ahead === 1);
  await letGo(`${verb}1`);
  await letGo(`${verb}3`);
  expect(await harness.result(first)).toMatchObject({ outcome: 'completed' });
  expect(await harness.result(third)).toMatchObject({ outcome: 'completed' });
  expect((await words(log)).filter((word) => word.startsWith(`${verb}2`))).toEqual([]);
});

test('a run continues as new while it waits, and keeps its place', async () => {
  const first = await harness.start(grouped(), { inputs: { log: 'new', name: 'n1' } });
  await begun('new', 'n1');
  const second = await harness.start(grouped(), { inputs: { log: 'new', name: 'n2' } });
  await waits(second);
  const third = await harness.start(grouped(), { inputs: { log: 'new', name: 'n3' }, continueEvery: 1 });
  await waits(third);
  const { runId } = await harness.workflow(third).describe();
  // The run before it ends: it asks again, and has made its turn of this history.
  await harness.say(second, 'stop');
  await until(async () => (await harness.workflow(third).describe()).runId !== runId);
  const fourth = await harness.start(grouped(), { inputs: { log: 'new', name: 'n4' } });
  await waits(fourth);
  for (const name of ['n1', 'n3', 'n4']) await letGo(name);
  for (const handle of [first, third, fourth])
    expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  expect((await words('new')).filter((word) => word.endsWith('began'))).toEqual(['n1 began', 'n3 began', 'n4 began']);
});

test('the time of a run begins when it has the group', async () => {
  const first = await harness.start(grouped(), { inputs: { log: 'time', name: 't1' } });
  await begun('time', 't1');
  const short: Definition = { ...grouped('queue', []), timeoutMs: 1_500 };
  const second = await harness.start(short, { inputs: { log: 'time', name: 't2' } });
  await waits(second);
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  await letGo('t1');
  await harness.result(first);
  expect(await harness.result(second)).toMatchObject({ outcome: 'completed' });
});

test('a run of a schedule, which has no row before its first task, takes the group too', async () => {
  const first = await harness.start(grouped(), { inputs: { log: 'clock', name: 'q1' } });
  await begun('clock', 'q1');
  const { store, client, taskQueue, project } = harness;
  const parts = { store, client, catalogue, taskQueue };
  const definition = grouped('queue', []);
  const given = { definition, inputs: { log: 'clock', name: 'q2' }, project, persona: 'ada', isPaused: true };
  await createSchedule(parts, { ...given, id: 'grouped-clock', cron: '@yearly' });
  await steerSchedule(parts, 'grouped-clock', 'trigger');
  let handle = '';
  await until(async () => {
    handle =
      (await store.runs.list({ status: 'running' })).find((run) => run.handle.startsWith('grouped-clock'))?.handle ??
      '';
    return handle !== '';
  });
  await waits(handle);
  await letGo('q1');
  await harness.result(first);
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  await steerSchedule(parts, 'grouped-clock', 'delete');
});

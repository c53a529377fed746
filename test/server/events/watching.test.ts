/** Background processes and events on real services: example 1, order of emit and watch, and a worker that dies meanwhile. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Json } from '../../../language/json.ts';
import type { Definition, Step } from '../../../language/model.ts';
import { parseDefinition } from '../../../language/read/definition.ts';
import { create, once, shell } from '../harness/definitions.ts';
import { type Harness, until } from '../harness/harness.ts';
import { isAlive, useHarnesses } from '../harness/opened.ts';
import { catalogue } from '../../catalogue.ts';

const openHarness = useHarnesses();

const emit = (event: string, data: Json = null): Step => ({ type: 'emit', event, data });

function read(definition: unknown): Definition {
  const result = parseDefinition(definition, { catalogue });
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.definition;
}

/** Without its model: the step that would repair the source is a shell that does. */
const buildFixLoop = read({
  name: 'build-fix-loop',
  recipe: 'coding',
  steps: [
    {
      type: 'command',
      command: 'code/shell/execute',
      params: { command: 'npm run --silent build', wait: false },
      outputTo: 'build',
    },
    {
      type: 'command',
      command: 'code/shell/sentinel',
      params: {
        executionId: '$build.executionId',
        rules: [
          { pattern: 'error TS\\d+', classification: 'error', action: 'Emit' },
          { pattern: 'warning TS\\d+', classification: 'warning', action: 'Emit' },
          { pattern: 'Successfully compiled', classification: 'success', action: 'Emit' },
        ],
      },
    },
    { type: 'watch', executionId: '$build.executionId', until: 'finished', outputTo: 'result' },
    {
      type: 'condition',
      check: '$result.exitCode === 0',
      then: [
        { type: 'command', command: 'code/git', params: { operation: 'add', paths: ['.'] } },
        { type: 'command', command: 'code/git', params: { operation: 'commit', message: 'Build passes' } },
      ],
      else: [{ type: 'shell', command: 'echo "$errors" && touch fixed', env: { errors: '$result.lines' } }],
    },
  ],
  loop: { type: 'until', check: '$result.exitCode === 0' },
  timeoutMs: 300_000,
});

test.concurrent('example 1, the build-fix loop, ends with a commit once the build passes', async () => {
  const harness = await openHarness();
  await harness.startWorker();
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: harness.project, encoding: 'utf8' });
  git('init', '-q');
  git('config', 'user.email', 'a@example.org');
  git('config', 'user.name', 'A');
  const build = `if [ -e fixed ]; then echo 'Successfully compiled'; else echo 'a.ts(1,1): error TS2304: no name'; exit 2; fi`;
  writeFileSync(join(harness.project, 'package.json'), JSON.stringify({ scripts: { build } }));
  const { handle, result } = await harness.run(buildFixLoop);
  expect(result).toMatchObject({ outcome: 'completed', iterations: 2 });
  expect(result.outputs['result']).toMatchObject({
    exitCode: 0,
    length: 1,
    lines: [{ line: 'Successfully compiled', classification: 'success' }],
  });
  expect(git('log', '--format=%s').trim()).toBe('Build passes');
  const glob = `sentinel:${handle}:line`;
  const first = await harness.store.signals.next({ handle, glob, withCause: false, consumed: {} });
  expect(first?.data).toMatchObject({ classification: 'error', n: 1 });
});

test.concurrent('a process that a worker dies with is started again, and the watch of it goes on', async () => {
  const harness = await openHarness();
  const worker = await harness.startWorker();
  const definition = once('watched', [
    {
      type: 'command',
      command: 'code/shell/execute',
      params: { command: 'echo $$ >> pids; echo begin; sleep 3; echo end', wait: false },
      outputTo: 'process',
    },
    {
      type: 'command',
      command: 'code/shell/execute',
      params: { command: 'echo $$ >> served; sleep 600', wait: false },
    },
    { type: 'watch', executionId: '$process.executionId', outputTo: 'result' },
    create('kept', { lines: '$result.length' }),
  ]);
  const handle = await harness.start(definition);
  const pids = (name: string): number[] =>
    existsSync(join(harness.project, name))
      ? readFileSync(join(harness.project, name), 'utf8').trim().split('\n').map(Number)
      : [];
  await until(() => pids('pids').length === 1 && pids('served').length === 1);
  await sleep(500);
  await worker.kill9();
  await harness.startWorker();
  const result = await harness.result(handle);
  expect(result.outcome).toBe('completed');
  expect(result.outputs['result']).toMatchObject({ exitCode: 0, lines: [{ line: 'begin' }, { line: 'end' }] });
  expect(await harness.rows('kept')).toEqual([{ lines: 2 }]);
  // Both were started again, and nothing outlives the run.
  await until(
    () =>
      pids('pids').length === 2 &&
      pids('served').length === 2 &&
      [...pids('pids'), ...pids('served')].every((pid) => !isAlive(pid)),
  );
});

test.concurrent('a watch loses no event, whether it came before or after, or while no worker ran', async () => {
  const harness = await openHarness();
  const worker = await harness.startWorker();
  const watcher = once('watcher', [
    shell('sleep 1'),
    ...['a', 'b', 'c'].map((outputTo): Step => ({ type: 'watch', event: 'order:*', outputTo })),
  ]);
  const waiting = await harness.start(watcher);
  await harness.run(once('early', [emit('order:1', 1), emit('other')]));
  const state = async (name: string): Promise<boolean> =>
    (await harness.events(waiting)).some((event) => event.type === 'step-finished' && event.key === name);
  await until(() => state('steps.1@1'));
  await harness.run(once('later', [emit('order:2', 2)], { durability: 'step' }));
  await until(() => state('steps.2@1'));
  await worker.kill9();
  await harness.store.signals.publishAll([{ handle: 'outside', key: 'k', name: 'order:3', data: 3 }]);
  await harness.startWorker();
  const { outputs } = await harness.result(waiting);
  expect(['a', 'b', 'c'].map((name) => (outputs[name] as { data: number }).data)).toEqual([1, 2, 3]);
});

test.concurrent('many runs loop over the same events, each over all of them, through continue-as-new', async () => {
  const harness = await openHarness();
  await harness.startWorker();
  await harness.startWorker();
  const loop: Definition = {
    name: 'loop',
    loop: { type: 'event', event: 'tick:*', max: 6 },
    timeoutMs: 120_000,
    steps: [shell('echo $event.n', { outputTo: 'said' }), create('ticks', { run: '{{input.me}}', n: '$event.n' })],
  };
  const handles = await Promise.all(
    Array.from({ length: 12 }, (_, i) =>
      harness.start(loop, { inputs: { me: i }, ...(i % 2 === 0 ? { continueEvery: 3 } : {}) }),
    ),
  );
  for (let n = 1; n <= 6; n += 1) {
    await harness.store.signals.publishAll([{ handle: 'outside', key: `tick-${n}`, name: `tick:${n}`, data: { n } }]);
    await sleep(100);
  }
  const results = await Promise.all(handles.map((handle) => harness.result(handle)));
  expect(results.map(({ outcome, iterations }) => `${outcome} ${iterations}`)).toEqual(
    handles.map(() => 'completed 6'),
  );
  const rows = await harness.rows('ticks');
  for (const [i] of handles.entries())
    expect(rows.filter((row) => Number(row['run']) === i).map((row) => row['n'])).toEqual([1, 2, 3, 4, 5, 6]);
});

test.concurrent('a stop, and a cancellation, end a run that waits for an event', async () => {
  const harness = await openHarness();
  await harness.startWorker();
  const waits = once('waits', [{ type: 'watch', event: 'never' }]);
  const [stopped, cancelled] = await Promise.all([harness.start(waits), harness.start(waits)]);
  for (const handle of [stopped, cancelled]) await harness.untilEvent(handle, (event) => event.type === 'step-started');
  await harness.say(stopped, 'stop');
  await harness.workflow(cancelled).cancel();
  expect((await harness.result(stopped)).outcome).toBe('stopped');
  expect((await harness.result(cancelled)).outcome).toBe('cancelled');
});

test.concurrent.each([
  ['completes', 'completed', () => Promise.resolve()],
  ['fails', 'failed', () => Promise.resolve()],
  ['is cancelled', 'cancelled', (harness: Harness, handle: string) => harness.workflow(handle).cancel()],
  [
    'is terminated from outside',
    null,
    (harness: Harness, handle: string) => harness.workflow(handle).terminate('enough'),
  ],
] as const)(
  'a process lives through continue-as-new, and goes with its run when that %s',
  async (_name, outcome, end) => {
    const harness = await openHarness();
    await harness.startWorker();
    const definition = once('lives', [
      {
        type: 'command',
        command: 'code/shell/execute',
        params: {
          command: `echo $$ >> pid; env -i setsid sh -c 'echo $$ >> pid; exec sleep 600' & sleep 600`,
          wait: false,
        },
      },
      shell('true'),
      shell('true'),
      shell(outcome === 'completed' || outcome === 'failed' ? 'sleep 1' : 'sleep 300'),
      ...(outcome === 'failed'
        ? [{ type: 'command', command: 'code/read', params: { path: 'nowhere' } } as const]
        : []),
    ]);
    const handle = await harness.start(definition, { continueEvery: 1 });
    const file = join(harness.project, 'pid');
    const pids = (): number[] => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').map(Number) : []);
    await until(() => pids().length === 2);
    await harness.untilEvent(handle, (event) => event.type === 'step-started' && event.key === 'steps.3@1');
    expect(pids().every(isAlive)).toBe(true);
    await end(harness, handle);
    if (outcome !== null) expect((await harness.result(handle)).outcome).toBe(outcome);
    await until(() => !pids().some(isAlive));
    expect(pids()).toHaveLength(2);
  },
);

/** Time travel on a real server: what was done before the fork happens no second time, what follows does. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Fork, ForkRequest } from '../../../client/history/fork-run.ts';
import { inlineBytesMax } from '../../../language/limits.ts';
import type { Definition } from '../../../language/model.ts';
import type { RunResult } from '../../../interpreter/outcome.ts';
import { ANSWER, EDIT } from '../../../workflows/messages/messages.ts';
import { buildBundle } from '../../../runs/bundle.ts';
import { counted, create, once, shell } from '../harness/definitions.ts';
import { forkOf } from '../harness/forked.ts';
import { Harness, steady, until } from '../harness/harness.ts';

let harness: Harness;
let bundle: { code: string };
beforeAll(async () => {
  bundle = { code: await buildBundle() };
  harness = await Harness.open();
  await harness.startWorker();
});
afterAll(() => harness.close());
beforeEach(() => writeFileSync(join(harness.project, 'log'), ''));

/** What the shell steps have done since it was last asked, in order. */
function done(): string[] {
  const path = join(harness.project, 'log');
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  writeFileSync(path, '');
  return lines;
}

const note = (text: string): string => `echo ${text} >> log; echo ${text}`;

const fork = (handle: string, at: string, more: Partial<ForkRequest> = {}): Promise<Fork> =>
  forkOf(harness, bundle, { handle, at, ...more });

async function approve(handle: string, id: string): Promise<void> {
  await until(async () =>
    (await harness.store.inbox.list({ handle })).some((item) => item.id === id && item.state === 'open'),
  );
  await harness.workflow(handle).executeUpdate(ANSWER, { args: [{ id, choice: 'approve', by: 'ada' }] });
}

const outputsOf = ({ outputs }: RunResult): unknown => steady(outputs);

const nested = once('inner', [shell(note('nested'), { outputTo: 'inner' }), shell(note('nested-again'))]);

const whole = (last = 'end-$first.stdout'): Definition =>
  once('whole', [
    shell(note('first'), { outputTo: 'first' }),
    { type: 'loop', loop: { type: 'count', max: 3 }, steps: [shell(note('turn'), { outputTo: 'turn' })] },
    {
      type: 'parallel',
      branches: [
        [shell(`sleep 0.3; ${note('left')}`, { outputTo: 'left' })],
        [{ type: 'sentinel', definition: nested, outputTo: 'child' }],
      ],
    },
    { type: 'approval', message: 'Go on?', outputTo: 'said' },
    create('forked', { from: '$left.stdout' }, 'row'),
    create('forked', { again: true }),
    shell(note(last), { outputTo: 'last' }),
  ]);

test('a fork of any step goes on with the results so far', async () => {
  const handle = await harness.start(whole());
  await approve(handle, 'steps.3@1');
  const result = await harness.result(handle);
  expect(done().toSorted()).toEqual(['end-first', 'first', 'left', 'nested', 'nested-again', 'turn', 'turn', 'turn']);

  const last = await fork(handle, 'steps.6@1');
  expect(last).toMatchObject({ of: handle, at: 'steps.6@1' });
  const again = await harness.result(last.handle);
  expect(done()).toEqual(['end-first']);
  expect(outputsOf(again)).toEqual(outputsOf(result));
  const events = await harness.events(last.handle);
  expect(events.map(({ type, key }) => ({ type, key }))).toEqual([
    { type: 'run-started', key: '' },
    { type: 'step-started', key: 'steps.6@1' },
    { type: 'step-finished', key: 'steps.6@1' },
    { type: 'run-finished', key: '' },
  ]);
  expect(events[0]).toMatchObject({ origin: { type: 'fork', of: handle, at: 'steps.6@1' } });

  const middle = await fork(handle, 'steps.1.steps.0@1.3');
  await approve(middle.handle, 'steps.3@1');
  expect(outputsOf(await harness.result(middle.handle))).toMatchObject({
    first: { stdout: 'first\n' },
    last: { stdout: expect.stringContaining('end-first') },
  });
  expect(done().toSorted()).toEqual(['end-first', 'left', 'nested', 'nested-again', 'turn']);

  // The second of two quick steps that ran in one segment: both run again.
  const quick = await fork(handle, 'steps.5@1', { set: { first: { stdout: 'other' } } });
  expect(quick.at).toBe('steps.4@1');
  expect((await harness.result(quick.handle)).outputs).toMatchObject({
    last: { stdout: expect.stringContaining('end-other') },
  });
  expect(done()).toEqual(['end-other']);
  expect((await harness.rows('forked')).length).toBe(6);

  const edited = await fork(handle, 'steps.6@1', { definition: whole('edited-$turn.stdout') });
  expect((await harness.result(edited.handle)).outputs).toMatchObject({
    last: { stdout: expect.stringContaining('edited-turn') },
  });
  expect(done()).toEqual(['edited-turn']);

  const inner = await fork(`${handle}/steps.2.branches.1.0@1`, 'steps.1@1');
  expect(await harness.result(inner.handle)).toMatchObject({
    outcome: 'completed',
    outputs: { inner: { stdout: 'nested\n' } },
  });
  expect(done()).toEqual(['nested-again']);
});

test('a fork that cannot be is refused, and nothing starts', async () => {
  const { handle } = await harness.run(
    once('short', [shell('true'), { type: 'condition', check: 'true', then: [shell('true')] }]),
  );
  await expect(fork(handle, 'steps.9@1')).rejects.toMatchObject({
    code: 'FORK_KEY_NOT_REACHED',
    message: expect.stringContaining('steps.0@1'),
  });
  await expect(fork(handle, 'steps.1@1/steps.0@1')).rejects.toMatchObject({
    message: expect.stringContaining(`sentinel fork ${handle}/steps.1@1 --at steps.0@1`),
  });
  const other = once('short', [shell('true'), shell('true')]);
  await expect(fork(handle, 'steps.1.then.0@1', { definition: other })).rejects.toMatchObject({
    code: 'FORK_DEFINITION_DIFFERS',
    message: expect.stringContaining('"steps.1" is an open condition step'),
  });
  const shorter = fork(handle, 'steps.1@1', { definition: once('short', [shell('true')]) });
  await expect(shorter).rejects.toMatchObject({
    code: 'FORK_DEFINITION_DIFFERS',
    message: expect.stringContaining('it has no "steps.1" to begin with: "steps" has 1 step.'),
  });
  expect((await harness.store.runs.list({})).filter(({ name }) => name === 'short')).toHaveLength(1);
});

test('a step from before a fork began is named with the run that has it', async () => {
  const { handle } = await harness.run(once('earlier', [shell('true'), shell('true'), shell('true')]));
  const later = await fork(handle, 'steps.1@1');
  await harness.result(later.handle);
  const last = await fork(later.handle, 'steps.2@1');
  await harness.result(last.handle);
  await expect(fork(last.handle, 'steps.0@1')).rejects.toMatchObject({
    code: 'FORK_KEY_NOT_REACHED',
    message: expect.stringContaining(`sentinel fork ${handle} --at steps.0@1`),
  });
});

/** Its second step fails where there is no such file; its first result is too large for a history. */
const reading = (path: string): Definition =>
  once('reading', [
    shell(`${note('once')} | wc -l >> log; head -c 100000 /dev/zero | tr '\\0' x`, { outputTo: 'before' }),
    { type: 'command', command: 'code/read', params: { path }, outputTo: 'read' },
  ]);

test('a run that failed is forked at the failing step, with the definition mended', async () => {
  const { handle, result } = await harness.run(reading('no-such-file'));
  expect(result.outcome).toBe('failed');
  expect(JSON.stringify(result.outputs['before']).length).toBeGreaterThan(inlineBytesMax);
  const mended = await fork(handle, 'steps.1@1', { definition: reading('log') });
  expect(await harness.result(mended.handle)).toMatchObject({
    outcome: 'completed',
    outputs: { before: result.outputs['before'], read: { content: 'once\n1\n' } },
  });
  expect(done()).toEqual(['once', '1']);
});

const frugal = (steps: number): Definition =>
  once(
    'frugal',
    ['a', 'b', 'c', 'd'].map((text) => shell(note(text))),
    { safety: { budget: { steps } } },
  );

test('what was used of a budget is used in the fork, too', async () => {
  const { handle, result } = await harness.run(frugal(3));
  expect(result).toMatchObject({ outcome: 'stopped', limit: 'budget.steps' });
  const forked = await fork(handle, 'steps.1@1');
  expect(await harness.result(forked.handle)).toMatchObject({ outcome: 'stopped', limit: 'budget.steps' });
  expect(done()).toEqual(['a', 'b', 'c', 'b', 'c']);
  const larger = await fork(handle, 'steps.2@1', { definition: frugal(4) });
  expect(await harness.result(larger.handle)).toMatchObject({ outcome: 'completed' });
  expect(done()).toEqual(['c', 'd']);
});

test('a run that was changed while it ran is forked as it was changed', async () => {
  const handle = await harness.start(
    once('changed', [shell('while [ ! -f go ]; do sleep 0.1; done'), shell(note('old')), shell('true')]),
  );
  await harness.untilEvent(handle, (event) => event.type === 'step-started');
  const edit = { op: 'update', path: 'steps.1', step: shell(note('changed')), revision: 0, by: 'ada' };
  await harness.workflow(handle).executeUpdate(EDIT, { args: [edit] });
  writeFileSync(join(harness.project, 'go'), '');
  await harness.result(handle);
  expect(done()).toEqual(['changed']);
  const key =
    (await harness.events(handle)).find((event) => event.type === 'step-started' && event.key.startsWith('steps.1'))
      ?.key ?? '';
  const forked = await fork(handle, key);
  expect(await harness.result(forked.handle)).toMatchObject({ outcome: 'completed' });
  expect(done()).toEqual(['changed']);
});

test('a run that continued as new, and one that is under way, are forked by the command line, and replayed', async () => {
  const { handle } = await harness.run(
    counted('long', 6, [shell(note('pass-$iteration')), create('long', { n: '$iteration' })]),
    { continueEvery: 3 },
  );
  expect(done()).toHaveLength(6);
  const forked = await sentinel(['fork', handle, '--at', 'steps.0@5', '--id', 'forked-again', '--json']);
  expect(forked).toMatchObject({ code: 0, report: { handle: 'forked-again', outcome: 'completed', iterations: 6 } });
  expect(done()).toEqual(['pass-5', 'pass-6']);

  const replayed = await sentinel(['replay', handle, '--json']);
  expect(replayed).toMatchObject({ code: 0, report: { ok: true, handle, differences: [] } });
  expect((replayed.report as { parts: unknown[] }).parts.length).toBeGreaterThan(2);
  expect(await sentinel(['replay', 'forked-again', '--json'])).toMatchObject({ code: 0, report: { ok: true } });

  const slow = await harness.start(once('slow', [shell(note('early')), shell(`sleep 5; ${note('late')}`)]));
  await harness.untilEvent(slow, (event) => event.type === 'step-started' && event.key === 'steps.1@1');
  expect(await sentinel(['fork', slow, '--at', 'steps.1@1', '--detach', '--json'])).toMatchObject({
    code: 0,
    report: { origin: { type: 'fork', of: slow, at: 'steps.1@1' } },
  });
  expect(await sentinel(['replay', slow, '--json'])).toMatchObject({ code: 0, report: { ok: true } });
  await harness.result(slow);

  const file = join(harness.project, 'history.json');
  writeFileSync(file, historyToJSON(await harness.history(slow)).replaceAll('"steps.1@1"', '"moved.1@1"'));
  expect(await sentinel(['replay', '--history', file, '--json'])).toMatchObject({
    code: 1,
    report: { ok: false, parts: [{ ok: false, divergence: { message: expect.stringContaining('moved.1@1') } }] },
  });
  expect(await sentinel(['replay', 'no-such-run', '--json'])).toMatchObject({ code: 4 });
  expect(await sentinel(['fork', 'no-such-run', '--at', 'steps.0@1', '--json'])).toMatchObject({ code: 4 });
  expect(await sentinel(['fork', handle, '--at', 'steps.9@1', '--json'])).toMatchObject({
    code: 2,
    report: { error: { code: 'FORK_KEY_NOT_REACHED' } },
  });
});

/** The last JSON document on stdout. */
async function sentinel(args: readonly string[]): Promise<{ code: number; report: unknown; stderr: string }> {
  const { code, out, err } = await harness.command(...args);
  const last = out.trim().startsWith('{\n') ? out : (out.trim().split('\n').at(-1) ?? '');
  return { code, report: last.trim() === '' ? null : JSON.parse(last), stderr: err };
}

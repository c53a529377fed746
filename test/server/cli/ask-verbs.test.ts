/** The verbs that people answer and plan with, as processes: the inbox, answers, schedules, triggers, and events by hand. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '../../../language/json.ts';
import type { Definition } from '../../../language/model.ts';
import { create, once, shell } from '../harness/definitions.ts';
import { Harness, until } from '../harness/harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker();
});
afterAll(() => harness.close());

const documentOf = async (...args: string[]): Promise<unknown> =>
  JSON.parse((await harness.command(...args, '--json')).out);

const isAsked = (handle: string, id: string): Promise<void> =>
  until(async () =>
    ((await documentOf('inbox')) as JsonObject[]).some((item) => item['handle'] === handle && item['id'] === id),
  );

function write(definition: Definition): string {
  writeFileSync(join(harness.project, `${definition.name}.json`), JSON.stringify(definition));
  return `${definition.name}.json`;
}

test('a question is found in the inbox of whom it is put to, refused what does not fit its form, and answered once', async () => {
  const form = { type: 'object', properties: { version: { type: 'string' } }, required: ['version'] };
  const inner = once('inner', [
    { type: 'approval', message: 'Which version?', assignee: 'bob', form, outputTo: 'said' },
  ]);
  await harness.start(once('outer', [{ type: 'sentinel', definition: inner }]), { handle: 'asks' });
  await until(async () => ((await documentOf('inbox', '--persona', 'bob')) as JsonObject[]).length === 1);
  expect(await documentOf('inbox', '--persona', 'bob')).toMatchObject([
    { handle: 'asks/steps.0@1', id: 'steps.0@1', kind: 'approval', message: 'Which version?', form, state: 'open' },
  ]);
  expect(await documentOf('inbox', '--persona', 'nobody')).toEqual([]);
  expect((await harness.command('inbox')).out).toContain(
    `sentinel answer asks/steps.0@1 steps.0@1 approve --data '{"version":"text"}'`,
  );
  for (const [args, code, finding] of [
    [['asks', 'approve', '--data', '{"version": "1.2"}'], 1, /asks bob, and "\w+" does not answer for them/],
    [['asks', 'retry', '--by', 'bob'], 1, /"retry" is no choice/],
    [['asks', 'approve', '--data', '{"version": 3}', '--by', 'bob'], 1, /data\/version must be string/],
    [['asks', 'approve', '--data', '{'], 2, /--data is not JSON/],
    [['nobody', 'approve'], 4, /There is no run "nobody"/],
  ] as const) {
    const said = await harness.command('answer', ...args);
    expect(said).toMatchObject({ code, out: '' });
    expect(said.err).toMatch(finding);
  }
  const given = { choice: 'approve', note: 'go', data: { version: '1.2' }, by: 'bob' };
  const first = await documentOf(
    'answer',
    'asks',
    'approve',
    '--data',
    '{"version": "1.2"}',
    '--note',
    'go',
    '--by',
    'bob',
  );
  expect(first).toMatchObject({ ok: true, handle: 'asks/steps.0@1', id: 'steps.0@1', answer: given, already: false });
  expect(await harness.result('asks')).toMatchObject({ outcome: 'completed' });
  expect(await documentOf('answer', 'asks', 'approve', '--data', '{"version": "1.2"}', '--by', 'eve')).toMatchObject({
    answer: given,
    already: true,
  });
  expect(await documentOf('inbox', '--persona', 'bob', '--all')).toMatchObject([{ state: 'answered', answer: given }]);
});

test('a run that is held at a limit goes on by as much as it is granted, and ends where it is stopped', async () => {
  const steps = [1, 2, 3].map((n) => create('granted', { n }));
  await harness.start(once('counted', steps, { safety: { onTimeout: 'pause', budget: { steps: 1 } } }), {
    handle: 'grants-steps',
  });
  await isAsked('grants-steps', 'limit.budget.steps');
  const refused = await harness.command('answer', 'grants-steps', 'extend', '--data', '{"steps": -1}');
  expect(refused).toMatchObject({ code: 1, out: '' });
  expect(refused.err).toMatch(/\{"steps": N\}, N a whole number above 0/);
  expect(
    await documentOf('answer', 'grants-steps', 'limit.budget.steps', 'extend', '--data', '{"steps": 2}'),
  ).toMatchObject({ ok: true, answer: { choice: 'extend', data: { steps: 2 } } });
  expect(await harness.result('grants-steps')).toMatchObject({ outcome: 'completed' });
  expect(await harness.rows('granted')).toHaveLength(3);

  const hour = 3_600_000;
  const waits = once('timed', [{ type: 'shell', command: 'sleep 2; echo done', outputTo: 'said' }], {
    safety: { onTimeout: 'pause', timeoutMs: 500 },
  });
  await harness.start(waits, { handle: 'grants-time' });
  await isAsked('grants-time', 'limit.timeoutMs');
  await documentOf('answer', 'grants-time', 'extend', '--data', `{"timeoutMs": ${hour}}`);
  expect(await harness.result('grants-time')).toMatchObject({
    outcome: 'completed',
    outputs: { said: { stdout: 'done\n' } },
  });

  await harness.start(once('ended', steps, { safety: { onTimeout: 'pause', budget: { steps: 1 } } }), {
    handle: 'grants-nothing',
  });
  await isAsked('grants-nothing', 'limit.budget.steps');
  await documentOf('answer', 'grants-nothing', 'stop');
  expect(await harness.result('grants-nothing')).toMatchObject({ outcome: 'stopped', limit: 'budget.steps' });
});

test('whoever follows a run sees what it asks now, however often it was held before', async () => {
  const works = shell('while [ ! -e resumed ]; do sleep 0.1; done');
  await harness.start(once('held', [works, { type: 'approval', message: 'Go on?' }]), { handle: 'held' });
  await harness.untilEvent('held', ({ type }) => type === 'step-started');
  for (const verb of ['pause', 'resume', 'pause', 'resume']) await documentOf(verb, 'held');
  writeFileSync(join(harness.project, 'resumed'), '');
  await harness.untilEvent('held', ({ type }) => type === 'asked');
  const followed = await harness.command('follow', 'held', '--json');
  expect(followed.code).toBe(3);
  expect(followed.err).toContain('sentinel answer held steps.1@1 approve');
  expect(followed.out).toContain('"type":"asked"');
  await harness.start(
    once('limited', [create('limited', { n: 1 }), create('limited', { n: 2 })], {
      safety: { onTimeout: 'pause', budget: { steps: 1 } },
    }),
    { handle: 'limited' },
  );
  expect((await harness.command('follow', 'limited')).err).toContain(
    'sentinel answer limited limit.budget.steps extend',
  );
});

test('a schedule is made, listed, held, started by hand and removed', async () => {
  const id = `planned-${Date.now()}`;
  const file = write(once('planned', [create('planned', { n: 1 })]));
  const options = [
    '--cron',
    '0 9 * * 1-5',
    '--time-zone',
    'America/New_York',
    '--overlap',
    'buffer',
    '--catchup',
    '20000',
    '--jitter',
    '100',
  ];
  expect(await documentOf('schedule', 'create', file, '--id', id, ...options)).toMatchObject({
    id,
    timeZone: 'America/New_York',
    overlap: 'buffer',
    catchupWindowMs: 20_000,
    jitterMs: 100,
    isPaused: false,
  });
  expect(await harness.command('schedule', 'create', file, '--id', id, ...options)).toMatchObject({ code: 2, out: '' });
  expect(await documentOf('schedule', 'pause', id, '--note', 'enough')).toMatchObject({
    ok: true,
    isPaused: true,
    note: 'enough',
  });
  await until(async () => (await harness.command('schedule', 'list')).out.includes(id));
  await documentOf('schedule', 'trigger', id);
  await until(async () => (await harness.rows('planned')).length === 1);
  expect(await documentOf('schedule', 'delete', id)).toEqual({ ok: true, id });
  expect(await harness.command('schedule', 'show', id)).toMatchObject({ code: 4, out: '' });
});

test('an event that is published by hand starts one run, also when it is published twice', async () => {
  const file = write(
    once('ordered', [create('ordered', { n: '$event.n' })], { trigger: { type: 'event', event: 'order:*' } }),
  );
  expect(await documentOf('trigger', 'add', file)).toMatchObject({ ok: true, type: 'event', isNew: true });
  expect(await documentOf('emit', 'order:placed', '--data', '{"n": 7}', '--id', 'o1')).toMatchObject({
    ok: true,
    isNew: true,
  });
  expect(await documentOf('emit', 'order:placed', '--data', '{"n": 7}', '--id', 'o1')).toMatchObject({
    ok: true,
    isNew: false,
  });
  await until(async () => (await harness.rows('ordered')).length === 1);
  expect(await documentOf('trigger', 'show', 'ordered')).toMatchObject({
    name: 'ordered',
    starts: [{ state: 'started', event: { name: 'order:placed', data: { n: 7 } } }],
  });
  expect(await documentOf('trigger', 'remove', 'ordered')).toMatchObject({ ok: true });
  expect(await documentOf('trigger', 'list')).toEqual([]);
});

/** Questions on a real server: asked, shown, refused, answered, over dead workers and continue-as-new. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { questionFor } from '../../../client/lookup/find-question.ts';
import type { InboxItem } from '../../../prisma/store/contract/contract.ts';
import type { AnswerReply, AnswerRequest } from '../../../interpreter/questions.ts';
import { ANSWER, workflowIdOf } from '../../../workflows/messages/messages.ts';
import { SEARCH_ATTRIBUTES } from '../../../workflows/messages/search-attributes.ts';
import { counted, create, once, shell } from '../harness/definitions.ts';
import { Harness, until } from '../harness/harness.ts';
import { refusal } from '../harness/opened.ts';
import type { WorkerProcess } from '../harness/worker-process.ts';

let harness: Harness;
let worker: WorkerProcess;
beforeAll(async () => {
  harness = await Harness.open();
  worker = await harness.startWorker();
});
afterAll(() => harness.close());

async function open(handle: string, count = 1): Promise<InboxItem[]> {
  let items: InboxItem[] = [];
  await until(async () => {
    items = (await harness.store.inbox.list({ handle })).filter((item) => item.state === 'open');
    return items.length === count;
  });
  return items;
}

const answer = (handle: string, request: AnswerRequest): Promise<AnswerReply> =>
  harness.workflow(handle).executeUpdate<AnswerReply, [AnswerRequest]>(ANSWER, { args: [request] });

const statusAttribute = async (handle: string): Promise<unknown> =>
  (await harness.client.workflow.getHandle(workflowIdOf(handle)).describe()).typedSearchAttributes.get(
    SEARCH_ATTRIBUTES.status,
  );

test('an approval is asked once, outlives its worker, refuses what does not fit, and is answered once', async () => {
  const form = { type: 'object', properties: { version: { type: 'string' } }, required: ['version'] };
  const handle = await harness.start(
    once('deploy', [
      { type: 'approval', message: 'Deploy $what?', show: { what: '$what' }, form, outputTo: 'said' },
      shell('sleep 2; echo $said.data.version by $said.by', { outputTo: 'done' }),
    ]),
    { inputs: { what: 'the site' } },
  );
  const [item] = await open(handle);
  expect(item).toMatchObject({
    id: 'steps.0@1',
    persona: 'tester',
    kind: 'approval',
    message: 'Deploy the site?',
    show: { what: 'the site' },
    priority: 'normal',
    form,
  });
  expect(item?.digest).toMatch(/^[0-9a-f]{64}$/);
  await until(async () => (await harness.store.runs.find(handle))?.status === 'paused');
  expect(await statusAttribute(handle)).toBe('paused');
  await worker.kill9();
  worker = await harness.startWorker();
  const id = 'steps.0@1';
  const by = 'ada';
  const data = { version: '1.2' };
  expect(await refusal(answer(handle, { id: 'steps.9@1', choice: 'approve', by }))).toMatch(/^QUESTION_UNKNOWN:/);
  expect(await refusal(answer(handle, { id, choice: 'retry', by }))).toMatch(/^ANSWER_INVALID:/);
  expect(await refusal(answer(handle, { id, choice: 'approve', by, data, digest: 'another' }))).toMatch(
    /^QUESTION_CHANGED:/,
  );
  expect(await refusal(answer(handle, { id, choice: 'approve', by, data: { version: 3 } }))).toMatch(
    /^ANSWER_INVALID:/,
  );
  const digest = item?.digest ?? '';
  const first = await answer(handle, { id, choice: 'approve', by, data, note: 'go', digest });
  const second = await answer(handle, { id, choice: 'reject', by: 'bob' });
  expect(first).toMatchObject({ already: false, answer: { choice: 'approve', by, note: 'go', data } });
  expect(second).toEqual({ ...first, already: true });
  expect(await harness.result(handle)).toMatchObject({
    outcome: 'completed',
    outputs: { done: { stdout: '1.2 by ada\n' } },
  });
  expect(await harness.store.inbox.list({ handle })).toEqual([]);
  expect(await harness.store.inbox.list({ handle, all: true })).toMatchObject([
    { state: 'answered', answer: { choice: 'approve', by } },
  ]);
  // Whoever answers now is told the same, with the question's id or without.
  for (const named of [undefined, id])
    expect((await questionFor(harness.store, handle, named)).answer).toEqual(first.answer);
  const events = await harness.events(handle);
  expect(events.filter((event) => event.type === 'asked')).toHaveLength(1);
  expect(events.filter((event) => event.type === 'answered')).toHaveLength(1);
  expect(await statusAttribute(handle)).toBe('completed');
});

test('actions wait inside a nested run in a parallel branch, over continue-as-new, and are found from the outside', async () => {
  const child = counted('child', 2, [create('approved', { n: '$iteration' }), shell('touch made-$iteration')]);
  const handle = await harness.start(
    once(
      'parent',
      [
        {
          type: 'parallel',
          branches: [[{ type: 'sentinel', definition: child, outputTo: 'child' }], [{ type: 'emit', event: 'beside' }]],
        },
      ],
      {
        safety: { requireApproval: ['shell'] },
      },
    ),
    { continueEvery: 1 },
  );
  const place = 'steps.0.branches.0.0@1';
  for (const pass of [1, 2]) {
    await until(async () => (await open(handle)).some((item) => item.id === `steps.1@${pass}`));
    const found = await questionFor(harness.store, handle, pass === 1 ? undefined : `${place}/steps.1@2`);
    expect(found).toMatchObject({ handle: `${handle}/${place}`, id: `steps.1@${pass}` });
    expect(existsSync(join(harness.project, `made-${pass}`))).toBe(false);
    const data = pass === 1 ? {} : { choice: 'edit' as const, data: { command: 'touch edited' } };
    await answer(found.handle, { id: found.id, choice: 'approve', by: 'ada', digest: found.digest ?? '', ...data });
  }
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  expect(await harness.rows('approved')).toHaveLength(2);
  expect(['made-1', 'made-2', 'edited'].map((name) => existsSync(join(harness.project, name)))).toEqual([
    true,
    false,
    true,
  ]);
});

test('a failure in a loop asks, and the step is tried again', async () => {
  const handle = await harness.start(
    once(
      'escalates',
      [
        {
          type: 'loop',
          loop: { type: 'count', max: 1 },
          steps: [{ type: 'command', command: 'code/read', params: { path: 'wanted.txt' }, outputTo: 'read' }],
        },
      ],
      {
        escalateOn: [{ condition: 'error', action: 'pause', priority: 'urgent' }],
      },
    ),
  );
  const [item] = await open(handle);
  expect(item).toMatchObject({
    kind: 'error',
    priority: 'urgent',
    id: 'steps.0.steps.0@1.1:failed',
    choices: ['retry', 'skip', 'edit', 'abort'],
  });
  writeFileSync(join(harness.project, 'wanted.txt'), 'here');
  await answer(handle, { id: item?.id ?? '', choice: 'retry', by: 'ada' });
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed', outputs: { read: { content: 'here' } } });
});

test('what always runs does so after a cancellation, and asks there too', async () => {
  const handle = await harness.start(
    once('cleans', [shell('sleep 300')], {
      always: [shell('touch cleaned'), { type: 'approval', message: 'All clean?', outputTo: 'clean' }],
    }),
  );
  await harness.untilEvent(handle, (event) => event.type === 'step-started');
  await harness.workflow(handle).cancel();
  const [item] = await open(handle);
  expect(item?.id).toBe('always.1@1');
  expect(existsSync(join(harness.project, 'cleaned'))).toBe(true);
  await answer(handle, { id: 'always.1@1', choice: 'approve', by: 'ada' });
  expect(await harness.result(handle)).toMatchObject({ outcome: 'cancelled', outputs: { clean: { approved: true } } });
});

test('a stop does not wait for attempts that are left, and a time bounds what runs inside a step', async () => {
  const retrying = await harness.start(
    once('retries', [
      {
        type: 'command',
        command: 'code/read',
        params: { path: 'nowhere' },
        retry: { attempts: 1000, backoffMs: 600_000 },
      },
    ]),
  );
  await harness.untilEvent(retrying, (event) => event.type === 'step-finished' && event.outcome === 'retried');
  const askedAt = Date.now();
  await harness.say(retrying, 'stop');
  expect(await harness.result(retrying)).toMatchObject({ outcome: 'stopped', limit: 'stop' });
  expect(Date.now() - askedAt).toBeLessThan(10_000);
  const timed = await harness.start(
    once('timed', [
      {
        type: 'condition',
        check: 'true',
        then: [shell('sleep 300')],
        timeoutMs: 700,
        retry: { attempts: 2, backoffMs: 10 },
        onError: 'skip',
      },
      shell('true'),
    ]),
  );
  expect(await harness.result(timed)).toMatchObject({ outcome: 'completed' });
  const cancelled = (await harness.events(timed)).filter(
    (event) => event.type === 'step-finished' && event.outcome === 'cancelled',
  );
  expect(cancelled.map((event) => event.key)).toEqual(['steps.0.then.0@1', 'steps.0#2.then.0@1']);
});

test('a question whose branch is cancelled while it is being put ends with its branch, not with the run', async () => {
  const fails = { type: 'condition' as const, check: 'JSON.parse($text)', then: [shell('true')] };
  const fan = {
    type: 'parallel' as const,
    failFast: true,
    onError: 'skip' as const,
    branches: [[{ type: 'approval' as const, message: 'Go on?' }], [fails]],
  };
  const { handle, result } = await harness.run(
    once('cancelled-question', [fan, shell('true')], { inputs: { text: 'no JSON' } }),
  );
  expect(result.outcome).toBe('completed');
  expect(await open(handle, 0)).toEqual([]);
});

/** What a run has in Temporal and in the tables that grow with what it does. */
async function holdings(handle: string): Promise<unknown> {
  const { historyLength, historySize } = await harness.workflow(handle).describe();
  const client = new Client({ connectionString: harness.databaseUrl });
  await client.connect();
  try {
    const count = async (table: string): Promise<unknown> =>
      (await client.query(`SELECT count(*)::int AS rows FROM ${table} WHERE handle = $1`, [handle])).rows[0];
    return {
      historyLength,
      historySize,
      events: await count('run_events'),
      journal: await count('journal'),
      logs: await count('log_chunks'),
    };
  } finally {
    await client.end();
  }
}

test('a run that waits for an answer costs nothing: no event of its history, no row', async () => {
  const handle = await harness.start(
    once('waits', [create('before', { n: 1 }), { type: 'approval', message: 'Go on?' }]),
  );
  await open(handle);
  await sleep(1000);
  const before = await holdings(handle);
  expect(before).toMatchObject({ events: { rows: 4 }, journal: { rows: 1 } });
  await sleep(10_000);
  expect(await holdings(handle)).toEqual(before);
  await answer(handle, { id: 'steps.1@1', choice: 'approve', by: 'ada' });
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
});

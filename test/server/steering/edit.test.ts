/** Edits on a real server: of held, busy and nested runs, refused where they must be, and over a dead worker. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Json } from '../../../language/json.ts';
import type { Step } from '../../../language/model.ts';
import type { EditReply, EditRequest, StepList } from '../../../interpreter/edits.ts';
import { EDIT, QUERIES } from '../../../workflows/messages/messages.ts';
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

type Given = Pick<EditRequest, 'op' | 'path'> & Partial<EditRequest>;

const steps = (handle: string): Promise<StepList> => harness.workflow(handle).query<StepList>(QUERIES.steps);

const edit = async (handle: string, given: Given): Promise<EditReply> => {
  const request = { by: 'ada', revision: (await steps(handle)).revision, ...given };
  return harness.workflow(handle).executeUpdate<EditReply, [EditRequest]>(EDIT, { args: [request] });
};

const remove = (sentinelId: string): Step => ({
  type: 'command',
  command: 'sentinel/step/remove',
  params: { sentinelId, index: 0 },
  onError: 'skip',
});
const line = (command: string): Json => ({ type: 'shell', command });
const written = (file: string): string =>
  readFileSync(join(harness.project, file), 'utf8').replaceAll('\n', ' ').trim();
const finished = async (handle: string): Promise<string[]> =>
  (await harness.events(handle)).flatMap((event) => (event.type === 'step-finished' ? [event.key] : []));

test('a held run and a busy one are edited; what is stale, under way, past, or wrong is refused; the edits outlive the worker', async () => {
  const handle = await harness.start(
    once('edited', [
      shell('while [ ! -e go ]; do sleep 0.1; done'),
      shell('echo b >> out'),
      shell('echo c >> out'),
      create('edited', { n: 1 }),
    ]),
  );
  await harness.untilEvent(handle, (event) => event.type === 'step-started');
  expect((await steps(handle)).steps.map(({ path, state, editable }) => [path, state, editable])).toEqual([
    ['steps.0', 'under-way', null],
    ['steps.1', 'waiting', 'now'],
    ['steps.2', 'waiting', 'now'],
    ['steps.3', 'waiting', 'now'],
  ]);
  // Another spelling of a shell step: the answer holds the canonical one.
  const added = await edit(handle, {
    op: 'add',
    path: 'steps.1',
    step: { type: 'shell', cmd: 'echo a >> out' },
    note: 'first things first',
  });
  expect(added).toEqual({
    op: 'add',
    path: 'steps.1',
    revision: 1,
    from: 'now',
    before: null,
    after: { type: 'shell', command: 'echo a >> out' },
  });
  expect(await refusal(edit(handle, { op: 'remove', path: 'steps.3', revision: 0 }))).toMatch(
    /^EDIT_STALE: .* revision 1 /,
  );
  expect(await refusal(edit(handle, { op: 'update', path: 'steps.0', step: line('true') }))).toMatch(/^STEP_UNDER_WAY/);
  expect(await refusal(edit(handle, { op: 'remove', path: 'steps.9' }))).toMatch(/^STEP_NOT_FOUND/);
  expect(
    await refusal(edit(handle, { op: 'update', path: 'steps.2', step: { type: 'command', command: 'no/such' } })),
  ).toMatch(/^EDIT_INVALID: .*UNKNOWN_COMMAND at steps\.2/);
  await harness.say(handle, 'pause');
  expect((await edit(handle, { op: 'update', path: 'steps.3', step: line('echo C >> out') })).before).toEqual({
    type: 'shell',
    command: 'echo c >> out',
  });
  await worker.kill9();
  worker = await harness.startWorker();
  await edit(handle, { op: 'skip', path: 'steps.2' });
  await harness.run(once('opens', [shell('touch go')]));
  await until(async () => (await finished(handle)).length === 1);
  await harness.say(handle, 'resume');
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  expect(written('out')).toBe('a C');
  expect(await harness.rows('edited')).toHaveLength(1);
  expect(await finished(handle)).toEqual(['steps.0@1', 'steps.1~3@1', 'steps.2~3@1', 'steps.3~3@1', 'steps.4~3@1']);
  const edits = (await harness.events(handle)).flatMap((event) =>
    event.type === 'edited' ? [`${event.op} ${event.path} ${event.by} ${event.note ?? '-'}`] : [],
  );
  expect(edits).toEqual(['add steps.1 ada first things first', 'update steps.3 ada -', 'skip steps.2 ada -']);
});

test('a nested run is edited, over continue-as-new, and its quick steps have keys of their own after it', async () => {
  const child = counted('child', 3, [
    shell('echo pass-$iteration >> passes'),
    create('kept', { n: '$iteration' }),
    shell('while [ ! -e on ]; do sleep 0.1; done'),
  ]);
  const handle = await harness.start(once('parent', [{ type: 'sentinel', definition: child }]), { continueEvery: 2 });
  const nested = `${handle}/steps.0@1`;
  await until(async () => (await harness.store.runs.find(nested)) !== null);
  await harness.untilEvent(nested, (event) => event.type === 'step-started' && event.key === 'steps.2@1');
  expect(await edit(nested, { op: 'remove', path: 'steps.0' })).toMatchObject({ from: 'next-pass', revision: 1 });
  expect(
    await edit(nested, {
      op: 'add',
      path: 'steps.2',
      step: { type: 'command', command: 'data/create', params: { collection: 'kept', data: { n: 'end' } } },
    }),
  ).toMatchObject({ from: 'now' });
  await harness.run(once('opens', [shell('touch on')]));
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  expect(written('passes')).toBe('pass-1');
  expect((await harness.rows('kept')).map((row) => row['n'])).toEqual([1, 'end', 2, 'end', 3, 'end']);
  expect((await steps(nested)).revision).toBe(2);
  expect(await refusal(edit(nested, { op: 'remove', path: 'steps.0' }))).not.toBe('null');
});

test('a step edits another run', async () => {
  const target = await harness.start(
    once('target', [shell('while [ ! -e third ]; do sleep 0.1; done'), shell('echo old >> told')]),
  );
  await harness.untilEvent(target, (event) => event.type === 'step-started');
  const { result } = await harness.run(
    once('editor', [
      {
        type: 'command',
        command: 'sentinel/step/add',
        params: { sentinelId: target, index: 1, step: line('echo $iteration >> told') },
        outputTo: 'added',
      },
      {
        type: 'command',
        command: 'sentinel/step/update',
        params: { sentinelId: target, index: 2, params: { command: 'echo new >> told' } },
      },
      {
        type: 'command',
        command: 'sentinel/step/remove',
        params: { sentinelId: target, index: 0 },
        onError: 'skip',
        outputTo: 'refused',
      },
      shell('touch third'),
    ]),
  );
  expect(result).toMatchObject({ outcome: 'completed', outputs: { added: { revision: 1, from: 'now' } } });
  expect(await harness.result(target)).toMatchObject({ outcome: 'completed' });
  expect(written('told')).toBe('1 new');
  const late = await harness.run(once('late', [remove(target), remove('nobody')]));
  expect(late.events.flatMap((event) => (event.type === 'step-finished' ? [event.failure?.code] : []))).toEqual([
    'RUN_ENDED',
    'RUN_NOT_FOUND',
  ]);
});

/** As a worker leaves it that was lost before Temporal heard of its segment. */
async function committed(handle: string, text: string): Promise<void> {
  const session = harness.store.session();
  await session.write(text, [handle]);
  await session.commit({ handle, key: `then ${text.slice(0, 6)}`, result: null, events: [] });
}

test('no edit is made where a lost worker had been further than history knows', async () => {
  const handle = await harness.start(
    once('behind', [
      shell('while [ ! -e behind-on ]; do sleep 0.1; done'),
      create('behind', { n: 1 }),
      shell('echo end >> behind'),
    ]),
  );
  await harness.untilEvent(handle, (event) => event.type === 'step-started');
  await harness.say(handle, 'pause');
  await committed(
    handle,
    `insert into journal (handle, key, result, seq) values ($1, 'segment lost@1', 'null', 1000000)`,
  );
  expect(await refusal(edit(handle, { op: 'skip', path: 'steps.2' }))).toMatch(
    /^EDIT_BEHIND: steps of .* were done already by a worker that was lost/,
  );
  await committed(handle, `delete from journal where handle = $1 and key = 'segment lost@1'`);
  await edit(handle, { op: 'skip', path: 'steps.2' });
  await harness.run(once('lets', [shell('touch behind-on')]));
  await harness.say(handle, 'resume');
  expect((await harness.result(handle)).status).toBe('completed');
  expect(await harness.rows('behind')).toEqual([{ n: 1 }]);
});

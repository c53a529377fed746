/** A fork at a turn of a model step goes on with the conversation up to there, and pays nothing of it again. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Fork, ForkRequest } from '../../../client/history/fork-run.ts';
import type { LlmStep } from '../../../language/model.ts';
import { buildBundle } from '../../../runs/bundle.ts';
import { once, shell } from '../harness/definitions.ts';
import { forkOf } from '../harness/forked.ts';
import { Harness, until } from '../harness/harness.ts';
import { beginsToSay, callsTo, ModelDouble, MODEL, says } from '../harness/models/model-double.ts';

let harness: Harness;
let model: ModelDouble;
let bundle: { code: string };
beforeAll(async () => {
  bundle = { code: await buildBundle() };
  model = await new ModelDouble().open();
  harness = await Harness.open();
  await harness.startWorker(model.env);
});
afterAll(async () => {
  await harness.close();
  await model.close();
});
beforeEach(() => {
  model.double.forget();
  model.double.asked.length = 0;
});

const fork = (handle: string, at: string, more: Partial<ForkRequest> = {}): Promise<Fork> =>
  forkOf(harness, bundle, { handle, at, ...more });

const asking: LlmStep = {
  type: 'llm',
  model: MODEL,
  prompt: 'Look',
  tools: ['code/shell/execute'],
  outputTo: 'answer',
};
const runs = (id: string, command: string): ReturnType<typeof callsTo> =>
  callsTo(id, 'code_shell_execute', { command });

const definition = once('turns', [
  shell('echo before >> done'),
  asking,
  shell('cat done', { outputTo: 'done' }),
  { type: 'emit', event: 'cost', data: '$answer.usage' },
]);

test('a fork begins with the turn, with the conversation before it, and the turns before are not paid again', async () => {
  model.next(
    runs('1', 'echo one >> done; echo result-one'),
    runs('2', 'echo two >> done; echo result-two'),
    says('Done.'),
  );
  const handle = await harness.start(definition);
  await until(async () => (await harness.state(handle)).current.length > 0);
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed', outputs: { answer: 'Done.' } });
  expect(model.turns).toHaveLength(3);

  model.next(says('Done otherwise.'));
  const third = await fork(handle, 'steps.1@1/turn.3');
  expect(third).toMatchObject({ of: handle, at: 'steps.1@1/turn.3' });
  const result = await harness.result(third.handle);
  expect(result).toMatchObject({ outcome: 'completed', outputs: { answer: 'Done otherwise.' } });
  expect(result.outputs['done']).toMatchObject({ stdout: 'before\none\ntwo\n' });
  expect(model.turns).toHaveLength(4);
  expect(model.turns[3]).toEqual(model.turns[2]);
  const events = await harness.events(third.handle);
  expect(events.flatMap((event) => (event.type === 'step-finished' ? [event] : []))[0]).toMatchObject({
    key: 'steps.1@1',
    outcome: 'ok',
    // Of the turn that this run took.
    usage: { tokens: 110 },
  });
  const turns = await harness.store.conversations.turns(third.handle);
  expect(turns.map(({ turn, copiedOf }) => [turn, copiedOf])).toEqual([
    [1, handle],
    [2, handle],
    [3, null],
  ]);
  expect((await harness.command('transcript', third.handle)).out).toContain(
    `steps.1@1  3 turns, 2 of them of ${handle}  110 tokens`,
  );
  // Its messages are the rows of the old run's.
  const messagesOf = async (of: string): Promise<string[]> =>
    (await harness.store.conversations.read({ handle: of, conversation: 'steps.1@1' }, 3)).map(({ hash }) => hash);
  expect(await messagesOf(third.handle)).toEqual(await messagesOf(handle));

  model.next(runs('9', 'echo other >> done'), says('Done.'));
  const second = await fork(third.handle, 'steps.1@1/turn.3');
  await harness.result(second.handle);
  expect((await harness.store.conversations.turns(second.handle)).map(({ copiedOf }) => copiedOf)).toEqual([
    handle,
    handle,
    null,
    null,
  ]);

  const asked = model.turns.length;
  model.next(says('From the beginning.'));
  const first = await fork(handle, 'steps.1@1/turn.1');
  expect(first.at).toBe('steps.1@1');
  await harness.result(first.handle);
  expect(model.turns).toHaveLength(asked + 1);
  expect(model.last.map(({ role }) => role)).toEqual(['user']);
});

test('what is no turn of the run is refused with what there is', async () => {
  model.next(runs('1', 'true'), says('Done.'));
  const handle = await harness.start(once('few', [asking]));
  await harness.result(handle);
  await expect(fork(handle, 'steps.0@1/turn.7')).rejects.toMatchObject({
    code: 'FORK_KEY_NOT_REACHED',
    message: `${handle} never came to steps.0@1/turn.7; the last turn of steps.0@1 is steps.0@1/turn.2.`,
  });
  await expect(fork(handle, 'steps.0@1/turn.1/call.0')).rejects.toMatchObject({
    message: expect.stringContaining(`"sentinel fork ${handle} --at steps.0@1/turn.1"`) as string,
  });
  await expect(fork(handle, 'steps.3@1/steps.0@1/turn.2')).rejects.toMatchObject({
    message: expect.stringContaining(`"sentinel fork ${handle}/steps.3@1 --at steps.0@1/turn.2"`) as string,
  });
  await expect(fork(handle, 'steps.0@1/turn.2', { definition: once('few', [shell('true')]) })).rejects.toMatchObject({
    code: 'FORK_DEFINITION_DIFFERS',
  });
});

test('a model of another branch goes on where it stood, and a turn that had no answer is asked anew', async () => {
  const branches = once('branches', [
    {
      type: 'parallel',
      branches: [
        [shell('until [ -e go ]; do sleep 0.05; done; true'), shell('echo after', { outputTo: 'after' })],
        [{ ...asking, outputTo: 'right' }],
      ],
    },
  ]);
  model.next(runs('1', 'echo right-one'), beginsToSay('I am '));
  const handle = await harness.start(branches);
  await until(() => model.turns.length === 2);
  writeFileSync(join(harness.project, 'go'), '');
  await harness.untilEvent(handle, (event) => event.type === 'step-finished' && event.key === 'steps.0.branches.0.1@1');
  model.next(says('Right is done.'));
  const forked = await fork(handle, 'steps.0.branches.0.1@1');
  const result = await harness.result(forked.handle);
  expect(result.outputs).toMatchObject({ after: { stdout: 'after\n' }, right: 'Right is done.' });
  expect(model.turns).toHaveLength(3);
  expect(model.turns[2]).toEqual(model.turns[1]);
  await harness.workflow(handle).cancel();
  await harness.result(handle);
});

test.each(['step', undefined] as const)(
  'a turn in the middle of many that followed one another is forked like any other (durability %s)',
  async (durability) => {
    const collection = `notes-${durability ?? 'usual'}`;
    const writes = (id: string, n: number): ReturnType<typeof callsTo> =>
      callsTo(id, 'data_create', { collection, data: { n } });
    const wrong = callsTo('x', 'data_destroy', {});
    model.next(writes('1', 1), writes('2', 2), wrong, writes('4', 4), says('Done.'));
    const handle = await harness.start(
      once('quick', [{ ...asking, tools: ['data/create'] }], durability === undefined ? {} : { durability }),
    );
    expect(await harness.result(handle)).toMatchObject({ outcome: 'completed', outputs: { answer: 'Done.' } });
    const asked = [...model.turns];
    expect(asked).toHaveLength(5);
    expect(await harness.rows(collection)).toHaveLength(3);
    for (const turn of [2, 3, 4, 5]) {
      model.double.asked.length = 0;
      model.next(says(`Otherwise ${turn}.`));
      const forked = await fork(handle, `steps.0@1/turn.${turn}`);
      expect(forked.at).toBe(`steps.0@1/turn.${turn}`);
      expect(await harness.result(forked.handle)).toMatchObject({ outputs: { answer: `Otherwise ${turn}.` } });
      expect(model.turns).toEqual([asked[turn - 1]]);
      const turns = await harness.store.conversations.turns(forked.handle);
      expect(turns.map(({ copiedOf }) => copiedOf)).toEqual([...Array.from({ length: turn - 1 }, () => handle), null]);
    }
    expect(await harness.rows(collection)).toHaveLength(3);
  },
);

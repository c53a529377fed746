/** A question that names somebody is answered by them, by a member of their group, or by whom they have answer: at every door. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SentinelClient, type AnswerOptions } from '../../../client/client.ts';
import type { Step } from '../../../language/model.ts';
import { once } from '../harness/definitions.ts';
import { Harness, until } from '../harness/harness.ts';

let harness: Harness;
let client: SentinelClient;
beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker();
  client = new SentinelClient({ env: harness.env });
  await client.execute('persona/member', { groupId: 'ops', personaId: 'bob' }, { by: 'ada' });
  await client.execute('persona/member', { groupId: 'ops', personaId: 'carl' }, { by: 'ada' });
  await client.execute('persona/delegate', { personaId: 'grace', to: 'dora' }, { by: 'grace' });
});
afterAll(async () => {
  await client.close();
  await harness.close();
});

const id = 'steps.0@1';

async function ask(
  handle: string,
  whom: Partial<Extract<Step, { type: 'approval' }>>,
  persona = 'tester',
): Promise<void> {
  const asks = once(handle, [{ type: 'approval', message: 'Go on?', outputTo: 'said', ...whom }]);
  await harness.start(asks, { handle, persona });
  await until(async () => (await harness.store.inbox.open(handle)).includes(id));
}

const answer = (handle: string, by: string, over: Partial<AnswerOptions> = {}) =>
  client.answer(handle, { id, choice: 'approve', by, ...over });
const refused = { code: 'ANSWER_REFUSED' };

test('whoever is not asked approves, edits and rejects nothing; who is asked does', async () => {
  await ask('named', { assignee: 'ada' });
  for (const choice of ['approve', 'reject', 'abort'] as const)
    await expect(answer('named', 'eve', { choice })).rejects.toMatchObject(refused);
  const told = await harness.command('answer', 'named', 'approve', '--by', 'eve');
  expect(told).toMatchObject({ code: 1 });
  expect(told.err).toContain('asks ada, and "eve" does not answer for them');
  await expect(answer('named', 'mcp:editor', { as: 'agent' })).rejects.toMatchObject(refused);
  expect(await answer('named', 'ada')).toMatchObject({ answer: { by: 'ada' }, already: false });
  expect(await harness.result('named')).toMatchObject({ outcome: 'completed' });
});

test('a member answers for the group, and whom somebody has answer for them', async () => {
  await ask('group', { assignee: 'ops' });
  const ofCarl = async (): Promise<string> => (await harness.command('inbox', '--persona', 'carl')).out;
  expect(await ofCarl()).toContain('for ops');
  expect((await harness.command('inbox', '--persona', 'dora')).out).not.toContain('for ops');
  await expect(answer('group', 'dora')).rejects.toMatchObject(refused);
  expect(await answer('group', 'carl')).toMatchObject({ answer: { by: 'carl' } });
  expect(await ofCarl()).not.toContain('for ops');
  await ask('delegated', { assignee: 'grace' });
  expect((await harness.command('inbox', '--persona', 'dora')).out).toContain('for grace');
  await expect(answer('delegated', 'carl')).rejects.toMatchObject(refused);
  expect(await answer('delegated', 'dora')).toMatchObject({ answer: { by: 'dora' } });
});

test('two different persons approve, by whichever names they are asked', async () => {
  await ask('two', { approvers: { of: ['ops', 'grace', 'carl'], atLeast: 2 } });
  await expect(answer('two', 'eve')).rejects.toMatchObject(refused);
  expect(await answer('two', 'carl')).toMatchObject({ missing: 1, already: false });
  expect(await answer('two', 'carl')).toMatchObject({ missing: 1, already: true });
  // The agent of carl is no second person, and neither is who answers for a person that has answered.
  expect(await answer('two', 'mcp:editor', { as: 'agent', person: 'carl' })).toMatchObject({ already: true });
  await until(async () => (await harness.store.inbox.list({ handle: 'two' }))[0]?.approvals?.length === 1);
  expect(await client.question('two', id)).toMatchObject({
    state: 'open',
    approvers: { of: ['ops', 'grace', 'carl'], atLeast: 2 },
    approvals: [{ by: 'carl', among: 'carl', person: 'carl' }],
  });
  expect(await harness.store.inbox.list({ persona: 'grace', handle: 'two' })).toHaveLength(1);
  expect((await harness.command('inbox')).out).toContain('2 of ops, grace, carl have to approve; approved by carl');
  const { out } = await harness.command('answer', 'two', 'approve', '--by', 'dora');
  expect(out).toContain('approve.');
  expect(await harness.result('two')).toMatchObject({ outcome: 'completed' });
  const [, answered] = (await harness.events('two')).filter(({ type }) => type === 'approved' || type === 'answered');
  expect(answered).toMatchObject({
    type: 'answered',
    answer: { by: 'dora', approvals: [{ by: 'carl' }, { by: 'dora', among: 'grace', person: 'grace' }] },
  });
});

test('of many who approve at the same time each counts once, and one is the last', async () => {
  await ask('raced', { approvers: { of: ['ada', 'bob', 'ops'], atLeast: 3 } });
  const replies = await Promise.all(['ada', 'bob', 'carl', 'ada', 'bob', 'carl'].map((by) => answer('raced', by)));
  expect(
    replies
      .filter(({ already }) => !already)
      .map(({ missing = 0 }) => missing)
      .toSorted((a, b) => a - b),
  ).toEqual([0, 1, 2]);
  await harness.result('raced');
  const answers = (await harness.events('raced')).filter(({ type }) => type === 'answered');
  expect(answers).toHaveLength(1);
});

test('a question that names nobody is for the owner, and any person answers it, also for a model', async () => {
  await client.execute('persona/create', { personaId: 'helper-ai' }, { by: 'ada' });
  await ask('owned', {}, 'helper-ai');
  expect(await answer('owned', 'bob')).toMatchObject({ answer: { by: 'bob' } });
  await ask('of-model', { assignee: 'helper-ai' });
  await expect(answer('of-model', 'bob')).rejects.toMatchObject(refused);
  expect(await answer('of-model', 'ada')).toMatchObject({ answer: { by: 'ada' } });
});

test('a step and an agent let a run do less, whomever it asks', async () => {
  await ask('less', { approvers: { of: ['ada', 'bob'], atLeast: 2 } });
  expect(await answer('less', 'mcp:editor', { as: 'agent', choice: 'reject' })).toMatchObject({
    answer: { by: 'mcp:editor', choice: 'reject' },
  });
  expect(await harness.result('less')).toMatchObject({ outcome: 'failed' });
});

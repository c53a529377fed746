/**
 * A worker dies after it has committed what follows from a word of a person, in the workflow task that was to keep the
 * word, and the server forgets it too. Nothing may have been done upon a word that nobody heard.
 */
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AnswerRequest } from '../../../interpreter/questions.ts';
import type { Step } from '../../../language/model.ts';
import type { EditRequest } from '../../../interpreter/edits.ts';
import { sealedClient } from '../../../runs/temporal-connection.ts';
import { ANSWER, EDIT, UPDATES } from '../../../workflows/messages/messages.ts';
import { startArmed } from '../../campaign/servers/armed-worker.ts';
import { create, once } from '../harness/definitions.ts';
import { Harness, until } from '../harness/harness.ts';
import { notReplayed } from '../harness/replayed.ts';
import { startServices, type Services } from '../harness/services.ts';
import type { WorkerProcess } from '../harness/worker-process.ts';

let services: Services;
let harness: Harness;
beforeAll(async () => {
  services = await startServices();
  harness = await Harness.open(services);
});
afterAll(async () => {
  await harness.close();
  await services.stop();
});

interface Word {
  name: string;
  arg: unknown;
}

/** Says something, and leaves before anybody has answered; the server has it, and no worker is there to hear it. */
async function say(handle: string, words: readonly Word[]): Promise<() => Promise<void>> {
  const connection = await Connection.connect({ address: services.temporalAddress });
  const client = sealedClient({ connection, namespace: 'default', store: harness.store, keys: harness.keys });
  const { workflowId } = harness.workflow(handle);
  const said = words.map(({ name, arg }) =>
    client.workflow.getHandle(workflowId).executeUpdate<unknown, [unknown]>(name, { args: [arg] }),
  );
  const heard = Promise.allSettled(said);
  return async () => {
    await connection.close();
    await heard;
  };
}

/** One that dies as soon as a segment of the run is committed. */
const doomed = (handle: string): Promise<WorkerProcess> =>
  startArmed(
    harness,
    join(harness.project, `${handle}.points`),
    [{ point: 'segment.committed', nth: 1, of: handle, do: 'kill' }],
    {},
  );

/** The word comes while nobody works, is heard by one who dies upon it, and is lost with the server. */
async function loseTheWord(handle: string, words: readonly Word[]): Promise<void> {
  const leave = await say(handle, words);
  const worker = await doomed(handle);
  await until(() => !worker.isAlive);
  await services.temporal.kill();
  await leave();
  await services.temporal.start();
}

/** Of a run that asks before its last step and has nobody to go on with it. */
async function asked(handle: string, collection: string): Promise<string> {
  const worker = await harness.startWorker();
  const steps: Step[] = [{ type: 'approval', message: 'Go on?' }, create(collection, { n: 1 })];
  await harness.start(once(collection, steps), { handle });
  await harness.untilEvent(handle, ({ type }) => type === 'asked');
  const [question] = (await harness.state(handle)).questions;
  await worker.kill9();
  return question?.id ?? '';
}

const answer = (handle: string, request: AnswerRequest): Promise<unknown> =>
  harness.workflow(handle).executeUpdate(ANSWER, { args: [request] });

test('what an answer leads to is done only for an answer that stands', async () => {
  const id = await asked('heard-answer', 'answered');
  await loseTheWord('heard-answer', [{ name: ANSWER, arg: { id, choice: 'approve', by: 'ada' } }]);
  const last = await harness.startWorker();
  // Whoever comes second is told the first answer, where there is one.
  await answer('heard-answer', { id, choice: 'reject', by: 'bob' }).catch(() => undefined);
  await harness.result('heard-answer');
  const events = await harness.events('heard-answer');
  const choices = events.flatMap((event) => (event.type === 'answered' ? [event.answer.choice] : []));
  expect(choices).toHaveLength(1);
  expect(await harness.rows('answered')).toHaveLength(choices[0] === 'approve' ? 1 : 0);
  expect(await notReplayed(harness, ['heard-answer'], 0)).toEqual([]);
  await last.kill9();
});

const editedStep = { type: 'command', command: 'data/create', params: { collection: 'edited', data: { n: 2 } } };

test('a step is done as an edit has it or as it was before, and not both ways', async () => {
  const id = await asked('heard-edit', 'edited');
  const edit: EditRequest = { op: 'update', path: 'steps.1', step: editedStep, revision: 0, by: 'ada' };
  await loseTheWord('heard-edit', [
    { name: EDIT, arg: edit },
    { name: ANSWER, arg: { id, choice: 'approve', by: 'ada' } },
  ]);
  const last = await harness.startWorker();
  await answer('heard-edit', { id, choice: 'approve', by: 'bob' }).catch(() => undefined);
  await harness.result('heard-edit');
  const edits = (await harness.events('heard-edit')).filter(({ type }) => type === 'edited');
  expect((await harness.rows('edited')).map(({ n }) => n)).toEqual([edits.length === 1 ? 2 : 1]);
  expect(await notReplayed(harness, ['heard-edit'], 0)).toEqual([]);
  await last.kill9();
});

test('a run that is held does nothing more for one who said that it goes on, and was not heard', async () => {
  const id = await asked('heard-resume', 'resumed');
  const holding = await harness.startWorker();
  await harness.say('heard-resume', 'pause');
  await answer('heard-resume', { id, choice: 'approve', by: 'ada' });
  await holding.kill9();
  await loseTheWord('heard-resume', [{ name: UPDATES.resume, arg: false }]);
  await harness.startWorker();
  const { status } = await harness.state('heard-resume');
  if (status === 'paused') expect(await harness.rows('resumed')).toEqual([]);
  if (status === 'paused') await harness.say('heard-resume', 'resume');
  await harness.result('heard-resume');
  expect(await harness.rows('resumed')).toHaveLength(1);
});

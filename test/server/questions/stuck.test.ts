/** A model that turns in circles on a real server: a rule asks, over a dead worker, and the answer reaches the model. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { once } from '../harness/definitions.ts';
import { Harness, until } from '../harness/harness.ts';
import { ModelDouble } from '../harness/models/model-double.ts';
import { answers } from '../harness/models/model-runs.ts';
import type { Reply } from '../../models/wires/double.ts';
import { openAiWire as wire } from '../../models/wires/openai-wire.ts';
import { streamed } from '../../models/wires/wire.ts';

let harness: Harness;
let model: ModelDouble;
beforeAll(async () => {
  harness = await Harness.open();
  model = await new ModelDouble().open();
  writeFileSync(join(harness.project, 'a.txt'), 'what a says');
});
afterAll(async () => {
  await harness.close();
  await model.close();
});

const read: Reply = streamed(
  wire,
  wire.events({
    parts: [{ call: { id: 'a', name: 'code_read', pieces: ['{"path":"a.txt"}'] } }],
    reason: wire.reasons.calls,
  }),
);
const asked = (): (typeof model.double.asked)[number][] => model.double.asked.filter(({ path }) => path === wire.path);

test('three times the same: the persona is asked, and what it says is told to the model', async () => {
  model.next(read, read, read, answers('Done.'));
  const first = await harness.startWorker(model.env);
  const handle = await harness.start(
    once(
      'circles',
      [{ type: 'llm', model: 'openai/some-model', prompt: 'The task', tools: ['code/read'], outputTo: 'answer' }],
      { escalateOn: [{ condition: 'unfamiliar', action: 'pause', priority: 'high' }] },
    ),
  );
  const id = 'steps.0@1/turn.3:stuck';
  await until(async () => (await harness.store.inbox.list({ handle })).some((item) => item.id === id));
  expect(asked()).toHaveLength(3);
  await first.kill9();
  await harness.startWorker(model.env);
  const inbox = await harness.command('inbox', 'show', handle, id);
  for (const said of ['turns in circles', 'code/read with the same arguments', 'approve|stop|skip|abort'])
    expect(inbox.out).toContain(said);
  const { digest } = (await harness.store.inbox.list({ handle }))[0] ?? {};
  const answered = await harness.command(
    'answer',
    handle,
    id,
    'approve',
    '--note',
    'Look into b.txt',
    '--digest',
    digest ?? '',
  );
  expect(answered.code).toBe(0);
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed', outputs: { answer: 'Done.' } });
  expect(asked()).toHaveLength(4);
  const said =
    wire
      .messages(asked().at(-1)?.body ?? {})
      .at(-1)
      ?.texts.join('') ?? '';
  expect(said).toContain('the last 3 calls were all of code/read with the same arguments, and gave the same');
  expect(said).toContain('A person who looked at it says: Look into b.txt');
  expect((await harness.command('transcript', handle)).out).toContain('with stuck 1');
  expect((await harness.command('replay', handle)).code).toBe(0);
});

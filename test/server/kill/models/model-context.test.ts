/** What a model is told besides its prompt, over a dead worker; and a definition that a model drafted, created and run. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Definition } from '../../../../language/model.ts';
import { once } from '../../harness/definitions.ts';
import { Harness, until } from '../../harness/harness.ts';
import { ModelDouble } from '../../harness/models/model-double.ts';
import { answers } from '../../harness/models/model-runs.ts';
import { openAiWire as wire } from '../../../models/wires/openai-wire.ts';

let harness: Harness;
let model: ModelDouble;
beforeEach(async () => {
  harness = await Harness.open();
  model = await new ModelDouble().open();
});
afterEach(async () => {
  await harness.close();
  await model.close();
});

const asked = (): string[] =>
  model.double.asked.filter(({ path }) => path === wire.path).map(({ body }) => JSON.stringify(body['messages']));
const write = (file: string, content: string): void => writeFileSync(join(harness.project, file), content);

test('the context of a pass is collected once, whatever there is when another worker takes the turn', async () => {
  write('notes.md', 'as the first pass found it');
  const definition: Definition = {
    ...once('with-context', [
      { type: 'shell', command: 'echo from a step', outputTo: 'found' },
      { type: 'llm', model: 'openai/some-model', prompt: 'What is next?', outputTo: 'answer' },
    ]),
    ragSources: ['notes.md', 'memory'],
    loop: { type: 'count', max: 2 },
  };
  model.next({ silentMs: Number.POSITIVE_INFINITY }, answers('First.'), answers('Second.'));
  const first = await harness.startWorker(model.env);
  const handle = await harness.start(definition);
  await until(() => asked().length === 1);
  await first.kill9();
  write('notes.md', 'as the second pass found it');
  await harness.startWorker(model.env);
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed', outputs: { answer: 'Second.' } });
  const [before = '', again = '', second = ''] = asked();
  expect(before).toContain('as the first pass found it');
  expect(before).toContain('from a step');
  expect(again).toBe(before);
  expect(second).toContain('as the second pass found it');
  expect(second).toContain('First.');
  const shown = await harness.command('transcript', handle, 'steps.1@1');
  for (const line of ['as the first pass found it', 'variable found', 'nothing is remembered'])
    expect(shown.out).toContain(line);
  expect(JSON.stringify(await harness.history(handle))).not.toContain('pass found it');
});

test('what a model drafts is created and run by its id, and what ai/generate costs counts', async () => {
  const drafted = { name: 'drafted', steps: [{ type: 'emit', event: 'drafted:ran', data: '$iteration' }] };
  model.next(answers(JSON.stringify(drafted)));
  await harness.startWorker(model.env);
  const handle = await harness.start(
    once(
      'drafting',
      [
        {
          type: 'command',
          command: 'ai/generate',
          params: { prompt: 'Draft a sentinel', model: 'openai/some-model' },
          outputTo: 'draft',
        },
        { type: 'command', command: 'sentinel/create', params: { definition: '$draft.data' }, outputTo: 'created' },
        { type: 'command', command: 'sentinel/run', params: { sentinelId: '$created.id' }, outputTo: 'started' },
        { type: 'watch', event: 'drafted:ran', timeoutMs: 60_000, outputTo: 'ran' },
      ],
      { trustDrafts: true },
    ),
  );
  const { outcome, outputs } = await harness.result(handle);
  expect({ outcome, created: outputs?.['created'], ran: outputs?.['ran'] }).toMatchObject({
    outcome: 'completed',
    created: { name: 'drafted', version: 1 },
    ran: { data: 1 },
  });
  const events = await harness.events(handle);
  const paid = events.flatMap((event) =>
    event.type === 'step-finished' && event.key === 'steps.0@1' ? [event.usage] : [],
  );
  expect(paid).toEqual([{ tokens: expect.any(Number) as number, usd: 0 }]);
});

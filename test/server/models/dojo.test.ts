/** The dojo's shorthand, handed to `sentinel/run` as it is: challenges again and again, until enough of them pass. */
import { expect, test } from 'vitest';
import { parseDefinition } from '../../../language/read/definition.ts';
import { catalogue } from '../../catalogue.ts';
import { Harness } from '../harness/harness.ts';
import { listModel } from '../harness/models/broken-project.ts';
import { answers, ScriptedModel } from '../harness/models/model-runs.ts';

const solutions = ['4', '5', '4', '6'];
const grades = [100, 20, 100, 90];

test('what failed is kept, a step of its own hears of it, and the loop ends at the share that is asked for', async () => {
  const harness = await Harness.open();
  const asked = (name: string): number => model.paid.get(name)?.[0] ?? 0;
  const model = new ScriptedModel(({ name }) =>
    name === 'Solve'
      ? answers(solutions[asked('Solve') - 1] ?? '')
      : answers(JSON.stringify({ score: grades[asked('Grade') - 1], explanation: 'It is 6.' })),
  );
  await model.open();
  try {
    listModel(model);
    await harness.startWorker(model.env);
    const challenges = [
      { input: '2 + 2', expectedOutput: '4' },
      { input: '3 + 3', expectedOutput: '6' },
    ];
    const lesson = { collection: 'lessons', data: { failed: '$challengeResults.failureCount' } };
    const read = parseDefinition(
      {
        name: 'trains',
        steps: [
          {
            type: 'command',
            command: 'sentinel/run',
            params: {
              challenges,
              measure: true,
              loopUntil: 'accuracy > 0.9',
              trainOnFailures: { type: 'command', command: 'data/create', params: lesson },
            },
            outputTo: 'dojo',
          },
        ],
      },
      { catalogue },
    );
    if (!read.ok) throw new Error(JSON.stringify(read.problems));
    const { result } = await harness.run(read.definition);
    const { handle } = result.outputs['dojo'] as { handle: string };
    expect(await harness.result(handle)).toMatchObject({ outcome: 'completed', iterations: 2 });
    expect([asked('Solve'), asked('Grade')]).toEqual([4, 4]);
    expect(await harness.rows('training_examples')).toMatchObject([
      { input: '3 + 3', expectedOutput: '6', correction: 'It is 6.' },
    ]);
    expect(await harness.rows('lessons')).toMatchObject([{ failed: 1 }]);
  } finally {
    await harness.close();
    await model.close();
  }
});

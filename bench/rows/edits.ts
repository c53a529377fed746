/** How long a run takes to answer an edit, and that a thousand of them leave its carried state as small as it was. */
import { editRun } from '../../runs/steer-run.ts';
import { startRun } from '../../runs/start-run.ts';
import type { Definition } from '../../language/model.ts';
import { QUERIES, workflowIdOf } from '../../workflows/messages/messages.ts';
import { bounded, percentile, type Row } from '../report.ts';
import type { World } from '../world.ts';

const waiting: Definition = {
  name: 'bench-edits',
  loop: { type: 'once' },
  steps: [
    { type: 'approval', message: 'Go on?', timeoutMs: 3_600_000 },
    { type: 'emit', event: 'edited', data: 0 },
  ],
};

export async function edits(world: World, quick: boolean): Promise<Row[]> {
  const count = quick ? 100 : 1000;
  const { store, client, catalogue } = world;
  const { handle, workflowId } = await startRun(
    { store, client, catalogue, taskQueue: 'sentinel' },
    { definition: waiting, inputs: {}, project: world.stage.project, persona: 'bench' },
  );
  const run = client.workflow.getHandle(workflowIdOf(handle));
  const size = async (): Promise<number> => JSON.stringify(await run.query(QUERIES.position)).length;
  const times: number[] = [];
  let before = Number.NaN;
  for (let revision = 0; revision < count; revision += 1) {
    const startedAt = performance.now();
    await editRun(client, handle, {
      op: 'update',
      path: 'steps.1',
      step: { type: 'emit', event: 'edited', data: revision },
      revision,
      by: 'bench',
    });
    times.push(performance.now() - startedAt);
    if (revision === 9) before = await size();
  }
  const after = await size();
  await client.workflow.getHandle(workflowId).cancel();
  return [
    bounded('an edit: p50', {
      value: percentile(times, 0.5),
      unit: 'ms',
      atMost: 100,
      note: `p99 ${percentile(times, 0.99).toFixed(0)} ms over ${count}`,
    }),
    bounded(`carried state after ${count} edits`, {
      value: after / before,
      unit: 'x',
      atMost: 1.05,
      note: `${after} against ${before} characters after ten`,
    }),
  ];
}

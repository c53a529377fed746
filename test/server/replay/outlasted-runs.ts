/**
 * Runs whose local activities outlast their workflow tasks, because nobody can write records for a while,
 * and somebody who says something to each of them meanwhile.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Definition } from '../../../language/model.ts';
import { contentHash } from '../../../prisma/store/values/content-hash.ts';
import { WORKFLOW_TYPE, workflowIdOf, type ControlVerb } from '../../../workflows/messages/messages.ts';
import type { StartInput } from '../../../workflows/messages/start-input.ts';
import type { Harness } from '../harness/harness.ts';
import { holdTable } from '../harness/held-table.ts';
import { entriesFor } from '../../../language/catalogue.ts';
import { catalogue } from '../../catalogue.ts';

/** So short that a task is over while its local activity waits for the store. */
const workflowTaskTimeout = '1 second';
/** The worker lets a task go on in another one after four fifths of that; in some of the runs just when the store goes on. */
const runs = 30;
const betweenMs = 40;
const sayAfterMs = 100;

async function start(harness: Harness, handle: string, definition: Definition): Promise<void> {
  const { store, project, client, taskQueue } = harness;
  const row = {
    handle,
    name: definition.name,
    definitionHash: contentHash(definition),
    project,
    persona: 'tester',
    parent: null,
    inputs: {},
    startedAt: Date.now(),
  };
  await store.runs.create(row);
  const input: StartInput = {
    definition,
    project,
    persona: 'tester',
    catalogue: entriesFor(catalogue, [definition]),
  };
  await client.workflow.start(WORKFLOW_TYPE, {
    workflowId: workflowIdOf(handle),
    taskQueue,
    workflowTaskTimeout,
    args: [input],
  });
}

export const many = (name: string): string[] => Array.from({ length: runs }, (_, n) => `outlasted-${name}-${n}`);

/** Starts one run after the other, says something to each while it waits for the store, and lets the store go on. */
export async function outlast(
  harness: Harness,
  handles: readonly string[],
  definition: Definition,
  say: (handle: string) => Promise<unknown>,
): Promise<void> {
  const records = await holdTable(harness, 'records');
  const said = handles.map(async (handle, n) => {
    await sleep(n * betweenMs);
    await start(harness, handle, definition);
    await sleep(sayAfterMs);
    await say(handle);
  });
  await sleep(runs * betweenMs + 200);
  await records.letGo();
  await Promise.all(said);
}

/** Temporal refuses for a while what is said to a run whose short tasks time out on a busy machine. */
export async function heard(harness: Harness, handle: string, verb: ControlVerb): Promise<void> {
  await harness.say(handle, verb).catch(() => undefined);
}

/** Says it until it is taken, or the run has ended: what was taken once has to be done. */
export async function taken(harness: Harness, handle: string, verb: ControlVerb): Promise<void> {
  for (;;) {
    const refusal: unknown = await harness.say(handle, verb).then(
      () => null,
      (error: unknown) => error,
    );
    if (refusal === null || (await harness.store.runs.find(handle))?.outcome !== null) return;
    await sleep(500);
  }
}

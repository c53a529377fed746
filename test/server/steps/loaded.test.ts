/** Where everything takes its time, between a segment that leaves a step and the activity that goes on with it too, each command runs once. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { once, shell } from '../harness/definitions.ts';
import { useHarnesses } from '../harness/opened.ts';

const openHarness = useHarnesses();
const RUNS = 60;
/** Processes that do nothing but take the processor's time. */
const BUSY = 3;

const say = (what: string) => shell(`echo $id ${what}-begun >> $out; sleep 0.3; echo $id ${what} >> $out`);

test('of many runs on a machine that is busy no command runs twice', async () => {
  const harness = await openHarness();
  const out = join(harness.project, 'effects');
  const definition = once('loaded', [say('one'), say('two')], { always: [say('last')] });
  const busy = Array.from({ length: BUSY }, () => spawn('sh', ['-c', 'while :; do :; done']));
  try {
    await harness.startWorker();
    const ids = Array.from({ length: RUNS }, (_, i) => `r${i}`);
    await Promise.all(ids.map((id) => harness.start(definition, { handle: id, inputs: { id, out } })));
    for (const id of ids) expect(await harness.result(id)).toMatchObject({ outcome: 'completed' });
    const lines = ['one', 'two', 'last'].flatMap((what) => [`${what}-begun`, what]);
    const told = ids.flatMap((id) => lines.map((line) => `${id} ${line}`));
    expect(readFileSync(out, 'utf8').trim().split('\n').toSorted()).toEqual(told.toSorted());
  } finally {
    for (const one of busy) one.kill('SIGKILL');
  }
}, 400_000);

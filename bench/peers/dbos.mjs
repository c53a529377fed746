// The same steps as a DBOS workflow, 40 one after the other or 20 side by side: each reads a file, reads a row, or
// writes one. Prints one line of JSON.
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DBOS } from '@dbos-inc/dbos-sdk';
import pg from 'pg';
import { urlOf } from './database-url.mjs';

const [mix, size, shape] = process.argv.slice(2);
const url = process.env.BENCH_DATABASE_URL;
const project = process.env.BENCH_PROJECT;
const pool = new pg.Pool({ connectionString: url, max: 10 });
const steps = shape === 'fan' ? 20 : 40;

const work = {
  'code-read': () => readFile(join(project, 'notes.txt'), 'utf8'),
  'data-read': async () =>
    (await pool.query('select data from bench_rows where id = $1', ['row'])).rows[0]?.data ?? null,
  'data-create': async (index) => {
    const id = randomUUID();
    await pool.query('insert into bench_rows (id, data) values ($1, $2)', [id, JSON.stringify({ index })]);
    return id;
  },
}[mix];
if (work === undefined) throw new Error(`no such work: ${mix}; name one of code-read, data-read, data-create`);

DBOS.setConfig({
  name: 'sentinel-bench',
  systemDatabaseUrl: urlOf('bench_dbos'),
  logLevel: 'error',
});
const step = (index) => DBOS.runStep(() => work(index), { name: mix });
const workflow = DBOS.registerWorkflow(
  async () => {
    if (shape === 'fan') await Promise.all(Array.from({ length: steps }, (_, index) => step(index)));
    else for (let index = 0; index < steps; index += 1) await step(index);
  },
  { name: 'steps' },
);
await DBOS.launch();

async function inParallel(count, width) {
  const times = [];
  let left = count;
  const startedAt = performance.now();
  const lane = async () => {
    while (left > 0) {
      left -= 1;
      const began = performance.now();
      await (await DBOS.startWorkflow(workflow)()).getResult();
      times.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
  return { times: times.sort((a, b) => a - b), wallMs: performance.now() - startedAt };
}

const [alone, together, turns] = size === 'quick' ? [15, 64, 1] : [60, 320, 3];
await inParallel(size === 'quick' ? 8 : 40, 8);
const { times } = await inParallel(alone, 1);
const wallMs = [];
for (let turn = 0; turn < turns; turn += 1) wallMs.push((await inParallel(together, 32)).wallMs);
const middle = wallMs.sort((a, b) => a - b)[Math.floor(turns / 2)];
process.stdout.write(
  `\n${JSON.stringify({ p50: times[Math.floor(times.length / 2)], stepsPerSecond: (together * steps * 1000) / middle })}\n`,
);
await DBOS.shutdown();
await pool.end();
process.exit(0);

/**
 * `npm run bench`: one table of what was measured, what is allowed, and the verdict. Ends with 1 when
 * a limit is missed. `--only NAME` (may be repeated) picks a part, `--quick` measures less, `--json`
 * prints one document, `--runs N` says how many runs wait in `subscribers`.
 */
import { parseArgs } from 'node:util';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { type Row, skipped, table } from './report.ts';
import { activations } from './rows/activations.ts';
import { bundleRows } from './rows/bundle.ts';
import { commandLine } from './rows/command-line.ts';
import { edits } from './rows/edits.ts';
import { longLoop, stepLoop } from './rows/long-loop.ts';
import { manyRuns } from './rows/many-runs.ts';
import { overhead } from './rows/overhead.ts';
import { quickRows } from './rows/quick-steps.ts';
import { replay } from './rows/replay.ts';
import { subscribers } from './rows/subscribers.ts';
import { openWorld, type World } from './world.ts';

const PARTS: { [name: string]: (world: World, quick: boolean, runs?: number) => Promise<Row[]> } = {
  bundle: bundleRows,
  quick: quickRows,
  overhead,
  replay,
  activations,
  'many-runs': manyRuns,
  'long-loop': longLoop,
  'step-loop': stepLoop,
  subscribers,
  edits,
  'command-line': commandLine,
};

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { only: { type: 'string', multiple: true }, quick: { type: 'boolean' }, json: { type: 'boolean' }, runs: { type: 'string' } },
  });
  const chosen = values.only ?? Object.keys(PARTS);
  const unknown = chosen.filter((name) => !Object.hasOwn(PARTS, name));
  if (unknown.length > 0) {
    process.stderr.write(`bench: there is no part ${unknown.join(', ')}; the parts are ${Object.keys(PARTS).join(', ')}\n`);
    return 2;
  }
  const runs = values.runs === undefined ? undefined : Number(values.runs);
  if (runs !== undefined && !(Number.isInteger(runs) && runs > 0)) {
    process.stderr.write(`bench: --runs takes a whole number, not "${values.runs}"\n`);
    return 2;
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const rows = await measure(chosen, { quick: values.quick === true, quiet: values.json === true, runs });
  const missed = rows.filter((row) => row.verdict === 'missed');
  if (values.json === true) process.stdout.write(`${JSON.stringify({ ok: missed.length === 0, rows }, null, 2)}\n`);
  else process.stdout.write(`\n${table(rows)}\n\n${missed.length === 0 ? 'every limit is kept' : `${missed.length} limits are missed`}\n`);
  return missed.length === 0 ? 0 : 1;
}

async function measure(chosen: readonly string[], { quick, quiet, runs }: { quick: boolean; quiet: boolean; runs: number | undefined }): Promise<Row[]> {
  const rows: Row[] = [];
  const world = await openWorld();
  try {
    for (const name of chosen) {
      const part = PARTS[name];
      if (part === undefined) continue;
      process.stderr.write(`bench: ${name}\n`);
      const found = await part(world, quick, runs).catch((error: unknown): Row[] => [failed(name, error)]);
      rows.push(...found);
      if (!quiet) process.stderr.write(`${table(found)}\n`);
    }
  } finally {
    await world.end();
  }
  return rows;
}

/** A part that cannot be measured is a limit that is not kept. */
function failed(name: string, error: unknown): Row {
  return { ...skipped(name, error instanceof Error ? error.message : String(error)), verdict: 'missed' };
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`bench: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(1);
  },
);

/**
 * `npm run bench`: one table of what was measured, what is allowed, and the verdict. Ends with 1 when
 * a limit is missed. `--help` says what it takes.
 */
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { Command, InvalidArgumentError, Option } from 'commander';
import { type Row, skipped, table } from './report.ts';
import { activations } from './rows/activations.ts';
import { agentKills, readingAgents, writingAgents } from './rows/agents.ts';
import { backAtWork } from './rows/back-at-work.ts';
import { bundleRows } from './rows/bundle.ts';
import { checkpoints } from './rows/checkpoints.ts';
import { commandLine } from './rows/command-line.ts';
import { edits } from './rows/edits.ts';
import { fans } from './rows/quick/fans.ts';
import { localModel } from './rows/local-model.ts';
import { longList } from './rows/long-list.ts';
import { longLoop, stepLoop } from './rows/long-loop.ts';
import { manyRuns } from './rows/many-runs.ts';
import { memories } from './rows/memories.ts';
import { overhead } from './rows/overhead.ts';
import { quickRows } from './rows/quick/steps.ts';
import { records } from './rows/records.ts';
import { replay } from './rows/replay.ts';
import { shellRows } from './rows/shell-steps.ts';
import { subscribers } from './rows/subscribers.ts';
import { openWorld, type World } from './world.ts';

const PARTS: { [name: string]: (world: World, quick: boolean, own: OwnOptions) => Promise<Row[]> } = {
  'shell-steps': shellRows,
  'writing-agents': writingAgents,
  bundle: bundleRows,
  quick: quickRows,
  fans,
  overhead,
  replay,
  activations,
  'many-runs': manyRuns,
  'long-loop': longLoop,
  'step-loop': stepLoop,
  'long-list': longList,
  subscribers,
  edits,
  checkpoints,
  records,
  memories,
  'command-line': commandLine,
  agents: readingAgents,
  'agent-kills': agentKills,
  'back-at-work': backAtWork,
  'local-model': localModel,
};

/** Of single parts. */
interface OwnOptions {
  runs?: number | undefined;
  base?: string | undefined;
}

interface Options extends OwnOptions {
  only?: string[];
  quick?: boolean;
  json?: boolean;
}

function readOptions(): Options {
  return new Command('bench')
    .description(
      'Measures beside hand-written workflows and others of the field, and prints what is allowed and the verdict. Exit code 1 when a limit is missed.',
    )
    .addOption(new Option('--only <part...>', 'these parts alone').choices(Object.keys(PARTS)))
    .option('--quick', 'measure less')
    .option('--json', 'print one JSON document on stdout')
    .option('--runs <count>', 'runs that wait in subscribers', count)
    .option('--base <folder>', 'another built checkout, beside this one in back-at-work')
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
    .parse()
    .opts<Options>();
}

function count(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) throw new InvalidArgumentError('It is a whole number from 1.');
  return number;
}

async function main(): Promise<number> {
  const { only: chosen = Object.keys(PARTS), quick = false, json = false, runs, base } = readOptions();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const rows = await measure(chosen, { quick, quiet: json, runs, base });
  const missed = rows.filter((row) => row.verdict === 'missed');
  if (json) process.stdout.write(`${JSON.stringify({ ok: missed.length === 0, rows }, null, 2)}\n`);
  else
    process.stdout.write(
      `\n${table(rows)}\n\n${missed.length === 0 ? 'every limit is kept' : `${missed.length} limits are missed`}\n`,
    );
  return missed.length === 0 ? 0 : 1;
}

async function measure(
  chosen: readonly string[],
  { quick, quiet, ...own }: OwnOptions & { quick: boolean; quiet: boolean },
): Promise<Row[]> {
  const rows: Row[] = [];
  const world = await openWorld();
  try {
    for (const name of chosen) {
      const part = PARTS[name];
      if (part === undefined) continue;
      process.stderr.write(`bench: ${name}\n`);
      const found = await part(world, quick, own).catch((error: unknown): Row[] => [failed(name, error)]);
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

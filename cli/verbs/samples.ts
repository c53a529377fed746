/** `sentinel samples [HANDLE…]`. */
import type { Command } from 'commander';
import type { RunOutcome, StepOutcome } from '../../language/events/run-event.ts';
import { visible } from '../../language/events/visible.ts';
import { defined } from '../../language/defined.ts';
import { RUN_OUTCOMES, STEP_OUTCOMES, type Sample, type SampleQuery } from '../../client/lookup/samples.ts';
import { openOutput, type Output } from '../output/output.ts';
import { momentOf } from '../request/moment.ts';
import { oneOf } from '../request/usage.ts';
import { withClient } from '../request/with-client.ts';
import { runNamed } from '../runs/run-named.ts';

interface Options {
  json?: boolean;
  outcome?: RunOutcome[];
  stepOutcome?: StepOutcome[];
  name?: string;
  since?: number;
  format: string;
  output?: string;
}

const listOf =
  <Choice extends string>(option: string, choices: readonly Choice[]) =>
  (text: string): Choice[] =>
    text.split(',').map((one) => oneOf(option, choices)(one.trim()));

export function define(command: Command): void {
  command
    .description(
      'Writes conversations with models as training samples: JSON Lines, one conversation a line, {messages, tools, metadata}. Without a handle, of all runs. Exit code 4 if there is no such run.',
    )
    .argument('[handles...]', 'handles of runs; their nested runs are included')
    .option(
      '--outcome <list>',
      `only runs with these outcomes: ${RUN_OUTCOMES.join(', ')}`,
      listOf('--outcome', RUN_OUTCOMES),
    )
    .option(
      '--step-outcome <list>',
      `only steps with these outcomes: ${STEP_OUTCOMES.join(', ')}`,
      listOf('--step-outcome', STEP_OUTCOMES),
    )
    .option('--name <name>', 'only runs of the definition with this name')
    .option(
      '--since <when>',
      'only runs that started since a date, a time, or an age (90m, 12h, 7d)',
      momentOf('--since'),
    )
    .option(
      '--format <format>',
      'chat: messages and tools in the form of chat completions',
      oneOf('--format', ['chat']),
      'chat',
    )
    .option('-o, --output <file>', 'the file to write (default: stdout)')
    .addHelpText(
      'after',
      `
Examples:
  sentinel samples --outcome completed --name review -o review.jsonl
  sentinel samples nightly --step-outcome ok
  sentinel samples --since 7d -o week.jsonl --json    {file, samples, runs}`,
    )
    .action((handles: string[], options: Options) => samples(handles, options));
}

async function samples(given: string[], options: Options): Promise<void> {
  const output = openOutput(options);
  const { outcome, stepOutcome, name, since, output: file } = options;
  const query: SampleQuery = defined({ outcomes: outcome, stepOutcomes: stepOutcome, name, since });
  await withClient(output, async (client) => {
    const handles = await Promise.all(given.map((handle) => runNamed(client, handle)));
    const found = client.samples({ ...query, ...(handles.length === 0 ? {} : { handles }) });
    if (file === undefined) for await (const sample of found) output.raw(visible(JSON.stringify(sample)));
    else await toFile(file, found, output);
  });
}

async function toFile(file: string, found: AsyncGenerator<Sample>, output: Output): Promise<void> {
  const runs = new Set<string>();
  let count = 0;
  const lines = async function* (): AsyncGenerator<string> {
    for await (const sample of found) {
      yield `${JSON.stringify(sample)}\n`;
      runs.add(sample.metadata.handle);
      count += 1;
    }
  };
  const { writeWholeFile } = await import('../files/whole-file.ts');
  await writeWholeFile('--output', file, lines());
  output.line(
    `${output.paint.good('✔')} ${file}  ${count} ${count === 1 ? 'sample' : 'samples'} of ${runs.size} ${runs.size === 1 ? 'run' : 'runs'}`,
  );
  output.object({ file, samples: count, runs: runs.size });
}

/** `sentinel logs HANDLE`. */
import type { Command } from 'commander';
import type { LogQuery } from '../../client/contract/shown.ts';
import { LogView } from '../output/log-view.ts';
import { openOutput } from '../output/output.ts';
import { oneOf, usage, wholeNumber } from '../request/usage.ts';
import { withRun } from '../runs/run-named.ts';
import { defined } from '../../language/defined.ts';

const STREAMS = ['combined', 'stdout', 'stderr', 'model'] as const;

interface Options {
  json?: boolean;
  stream: (typeof STREAMS)[number];
  lines: number;
  step?: string;
  nested: boolean;
  time?: boolean;
  follow?: boolean;
  raw?: boolean;
}

export function define(command: Command): void {
  command
    .description(
      'Shows the output of the steps of a run and its nested runs, and what models said: thoughts are marked with ~, calls with →. ' +
        "If several steps printed, each line begins with its step's key. Exit code 4 if there is no such run.",
    )
    .argument('<handle>', 'the run')
    .option('--stream <name>', 'stdout, stderr, model, or combined', oneOf('--stream', STREAMS), 'combined')
    .option('--lines <n>', 'the number of last lines', wholeNumber('--lines', { min: 0, max: 100_000 }), 200)
    .option('--step <key>', 'only this step and everything inside it: steps.2@1, or steps.2 for every pass')
    .option('--no-nested', 'only the steps of the run itself')
    .option('--time', 'show when each line was written (UTC)')
    .option('--follow', 'show everything from the beginning, and continue until the run has ended')
    .option('--raw', 'print control characters unchanged, including colours')
    .addHelpText(
      'after',
      `
Examples:
  sentinel logs nightly
  sentinel logs nightly --stream stderr --lines 20
  sentinel logs nightly --step steps.2@1/steps.0 --time    step 0 of the run that step 2 started
  sentinel logs nightly --follow --json    {handle, key, stream, at, text} a line`,
    )
    .action((handle: string, options: Options, self: Command) => {
      if (options.raw === true && options.json === true)
        throw usage('--raw passes on what was printed and --json prints JSON; give one of them.');
      if (options.follow !== true) return tail(handle, options);
      if (self.getOptionValueSource('lines') !== 'default')
        throw usage('--follow shows everything from the beginning and --lines only the end; give one of them.');
      return follow(handle, options);
    });
}

async function tail(given: string, options: Options): Promise<void> {
  const output = openOutput(options);
  await withRun(output, given, async (client, handle) => {
    await client.find(handle);
    const { lines, isOfSeveral } = await client.logs(handle, queryOf(options), options.lines);
    output.object({ handle, stream: options.stream, lines });
    new LogView(output, handle, options).showAll(lines, !output.json && (await isOfSeveral()));
    if (lines.length === 0 && options.lines > 0) sayNothing(handle, options, output.note);
  });
}

async function follow(given: string, options: Options): Promise<void> {
  const output = openOutput({ ...options, streams: true });
  await withRun(output, given, async (client, handle) => {
    await client.find(handle);
    const view = new LogView(output, handle, options);
    let isEmpty = true;
    for await (const line of client.followLogs(handle, queryOf(options))) {
      isEmpty = false;
      output.object(line);
      view.show(line);
    }
    if (isEmpty) sayNothing(handle, options, output.note);
  });
}

const queryOf = ({ stream, nested, step }: Options): LogQuery => ({
  stream,
  nested,
  ...defined({ step }),
});

function sayNothing(handle: string, { step, stream, nested }: Options, note: (text: string) => void): void {
  const on = stream === 'combined' ? '' : ` on ${stream}`;
  if (step !== undefined)
    note(
      `sentinel: nothing was printed${on} by "${step}" of ${handle}; "sentinel trace ${handle}" shows the keys of its steps.`,
    );
  else
    note(
      `sentinel: no step of ${handle}${nested ? '' : ' itself'} has printed anything${on}; "sentinel trace ${handle}" shows what its steps did.`,
    );
}

/** `sentinel logs HANDLE`. */
import type { Command } from 'commander';
import { openOutput } from '../output/output.ts';
import { oneOf, usage, wholeNumber } from '../request/usage.ts';
import { withClient } from '../request/with-client.ts';

const STREAMS = ['combined', 'stdout', 'stderr', 'model'] as const;

interface Options {
  json?: boolean;
  stream: (typeof STREAMS)[number];
  lines: number;
  follow?: boolean;
  raw?: boolean;
}

export function define(command: Command): void {
  command
    .description(
      'Shows what the steps of a run printed, and what models said: thoughts behind ~, calls behind →. Exit code 4 when there is no such run.',
    )
    .argument('<handle>', 'the run')
    .option('--stream <name>', 'stdout, stderr, model, or combined', oneOf('--stream', STREAMS), 'combined')
    .option('--lines <n>', 'the last so many lines', wholeNumber('--lines', { min: 0, max: 100_000 }), 200)
    .option('--follow', 'everything from the beginning, and then what comes until the run has ended')
    .option('--raw', 'what was printed as it is, with colours and whatever else a terminal obeys')
    .addHelpText(
      'after',
      `
Examples:
  sentinel logs nightly
  sentinel logs nightly --stream stderr --lines 20
  sentinel logs nightly --follow --json    {"line": …} a line`,
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

async function tail(handle: string, options: Options): Promise<void> {
  const output = openOutput(options);
  const show = options.raw === true ? output.raw : output.line;
  await withClient(output, async (client) => {
    await client.find(handle);
    const lines = await (await client.store()).logs.tail(handle, options.stream, options.lines);
    output.object({ handle, stream: options.stream, lines });
    for (const line of lines) show(line);
  });
}

async function follow(handle: string, options: Options): Promise<void> {
  const output = openOutput({ ...options, streams: true });
  const show = options.raw === true ? output.raw : output.line;
  await withClient(output, async (client) => {
    await client.find(handle);
    for await (const line of (await client.store()).logs.follow(handle, options.stream, {})) {
      output.object({ line });
      show(line);
    }
  });
}

/** `sentinel cassette HANDLE`. */
import type { Command } from 'commander';
import { visible } from '../../language/events/visible.ts';
import { openOutput } from '../output/output.ts';
import { withRun } from '../runs/run-named.ts';

interface Options {
  json?: boolean;
  output?: string;
}

export function define(command: Command): void {
  command
    .description(
      'Writes the requests of a run and of all runs below it to models, with the answers, to a cassette. "run --replay" answers from a cassette without a model. Exit code 4 if there is no such run.',
    )
    .argument('<handle>', 'the run')
    .option('-o, --output <file>', 'the file to write (default: stdout)')
    .addHelpText(
      'after',
      `
Examples:
  sentinel cassette nightly -o nightly.cassette.json
  sentinel run nightly.json --replay nightly.cassette.json
  sentinel cassette nightly -o nightly.cassette.json --json    {handle, file, requests}`,
    )
    .action(async (given: string, options: Options) => {
      const output = openOutput(options);
      const { output: file } = options;
      await withRun(output, given, async (client, handle) => {
        const { recordCassette } = await import('../../client/cassettes/recorded-cassette.ts');
        const { text, requests } = await recordCassette(client, [handle]);
        if (file === undefined) {
          output.raw(visible(text.trimEnd()));
          return;
        }
        const { writeWholeFile } = await import('../files/whole-file.ts');
        await writeWholeFile('--output', file, [text]);
        output.line(`${output.paint.good('✔')} ${file}  ${requests} ${requests === 1 ? 'request' : 'requests'}`);
        output.object({ handle, file, requests });
      });
    });
}

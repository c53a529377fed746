/** `sentinel events [PATTERN]`: published events with their data. */
import type { Command } from 'commander';
import type { KeptEvent } from '../../client/contract/shown.ts';
import { previewOf } from '../../language/events/preview.ts';
import { defined } from '../../language/defined.ts';
import { oneLine } from '../../client/show/trace.ts';
import { openOutput, type Output } from '../output/output.ts';
import { wholeNumber } from '../request/usage.ts';
import { withClient } from '../request/with-client.ts';
import { lastAsRun } from '../runs/handles-typed.ts';
import { runNamed } from '../runs/run-named.ts';

interface Options {
  json?: boolean;
  run?: string;
  limit: number;
  follow?: boolean;
}

export function define(command: Command): void {
  command
    .description(
      'Shows the events that runs, people and Sentinel itself have published, in order, with their data. Exit code 4 if there is no such run.',
    )
    .argument('[pattern]', 'a name, or a pattern such as deploy:* (default: all events)')
    .option('--run <handle>', 'only events that this run and its nested runs published')
    .option('--limit <n>', 'the number of latest events', wholeNumber('--limit', { min: 1, max: 10_000 }), 50)
    .option('--follow', 'continue with new events, until Ctrl-C or until the run of --run has ended')
    .addHelpText(
      'after',
      `
Examples:
  sentinel events
  sentinel events 'deploy:*' --limit 10
  sentinel events --run nightly --json    [{position, name, data, handle, key, at}]`,
    )
    .action((pattern: string | undefined, options: Options) => {
      const { words, run } = lastAsRun(pattern === undefined ? [] : [pattern], options.run);
      return events(words[0], { ...options, ...defined({ run }) });
    });
}

async function events(pattern: string | undefined, options: Options): Promise<void> {
  const output = openOutput({ ...options, streams: options.follow === true });
  await withClient(output, async (client) => {
    const handle = options.run === undefined ? undefined : await runNamed(client, options.run);
    if (handle !== undefined) await client.find(handle);
    const query = defined({ pattern, handle });
    const found = await client.published({ ...query, limit: options.limit });
    for (const event of found) show(event, output);
    if (options.follow === true) {
      for (const event of found) output.object(event);
      for await (const event of client.followPublished(query, found.at(-1)?.position ?? 0)) {
        output.object(event);
        show(event, output);
      }
    } else {
      output.object(found);
      if (found.length === 0) output.note('sentinel: nothing of that kind was published.');
    }
  });
}

function show({ name, data, handle, key, at }: KeptEvent, { line, paint }: Output): void {
  // Outside of runs the key is made of the name and the id.
  const from = handle.startsWith('@') ? `${handle.slice(1)} ${key.replace(`${name}/`, '')}` : `${handle} ${key}`;
  const when = new Date(at).toISOString().slice(0, 19).replace('T', ' ');
  const said = data === null ? '' : `  ${oneLine(previewOf(data))}`;
  line(`${paint.dim(when)}  ${paint.strong(name)}${said}  ${paint.dim(from)}`);
}

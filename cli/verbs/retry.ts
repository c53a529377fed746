/** `sentinel retry HANDLE`: a new run from what failed in an old one. */
import type { Command } from 'commander';
import type { ItemsAsked } from '../../client/history/ended-lists.ts';
import { retryPlace } from '../../client/history/retry-place.ts';
import { EXIT } from '../output/exit-codes.ts';
import { openOutput } from '../output/output.ts';
import { forkOptions, forkRequest, startFork, type ForkOptions } from '../runs/fork-request.ts';
import { withRun } from '../runs/run-named.ts';
import { defined } from '../../language/defined.ts';
import { usage } from '../request/usage.ts';

interface Options extends ForkOptions {
  at?: string;
  items?: ItemsAsked;
}

export function define(command: Command): void {
  command
    .description(
      'Starts a new run from what failed in an old one, with the results so far: from the failed items of a list, whose other items keep their results, or from the step that failed. ' +
        'If the step is inside a nested run, the step that started that run is repeated. ' +
        'The old run does not change. Follows the new run, with the exit codes of "run"; also 1 if the old run has not failed, 4 if there is no such run.',
    )
    .argument('<handle>', 'the run that failed')
    .option(
      '--items <which>',
      'items of a list: "failed" (the default), or numbers and ranges that count from 0: 3,7-9',
      itemNumbers,
    )
    .option('--at <key>', 'the list, if the run has several: the key of its step, as "sentinel trace" names it');
  forkOptions(command)
    .addHelpText(
      'after',
      `
Examples:
  sentinel retry nightly
  sentinel retry nightly --items 3,7-9
  sentinel retry nightly --at steps.2@1 --items failed    the failed items of one of several lists
  sentinel retry nightly --set attempts=0
  sentinel retry nightly --edit nightly.json --detach --json    the report, with origin {type, of, at}`,
    )
    .action(async (handle: string, options: Options) => {
      process.exitCode = await retry(handle, options);
    });
}

async function retry(given: string, options: Options): Promise<number> {
  const output = openOutput({ ...options, streams: true });
  const request = await forkRequest(options, output);
  if (request === null) return EXIT.usage;
  return withRun(output, given, async (client, handle) => {
    const [run, events] = [await client.find(handle), await client.events(handle)];
    const { others, ...place } = retryPlace(run, events, defined({ at: options.at, items: options.items }));
    if (place.lists === undefined) output.note(`sentinel: ${handle} failed at ${place.at}; the new run begins there.`);
    for (const { key, items } of others)
      output.note(
        `sentinel: ${items.failed} of ${items.count} items of ${key} failed, which the new run leaves as they are; to perform them again: sentinel retry ${handle} --at ${key}`,
      );
    return startFork(client, { ...request, handle, ...place }, options, output);
  });
}

/** No list has more. */
const itemMax = 999_999;

/** Of `--items`, which items of a list, counted from 0: `failed`, or numbers and ranges: `3,7-9`. */
export function itemNumbers(text: string): ItemsAsked {
  if (text === 'failed') return 'failed';
  const wrong = usage(`--items is "${text}"; write "failed", or numbers and ranges that count from 0: --items 3,7-9.`);
  const items = new Set<number>();
  for (const part of text.split(',')) {
    const [, from = '', to = from] = /^\s*(\d+)\s*(?:-\s*(\d+)\s*)?$/.exec(part) ?? [];
    const [first, last] = [Number(from), Number(to)];
    if (from === '' || first > last || last > itemMax) throw wrong;
    for (let item = first; item <= last; item += 1) items.add(item);
  }
  return [...items].toSorted((a, b) => a - b);
}

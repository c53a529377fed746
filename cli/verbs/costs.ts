/** `sentinel costs [HANDLE]`. */
import type { Command } from 'commander';
import { dollars } from '../../language/events/event-words.ts';
import { defined } from '../../language/defined.ts';
import { COST_GROUPS, type CostGroup, type CostSum } from '../../client/contract/shown.ts';
import { openOutput, type Output } from '../output/output.ts';
import { table } from '../output/table.ts';
import { momentOf } from '../request/moment.ts';
import { oneOf } from '../request/usage.ts';
import { withClient } from '../request/with-client.ts';
import { runNamed } from '../runs/run-named.ts';

interface Options {
  json?: boolean;
  by?: CostGroup;
  since?: number;
  persona?: string;
}

export function define(command: Command): void {
  command
    .description(
      'Sums the costs of models: tokens and, for models with a known price, US dollars. Failed requests are included. Tokens without a known price, and requests that were lost with their worker, are listed beside the sum. Exit code 4 if there is no such run.',
    )
    .argument('[handle]', 'one run with its nested runs (default: all runs)')
    .option('--by <what>', `one row for each ${COST_GROUPS.join(', ')}`, oneOf('--by', COST_GROUPS))
    .option('--since <when>', 'only requests since a date, a time, or an age (90m, 12h, 7d)', momentOf('--since'))
    .option('--persona <id>', 'only runs of this persona')
    .addHelpText(
      'after',
      `
Examples:
  sentinel costs
  sentinel costs nightly --by step
  sentinel costs --by day --since 7d --json    {by, total, rows: [{group, requests, input, output, usd, …}]}`,
    )
    .action((handle: string | undefined, options: Options) => costs(handle, options));
}

async function costs(given: string | undefined, { by: asked, since, persona, json }: Options): Promise<void> {
  const output = openOutput(json === undefined ? {} : { json });
  const by = asked ?? (given === undefined ? 'sentinel' : 'step');
  await withClient(output, async (client) => {
    const handle = given === undefined ? undefined : await runNamed(client, given);
    const found = await client.costs({
      by,
      ...defined({ handle, since, persona }),
    });
    output.object({ ...defined({ handle }), by, ...found });
    if (found.total.requests === 0) {
      output.line('No model was asked.');
      return;
    }
    const rows = [...found.rows, { ...found.total, group: 'total' }].map((row) => [
      row.group === '' ? '(not known)' : row.group,
      ...cellsOf(row),
    ]);
    const header = [by.toUpperCase(), 'REQUESTS', 'SENT', 'FROM CACHE', 'ANSWERED', 'THOUGHT', 'COST'];
    for (const line of table(header, rows, output.paint)) output.line(line);
    sayWhatIsMissing(output, found.total);
  });
}

const count = (number: number): string => number.toLocaleString('en-US');

function cellsOf(sum: CostSum): string[] {
  const { requests, input, output, cacheRead, cacheWrite, thinking } = sum;
  return [requests, input + cacheRead + cacheWrite, cacheRead, output, thinking].map(count).concat(costOf(sum));
}

function costOf({ usd, unpricedTokens }: CostSum): string {
  if (unpricedTokens === 0) return usd === 0 ? '$0' : dollars(usd);
  return usd === 0 ? 'not known' : `${dollars(usd)} and more`;
}

function sayWhatIsMissing(output: Output, { failed, lost, estimated, unpricedTokens }: CostSum): void {
  const requests = (number: number): string => `${count(number)} request${number === 1 ? '' : 's'}`;
  if (unpricedTokens > 0)
    output.note(
      `the price of ${count(unpricedTokens)} tokens is not known, and they are in no sum of money: give their models prices in "models.prices" of sentinel.config`,
    );
  if (lost > 0)
    output.note(`the answers of ${requests(lost)} were lost; what ${lost === 1 ? 'it' : 'they'} cost is not known`);
  if (failed > 0) output.note(`${requests(failed)} came to no answer; what they used is counted`);
  if (estimated > 0) output.note(`the tokens of ${requests(estimated)} are estimated, since the provider did not say`);
}

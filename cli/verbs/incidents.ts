/** `sentinel incidents [QUESTION…]`. */
import type { Command } from 'commander';
import { INCIDENT_KINDS, type Incident, type IncidentKind } from '../../client/contract/shown.ts';
import { openOutput, type Output } from '../output/output.ts';
import { momentOf } from '../request/moment.ts';
import { oneOf, wholeNumber } from '../request/usage.ts';
import { withClient } from '../request/with-client.ts';
import { lastAsRun } from '../runs/handles-typed.ts';
import { runNamed } from '../runs/run-named.ts';
import { defined } from '../../language/defined.ts';

interface Options {
  json?: boolean;
  run?: string;
  kind?: IncidentKind;
  persona?: string;
  since?: number;
  limit: number;
}

export function define(command: Command): void {
  command
    .description(
      'Shows what went wrong in runs: failures, escalations, stuck loops and limits, with the outcome of each. With a question, the best matches come first; without one, the newest. Exit code 4 if there is no such run.',
    )
    .argument('[question...]', 'plain text; incidents with any of its words match')
    .option('--run <handle>', 'only incidents of this run and its nested runs')
    .option('--kind <kind>', `only this kind: ${INCIDENT_KINDS.join(', ')}`, oneOf('--kind', INCIDENT_KINDS))
    .option('--persona <id>', 'only incidents of runs of this persona')
    .option('--since <when>', 'only incidents since a date, a time, or an age (90m, 12h, 7d)', momentOf('--since'))
    .option('--limit <n>', 'the maximum number of incidents', wholeNumber('--limit', { min: 1, max: 1000 }), 20)
    .addHelpText(
      'after',
      `
Examples:
  sentinel incidents
  sentinel incidents why did the build of the web app fail
  sentinel incidents "spend limit" --since 30d --json    [{handle, seq, name, key, kind, code, message, action, outcome, at}]`,
    )
    .action((question: string[], options: Options) => {
      const { words, run } = lastAsRun(question, options.run);
      return incidents(words.join(' ').trim(), { ...options, ...defined({ run }) });
    });
}

async function incidents(about: string, { run, kind, persona, since, limit, json }: Options): Promise<void> {
  const output = openOutput(json === undefined ? {} : { json });
  await withClient(output, async (client) => {
    const found = await client.incidents({
      limit,
      ...(about === '' ? {} : { about }),
      ...(run === undefined ? {} : { handle: await runNamed(client, run) }),
      ...defined({ kind, persona, since }),
    });
    output.object(found);
    for (const incident of found) show(output, incident);
    if (found.length === 0)
      output.line(about === '' ? 'Nothing went wrong.' : 'Nothing that went wrong is about this.');
  });
}

function show(output: Output, { handle, name, key, kind, code, message, action, outcome, at }: Incident): void {
  const { paint } = output;
  const mark = kind === 'failure' ? paint.bad : paint.warn;
  const when = new Date(at).toISOString().slice(0, 19).replace('T', ' ');
  output.line(
    [mark(kind), code, paint.strong(name), handle, key, paint.dim(when)].filter((word) => word !== '').join('  '),
  );
  output.line(`  ${message}`);
  if (action !== null && action !== '') output.line(paint.dim(`  did: ${action}`));
  output.line(paint.dim(`  ${outcome ?? 'waits for an answer'}`));
}

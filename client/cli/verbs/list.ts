/** `sentinel list`. */
import type { Command } from 'commander';
import type { RunStatus } from '../../../language/events/run-event.ts';
import { durationText } from '../../show/trace.ts';
import { groupsOf, type GroupReport } from '../../lookup/run-groups.ts';
import { waitingBelow } from '../../lookup/waiting-runs.ts';
import { openOutput } from '../output/output.ts';
import { statusText } from '../output/report-lines.ts';
import { table } from '../output/table.ts';
import { oneOf, wholeNumber } from '../request/usage.ts';
import { withClient } from '../request/with-client.ts';

const STATUSES: readonly RunStatus[] = ['running', 'paused', 'completed', 'failed', 'cancelled'];

interface Options {
  json?: boolean;
  status?: RunStatus;
  limit: number;
  persona?: string;
}

export function define(command: Command): void {
  command
    .description('Lists runs, newest first; nested runs are listed too.')
    .option('--status <status>', `only these: ${STATUSES.join(', ')}`, oneOf('--status', STATUSES))
    .option('--persona <id>', 'only runs of this persona')
    .option('--limit <n>', 'at most so many', wholeNumber('--limit', { min: 1, max: 10_000 }), 50)
    .addHelpText(
      'after',
      `
Examples:
  sentinel list
  sentinel list --status running --json`,
    )
    .action((options: Options) => list(options));
}

async function list(options: Options): Promise<void> {
  const output = openOutput(options);
  const { status, limit, persona } = options;
  await withClient(output, async (client) => {
    const runs = await client.list({
      limit,
      ...(status === undefined ? {} : { status }),
      ...(persona === undefined ? {} : { persona }),
    });
    const waiting = await waitingBelow(
      client,
      runs.filter((run) => run.status === 'running').map(({ handle }) => handle),
    );
    const groups = await groupsOf(
      await client.store(),
      runs.flatMap(({ handle, finishedAt }) => (finishedAt === null ? [handle] : [])),
    );
    const now = Date.now();
    output.object(
      runs.map(
        ({
          handle,
          name,
          status: stands,
          outcome,
          iterations,
          project,
          persona: owner,
          parent,
          startedAt,
          finishedAt,
        }) => ({
          handle,
          name,
          status: stands,
          outcome,
          iterations,
          project,
          persona: owner,
          parent,
          startedAt,
          finishedAt,
          group: groups.get(handle) ?? null,
          waiting: waiting.get(handle) ?? [],
          webUrl: client.webUrl(handle),
        }),
      ),
    );
    if (runs.length === 0) output.line('No runs.');
    const rows = runs.map((run) => [
      run.handle,
      run.name,
      `${statusText(run, output.paint)}${groupNote(groups.get(run.handle))}${waiting.has(run.handle) ? output.paint.warn(', a nested run waits') : ''}`,
      durationText((run.finishedAt ?? now) - run.startedAt),
      new Date(run.startedAt).toISOString().slice(0, 19).replace('T', ' '),
    ]);
    for (const line of table(['HANDLE', 'NAME', 'STATUS', 'TOOK', 'STARTED (UTC)'], rows, output.paint))
      output.line(line);
  });
}

function groupNote(group: GroupReport | undefined): string {
  if (group === undefined) return '';
  return group.state === 'taken' ? `, has ${group.name}` : `, waits for ${group.name}`;
}

/** `sentinel list`. */
import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import type { RunOutcome, RunStatus } from '../../language/events/run-event.ts';
import type { Run, RunQuery } from '../../client/contract/shown.ts';
import { durationText } from '../../client/show/trace.ts';
import type { FailingRun } from '../../client/lookup/run-report.ts';
import { aheadWords, dayWords } from '../../language/events/event-words.ts';
import type { GroupReport, PlaceReport, RunPlaces } from '../../client/lookup/run-places.ts';
import { waitingBelow } from '../../client/lookup/waiting-runs.ts';
import { openOutput } from '../output/output.ts';
import { statusText } from '../output/report-lines.ts';
import { table } from '../output/table.ts';
import { momentOf } from '../request/moment.ts';
import { projectOnce } from '../request/run-request.ts';
import { oneOf, wholeNumber } from '../request/usage.ts';
import { withClient } from '../request/with-client.ts';

/** As the list shows them: the status of a run that is under way, the outcome of one that has ended. */
type Shown = Extract<RunStatus, 'running' | 'paused'> | RunOutcome;
const STATUSES: readonly Shown[] = ['running', 'paused', 'completed', 'failed', 'stopped', 'cancelled'];

const shownAs = (shown: Shown): Pick<RunQuery, 'status' | 'outcome'> =>
  shown === 'running' || shown === 'paused' ? { status: shown } : { outcome: shown };

interface Options {
  json?: boolean;
  status?: Shown;
  limit: number;
  persona?: string;
  name?: string;
  project?: string;
  since?: number;
}

export function define(command: Command): void {
  command
    .description('Lists runs, newest first, including nested runs.')
    .option('--status <status>', `only runs with this status: ${STATUSES.join(', ')}`, oneOf('--status', STATUSES))
    .option('--name <name>', 'only runs of the definition with this name')
    .option('--project <dir>', 'only runs that work in this folder')
    .option('--since <when>', 'only runs that started since a date, a time, or an age (12h, 7d)', momentOf('--since'))
    .option('--persona <id>', 'only runs of this persona')
    .option('--limit <n>', 'the maximum number of runs', wholeNumber('--limit', { min: 1, max: 10_000 }), 50)
    .addHelpText(
      'after',
      `
Examples:
  sentinel list
  sentinel list --status failed --since 7d
  sentinel list --name nightly --project . --json`,
    )
    .action((options: Options) => list(options));
}

async function list(options: Options): Promise<void> {
  const output = openOutput(options);
  const { json: _, project: folder, status, ...asked } = options;
  const query = {
    ...asked,
    ...(status === undefined ? {} : shownAs(status)),
    ...(folder === undefined ? {} : { project: projectOnce(folder) }),
  };
  await withClient(output, async (client) => {
    const runs = await client.list(query);
    const under = runs.filter((run) => run.status === 'running').map(({ handle }) => handle);
    const [waiting, failing] = await Promise.all([waitingBelow(client, under), client.failing(runs)]);
    const places = await client.placesOfRuns(
      runs.flatMap(({ handle, finishedAt }) => (finishedAt === null ? [handle] : [])),
    );
    output.object(
      runs.map((run) =>
        documentOf(run, {
          group: places.get(run.handle)?.group ?? null,
          place: places.get(run.handle)?.place ?? null,
          budgetAt: places.get(run.handle)?.budgetAt ?? null,
          waiting: waiting.get(run.handle) ?? [],
          failing: failing.get(run.handle) ?? null,
          webUrl: client.webUrl(run.handle),
        }),
      ),
    );
    if (runs.length === 0) output.line('No runs.');
    if (runs.length === 0 && query.project !== undefined && !existsSync(query.project))
      output.note(`sentinel: ${query.project} does not exist; --project takes the folder that runs worked in.`);
    const now = Date.now();
    const rows = runs.map((run) => [
      run.handle,
      run.name,
      `${statusText(run, output.paint)}${placesNote(run, places.get(run.handle))}${waiting.has(run.handle) ? output.paint.warn(', a nested run waits') : ''}${failing.has(run.handle) ? output.paint.bad(', stands still') : ''}`,
      durationText((run.finishedAt ?? now) - run.startedAt),
      new Date(run.startedAt).toISOString().slice(0, 19).replace('T', ' '),
    ]);
    for (const line of table(['HANDLE', 'NAME', 'STATUS', 'TOOK', 'STARTED (UTC)'], rows, output.paint))
      output.line(line);
  });
}

const NOWHERE: RunPlaces = { group: null, place: null, budgetAt: null };

function placesNote({ persona }: Run, { group, place, budgetAt }: RunPlaces = NOWHERE): string {
  const ofGroup = group === null ? '' : group.state === 'taken' ? `, has ${group.name}` : `, waits for ${group.name}`;
  const ofPersona =
    place?.state === 'waiting' ? `, waits for a place of ${place.persona}${aheadWords(place.ahead)}` : '';
  const ofDay = budgetAt === null ? '' : `, ${dayWords(persona, budgetAt)}`;
  return ofGroup + ofPersona + ofDay;
}

interface Besides {
  group: GroupReport | null;
  place: PlaceReport | null;
  /** Until when it waits for the budget of its persona; in milliseconds since the epoch. */
  budgetAt: number | null;
  waiting: readonly string[];
  failing: FailingRun | null;
  webUrl: string | null;
}

function documentOf(run: Run, besides: Besides): object {
  const { handle, name, status, outcome, iterations, project, persona, parent, startedBy, startedAt, finishedAt } = run;
  return {
    handle,
    name,
    status,
    outcome,
    iterations,
    project,
    persona,
    parent,
    startedBy,
    startedAt,
    finishedAt,
    ...besides,
  };
}

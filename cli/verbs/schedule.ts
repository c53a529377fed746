/** `sentinel schedule create|list|show|pause|resume|trigger|delete`: runs on a clock. */
import type { Command } from 'commander';
import type { Overlap, ScheduleReport } from '../../runs/schedules.ts';
import { readRequest, requestOptions, type RequestOptions } from '../request/definition-request.ts';
import { EXIT } from '../output/exit-codes.ts';
import { defineSubverbs } from '../request/subverbs.ts';
import { openOutput, type Output } from '../output/output.ts';
import { handleFor } from '../request/run-request.ts';
import { table } from '../output/table.ts';
import { lengthOfTime, oneOf, usage } from '../request/usage.ts';
import { withClient } from '../request/with-client.ts';

const OVERLAPS: readonly Overlap[] = ['skip', 'buffer', 'cancel', 'all'];
const DAY_MS = 86_400_000;
const RUNS_SHOWN = 5;

interface CreateOptions extends RequestOptions {
  id?: string;
  cron?: string;
  timeZone?: string;
  overlap?: Overlap;
  catchup?: number;
  jitter?: number;
  paused?: boolean;
  replace?: boolean;
}

type Steering = 'pause' | 'resume' | 'trigger' | 'delete';

export function define(verb: Command): void {
  verb
    .description(
      'Starts runs on a clock. Schedules are kept by the Temporal server, which starts runs even if no worker is up.',
    )
    .addHelpText(
      'after',
      `
Examples:
  sentinel schedule create nightly.json --cron '0 3 * * *' --time-zone Europe/Zurich
  sentinel schedule list`,
    );
  defineSubverbs(verb, {
    create: { summary: 'start runs of a definition on a clock', kind: 'acts', define: defineCreate },
    list: { summary: 'list schedules', kind: 'looks', define: defineList },
    show: { summary: 'show a schedule and its latest runs', kind: 'looks', define: defineShow },
    pause: {
      summary: 'pause a schedule',
      kind: 'acts',
      define: steering('pause', 'Starts no runs until the schedule is resumed. Runs under way continue.'),
    },
    resume: {
      summary: 'resume a schedule',
      kind: 'acts',
      define: steering('resume', 'Starts runs again. Runs that were due during the pause are not started.'),
    },
    trigger: {
      summary: 'start a run now',
      kind: 'acts',
      define: steering('trigger', 'Starts a run now, even if another run of the schedule is under way.'),
    },
    delete: {
      summary: 'remove a schedule',
      kind: 'acts',
      define: steering('delete', 'Removes the schedule. Runs under way continue.'),
    },
  });
}

function defineCreate(command: Command): void {
  requestOptions(command)
    .description(
      'Starts runs of a definition on a clock. Options that are not given are taken from the "trigger" of the definition. Exit code 2 for problems, wrong usage, or a name that is taken.',
    )
    .option('--cron <text>', 'minute hour day month weekday, six fields with seconds in front, @daily, or "@every 30s"')
    .option('--time-zone <name>', 'an IANA name such as Europe/Zurich (default: UTC)')
    .option(
      '--overlap <what>',
      `what to do if a run is due while the previous one still runs: ${OVERLAPS.join(', ')} (default: skip)`,
      oneOf('--overlap', OVERLAPS),
    )
    .option(
      '--catchup <time>',
      'how late a missed run may still start (default: 10 minutes)',
      lengthOfTime('--catchup', { min: 10_000, max: 366 * DAY_MS }),
    )
    .option(
      '--jitter <time>',
      'delay each start by a random time up to this',
      lengthOfTime('--jitter', { min: 0, max: DAY_MS }),
    )
    .option(
      '--id <name>',
      "the name of the schedule, with which the handles of its runs begin (default: the definition's name)",
    )
    .option('--paused', 'create the schedule, and start no runs until it is resumed')
    .option('--replace', 'replace an existing schedule of that name')
    .addHelpText(
      'after',
      `
Examples:
  sentinel schedule create nightly.json
  sentinel schedule create nightly.json --cron '0 3 * * 1-5' --time-zone Europe/Zurich --input branch=main
  sentinel schedule create health --cron '@every 5m' --overlap skip --id health-prod --json`,
    )
    .action(async (definition: string, _options: unknown, self: Command) => {
      process.exitCode = await create(definition, self.optsWithGlobals<CreateOptions>());
    });
}

async function create(given: string, options: CreateOptions): Promise<number> {
  const output = openOutput(options);
  const id = options.id === undefined ? null : handleFor(options.id);
  return withClient(output, async (client) => {
    const request = await readRequest(given, options, client, output);
    if (request === null) return EXIT.usage;
    const own = request.definition.trigger?.type === 'schedule' ? request.definition.trigger : null;
    const cron = options.cron ?? own?.cronExpression;
    if (cron === undefined)
      throw usage(`"${request.definition.name}" has no trigger of type "schedule"; say when it runs with --cron.`);
    const [{ createSchedule }, { scheduleIdOf }, parts] = await Promise.all([
      import('../../runs/schedules.ts'),
      import('../../client/triggers/triggers.ts'),
      client.parts(request.host, request.project),
    ]);
    const report = await createSchedule(parts, {
      ...request,
      id: id ?? scheduleIdOf(request.definition),
      cron,
      timeZone: options.timeZone ?? own?.timeZone,
      overlap: options.overlap ?? own?.overlap,
      catchupWindowMs: options.catchup ?? own?.catchupWindowMs,
      jitterMs: options.jitter ?? own?.jitterMs,
      isPaused: options.paused === true,
      replace: options.replace === true,
    });
    output.object(report);
    show(report, output);
    return EXIT.ok;
  });
}

function defineList(command: Command): void {
  command
    .description('Lists schedules by name.')
    .addHelpText(
      'after',
      `
Examples:
  sentinel schedule list
  sentinel schedule list --json    [{id, name, cron, timeZone, overlap, isPaused, next, runs, …}]`,
    )
    .action(async (_options: unknown, self: Command) => {
      const output = openOutput(self.optsWithGlobals<{ json?: boolean }>());
      await withClient(output, async (client) => {
        const { listSchedules } = await import('../../runs/schedules.ts');
        const all = await listSchedules((await client.parts()).client);
        output.object(all);
        if (all.length === 0) output.line('No schedules.');
        const rows = all.map(({ id, name, cron, timeZone, isPaused, next }) => [
          id,
          name,
          cron,
          timeZone,
          isPaused ? 'paused' : timeText(next[0]),
        ]);
        for (const line of table(['SCHEDULE', 'NAME', 'CRON', 'TIME ZONE', 'NEXT (UTC)'], rows, output.paint))
          output.line(line);
      });
    });
}

function defineShow(command: Command): void {
  command
    .description(
      'Shows a schedule, when it starts runs next, and its latest runs. Exit code 4 if there is no such schedule.',
    )
    .argument('<schedule>', 'the name of the schedule')
    .addHelpText(
      'after',
      `
Examples:
  sentinel schedule show nightly`,
    )
    .action(async (id: string, _options: unknown, self: Command) => {
      const output = openOutput(self.optsWithGlobals<{ json?: boolean }>());
      await withClient(output, async (client) => {
        const { describeSchedule } = await import('../../runs/schedules.ts');
        const report = await describeSchedule((await client.parts()).client, id);
        output.object(report);
        show(report, output);
      });
    });
}

function steering(verb: Steering, description: string): (command: Command) => void {
  return (command) => {
    command
      .description(`${description} Exit code 4 if there is no such schedule.`)
      .argument('<schedule>', 'the name of the schedule');
    if (verb === 'pause' || verb === 'resume') command.option('--note <text>', 'a reason, shown by "schedule show"');
    command
      .addHelpText(
        'after',
        `
Examples:
  sentinel schedule ${verb} nightly`,
      )
      .action(async (id: string, _options: unknown, self: Command) => {
        const { note, ...options } = self.optsWithGlobals<{ json?: boolean; note?: string }>();
        const output = openOutput(options);
        await withClient(output, async (client) => {
          const { describeSchedule, steerSchedule } = await import('../../runs/schedules.ts');
          const parts = await client.parts();
          await steerSchedule(parts, id, verb, note);
          output.object({ ok: true, ...(verb === 'delete' ? { id } : await describeSchedule(parts.client, id)) });
          output.line(`${id} ${RESULTS[verb]}.`);
        });
      });
  };
}

const RESULTS: Record<Steering, string> = {
  pause: 'is paused',
  resume: 'starts runs again',
  trigger: 'starts a run now',
  delete: 'is removed',
};

function show(report: ScheduleReport, output: Output): void {
  const { id, name, cron, timeZone, overlap, isPaused, note, next, runs, clockChanges = [] } = report;
  output.line(`${output.paint.strong(id)} runs ${name} at ${cron} (${timeZone}), overlap ${overlap}`);
  if (isPaused) output.line(`  paused${note === null || note === '' ? '' : `: ${note}`}`);
  else output.line(`  next (UTC): ${next.slice(0, 3).map(timeText).join(', ')}`);
  for (const { at, what } of clockChanges)
    output.line(
      output.paint.warn(
        what === 'skipped'
          ? `  ${at} does not exist in ${timeZone}, because the clock is put forward: no run starts then`
          : `  ${at} comes twice in ${timeZone}, because the clock is put back: runs due in that hour may start once, twice or not at all`,
      ),
    );
  for (const { handle, at } of runs.slice(-RUNS_SHOWN)) output.line(`  ${timeText(at)}  ${handle}`);
}

function timeText(at: number | undefined): string {
  return at === undefined ? '' : new Date(at).toISOString().slice(0, 19).replace('T', ' ');
}

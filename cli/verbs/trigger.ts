/** `sentinel trigger add|list|show|pause|resume|remove`: triggers that start runs of definitions. */
import type { Command } from 'commander';
import type { Trigger } from '../../client/contract/shown.ts';
import type { OpenClient } from '../../client/open-client.ts';
import { durationText, oneLine } from '../../client/show/trace.ts';
import type { Registered, Steering } from '../../client/triggers/triggers.ts';
import { readRequest, requestOptions, type RequestOptions } from '../request/definition-request.ts';
import { EXIT } from '../output/exit-codes.ts';
import { defineSubverbs } from '../request/subverbs.ts';
import { openOutput, type Output } from '../output/output.ts';
import { projectFolder } from '../request/run-request.ts';
import { table } from '../output/table.ts';
import { wholeNumber } from '../request/usage.ts';
import { withClient } from '../request/with-client.ts';
import { defined } from '../../language/defined.ts';

interface AddOptions extends RequestOptions {
  event?: string;
}

interface OneOptions {
  json?: boolean;
  project: string;
}

export function define(verb: Command): void {
  verb
    .description(
      'Registers definitions so that they start by themselves: by an event, by the clock, or at once, as their "trigger" says.',
    )
    .addHelpText(
      'after',
      `
Examples:
  sentinel trigger add review.json --project .
  sentinel trigger list`,
    );
  defineSubverbs(verb, {
    add: { summary: 'register a definition by its own trigger', kind: 'acts', define: defineAdd },
    list: { summary: 'list the triggers', kind: 'looks', define: defineList },
    show: { summary: 'show a trigger and the runs that it started', kind: 'looks', define: defineShow },
    pause: {
      summary: 'pause a trigger',
      kind: 'acts',
      define: steering(
        'pause',
        'Starts no runs until the trigger is resumed. Events that are published meanwhile are ignored.',
      ),
    },
    resume: {
      summary: 'resume a trigger',
      kind: 'acts',
      define: steering('resume', 'Starts runs again, for events that are published from now on.'),
    },
    remove: {
      summary: 'remove a trigger',
      kind: 'acts',
      define: steering('remove', 'Removes the trigger. Runs under way continue.'),
    },
  });
}

function defineAdd(command: Command): void {
  requestOptions(command)
    .description(
      'Registers a definition by its own "trigger": "event" starts one run for each matching event from now on, with the event\'s data as $event; ' +
        '"schedule" creates a schedule; "immediate" starts one run now. Registering the definition again replaces its trigger.',
    )
    .option(
      '--event <pattern>',
      "start a run for each event that matches this pattern, instead of the definition's trigger; * matches within a part, ** across parts",
    )
    .addHelpText(
      'after',
      `
Examples:
  sentinel trigger add review.json --project .
  sentinel trigger add review.json --policy careful.json
  sentinel trigger add notify.json --event 'sentinel:finished:*' --json`,
    )
    .action(async (definition: string, _options: unknown, self: Command) => {
      process.exitCode = await add(definition, self.optsWithGlobals<AddOptions>());
    });
}

async function add(given: string, options: AddOptions): Promise<number> {
  const output = openOutput(options);
  return withClient(output, async (client) => {
    const request = await readRequest(given, options, client, output);
    if (request === null) return EXIT.usage;
    const [{ addTrigger }, parts] = await Promise.all([
      import('../../client/triggers/triggers.ts'),
      client.parts(request.host, request.project),
    ]);
    const registered = await addTrigger(parts, {
      ...request,
      ...defined({ event: options.event }),
    });
    output.object({ ok: true, ...registered });
    output.line(resultText(registered, request.definition.name));
    if (registered.type === 'event' && registered.isWatched === false)
      output.note(notWatched(registered.trigger.project));
    return EXIT.ok;
  });
}

const notWatched = (project: string): string =>
  `sentinel: no worker watches the files of ${project} yet; what changes before one does is not seen (see "sentinel doctor")`;

function whenText({ event, filter, debounceMs }: Trigger): string {
  const which = `event ${event}${filter === null ? '' : ` for which ${oneLine(filter)} is true`}`;
  return debounceMs === null ? `at each ${which}` : `${durationText(debounceMs)} after the last ${which}`;
}

function resultText(registered: Registered, name: string): string {
  switch (registered.type) {
    case 'event':
      return `${name} starts ${whenText(registered.trigger)}, in ${registered.trigger.project}.`;
    case 'schedule':
      return `${name} starts at ${registered.schedule.cron} (${registered.schedule.timeZone}): "sentinel schedule show ${registered.schedule.id}".`;
    case 'immediate':
      return registered.run.isNew
        ? `${name} started: ${registered.run.handle}`
        : `${name} was started before: ${registered.run.handle}`;
    default:
      return registered satisfies never;
  }
}

function defineList(command: Command): void {
  command
    .description('Lists the triggers for events. "sentinel schedule list" lists schedules.')
    .addHelpText(
      'after',
      `
Examples:
  sentinel trigger list
  sentinel trigger list --json    [{id, name, event, project, persona, inputs, isPaused, …}]`,
    )
    .action(async (_options: unknown, self: Command) => {
      const output = openOutput(self.optsWithGlobals<{ json?: boolean }>());
      await withClient(output, async (client) => {
        const all = await client.triggers();
        output.object(all);
        if (all.length === 0) output.line('No triggers.');
        const rows = all.map(({ name, event, project, isPaused }) => [
          name,
          event,
          isPaused ? 'paused' : 'on',
          project,
        ]);
        for (const line of table(['NAME', 'EVENT', 'STATE', 'PROJECT'], rows, output.paint)) output.line(line);
      });
    });
}

function defineShow(command: Command): void {
  oneTrigger(command)
    .description(
      'Shows a trigger, and the runs that events started, newest first. Exit code 4 if there is no such trigger.',
    )
    .option('--limit <n>', 'the maximum number of runs', wholeNumber('--limit', { min: 1, max: 1_000 }), 20)
    .addHelpText(
      'after',
      `
Examples:
  sentinel trigger show review
  sentinel trigger show review --json    {…the trigger, starts: [{handle, state, reason, heldBy, event: {seq, id, name, data, at}}]}`,
    )
    .action(async (given: string, _options: unknown, self: Command) => {
      const { limit, ...options } = self.optsWithGlobals<OneOptions & { limit: number }>();
      const output = openOutput(options);
      await withTrigger(given, options, output, async (client, trigger) => {
        const starts = await client.startsOf(trigger, limit);
        output.object({ ...trigger, starts });
        output.line(
          `${output.paint.strong(trigger.name)} starts ${whenText(trigger)}, in ${trigger.project}${trigger.isPaused ? ' (paused)' : ''}`,
        );
        const rows = starts.map(({ handle, state, reason, heldBy, event }) => [
          heldBy ?? handle,
          event.name,
          state,
          reason ?? '',
        ]);
        for (const line of table(['RUN', 'EVENT', 'STATE', 'REASON'], rows, output.paint)) output.line(line);
      });
    });
}

function steering(verb: Steering, description: string): (command: Command) => void {
  return (command) => {
    oneTrigger(command)
      .description(`${description} Exit code 4 if there is no such trigger.`)
      .addHelpText(
        'after',
        `
Examples:
  sentinel trigger ${verb} review`,
      )
      .action(async (given: string, _options: unknown, self: Command) => {
        const options = self.optsWithGlobals<OneOptions>();
        const output = openOutput(options);
        await withTrigger(given, options, output, async (client, trigger) => {
          const { isWatched } = await client.steerTrigger(trigger, verb);
          const { id, name, project } = trigger;
          output.object({ ok: true, id, name, ...defined({ isWatched }) });
          output.line(`${name} ${RESULTS[verb]}.`);
          if (isWatched === false) output.note(notWatched(project));
        });
      });
  };
}

const RESULTS: Record<Steering, string> = { pause: 'is paused', resume: 'starts runs again', remove: 'is forgotten' };

function oneTrigger(command: Command): Command {
  return command
    .argument('<trigger>', "the definition's name, or the trigger's id")
    .option('--project <dir>', 'the project of the trigger, if several projects have one of that name', '.');
}

async function withTrigger(
  given: string,
  options: OneOptions,
  output: Output,
  use: (client: OpenClient, trigger: Trigger) => Promise<void>,
): Promise<void> {
  const project = projectFolder(options.project);
  await withClient(output, async (client) => use(client, await client.trigger(given, project)));
}

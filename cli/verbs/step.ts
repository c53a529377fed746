/** `sentinel step list|add|update|remove|skip`: the steps of a run while it runs. */
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { isJsonObject, type Json, type JsonObject } from '../../language/json.ts';
import { defined } from '../../language/defined.ts';
import type { EditRequest, ListedStep, StepList } from '../../interpreter/edits.ts';
import { ClientError } from '../../client/client.ts';
import type { OpenClient } from '../../client/open-client.ts';
import { noSuchStep } from '../../client/lookup/no-such-step.ts';
import type { Paint } from '../../client/show/paint.ts';
import { runAt } from '../../client/lookup/run-at.ts';
import { givenJson } from '../request/given-json.ts';
import { defineSubverbs } from '../request/subverbs.ts';
import { openOutput } from '../output/output.ts';
import { table } from '../output/table.ts';
import { usage, wholeNumber } from '../request/usage.ts';
import { speakerHere, speakerOption } from '../request/speaker.ts';
import { withRun } from '../runs/run-named.ts';

interface Options {
  json?: boolean;
  step?: string;
  file?: string;
  params?: string;
  revision?: number;
  note?: string;
  by?: string;
}

const refusals =
  'Exit code 2 if the edit is refused, 1 if the run has ended or a step of a run asks, 4 if there is no such run.';

export function define(verb: Command): void {
  verb
    .description(
      'Shows the steps of a run, and changes those that are still ahead. PATH is a place in the definition (steps.2, steps.2.then.0, steps.1.branches.0.3, always.0); ' +
        'for a nested run, put the key of the step that started it in front (steps.1@1/steps.0).',
    )
    .addHelpText(
      'after',
      `
Examples:
  sentinel step list nightly
  sentinel step update nightly steps.3 --step '{"type": "shell", "command": "npm run lint"}'
  sentinel step skip nightly steps.1@1/steps.0`,
    );
  defineSubverbs(verb, {
    list: { summary: 'show every step with its path and state', kind: 'looks', define: defineList },
    add: {
      summary: 'insert a step before the one at PATH, or at the end',
      kind: 'acts',
      define: (command) => defineEdit(command, 'add'),
    },
    update: {
      summary: 'replace a step, the params of a command, or fields of another step',
      kind: 'acts',
      define: (command) => defineEdit(command, 'update'),
    },
    remove: { summary: 'remove a step', kind: 'acts', define: (command) => defineEdit(command, 'remove') },
    skip: {
      summary: 'skip a step the next time it is reached',
      kind: 'acts',
      define: (command) => defineEdit(command, 'skip'),
    },
  });
}

function defineList(command: Command): void {
  command
    .description(
      'Shows the current steps of the run with their states, and the revision of the definition. Exit code 4 if there is no such run.',
    )
    .argument('<handle>', 'the run')
    .argument(
      '[path]',
      'show only the steps below this place, or those of the nested run that the step with this key started',
      '',
    )
    .addHelpText(
      'after',
      `
Examples:
  sentinel step list nightly
  sentinel step list nightly steps.2
  sentinel step list nightly steps.1@1 --json    {ok, handle, revision, pass, steps: [{path, type, label, state, editable, step}]}`,
    )
    .action(async (given: string, path: string, _options: unknown, self: Command) => {
      const output = openOutput(self.optsWithGlobals<Options>());
      await withRun(output, given, async (client, handle) => {
        const listed = await client.steps(handle, path);
        const { definition: _definition, ...list } = listed;
        const at = runAt(handle, path).path;
        const steps = list.steps.filter((step) => at === '' || step.path === at || step.path.startsWith(`${at}.`));
        if (steps.length === 0 && at !== '') throw noSuchStep(listed, at);
        output.object({ ok: true, ...list, steps });
        output.line(`${list.handle} is at revision ${list.revision}, pass ${list.pass}.`);
        for (const line of table(
          ['PATH', 'STATE', 'EDITABLE', 'TYPE', 'LABEL'],
          steps.map((step) => rowOf(step, output.paint)),
          output.paint,
        ))
          output.line(line);
      });
    });
}

function rowOf({ path, state, pass, editable, type, label }: ListedStep, paint: Paint): string[] {
  const shown = pass === undefined ? state : `${state} (pass ${pass})`;
  const colour =
    state === 'done'
      ? paint.good
      : state === 'next' || state === 'under-way' || state === 'asks'
        ? paint.warn
        : paint.dim;
  return [path, colour(shown), editable ?? '-', type, label.replaceAll(/\s+/g, ' ')];
}

const descriptions: Readonly<Record<EditRequest['op'], string>> = {
  add: 'Inserts a step before the one at PATH. If PATH is one place behind the last step, the new step becomes the last one.',
  update:
    'Replaces the step at PATH. With --params, replaces the params of a command, or the given fields of any other step.',
  remove: 'Removes the step at PATH.',
  skip: 'Skips the step at PATH once, the next time it is reached.',
};

const examples: Readonly<Record<EditRequest['op'], string>> = {
  add: `sentinel step add nightly steps.2 --step '{"type": "shell", "command": "npm test"}'`,
  update: `sentinel step update nightly steps.2 --params '{"path": "b.txt"}' --note 'a was wrong'`,
  remove: 'sentinel step remove nightly steps.2.then.0',
  skip: 'sentinel step skip nightly steps.2',
};

function defineEdit(command: Command, op: EditRequest['op']): void {
  command
    .description(
      `${descriptions[op]} Steps that are ahead change at once, steps that were passed change from the next pass on. ${refusals}`,
    )
    .argument('<handle>', 'the run')
    .argument('<path>', 'the place of the step in the definition');
  if (op === 'add' || op === 'update')
    command
      .option('--step <json>', 'the step as JSON, in any spelling')
      .option('--file <file>', 'a JSON file with the step');
  if (op === 'update')
    command.option('--params <json>', 'the params of a command, or the fields to replace of any other step');
  command
    .option(
      '--revision <n>',
      'the revision that the edit is made for (default: the current one)',
      wholeNumber('--revision', { min: 0, max: 1_000_000_000 }),
    )
    .option('--note <text>', 'a reason, stored with the edit')
    .addOption(speakerOption('--by <persona>', 'the author'))
    .addHelpText(
      'after',
      `
Examples:
  ${examples[op]}
  ${examples[op]} --json    {ok, handle, revision, op, path, from, before, after}`,
    )
    .action(async (handle: string, path: string, _options: unknown, self: Command) =>
      edit(op, handle, path, self.optsWithGlobals<Options>()),
    );
}

async function edit(op: EditRequest['op'], run: string, path: string, options: Options): Promise<void> {
  const output = openOutput(options);
  const given = stepGiven(op, options);
  const by = await speakerHere(options.by, output);
  await withRun(output, run, async (client, handle) => {
    const seen = await seenBy(client, handle, path, options, given);
    const { note } = options;
    const reply = await client
      .edit(handle, { op, path, ...seen, by, ...defined({ note }) })
      .catch(async (error: unknown) => {
        throw await refusalOf(error, client, handle, path, op);
      });
    output.object({ ok: true, ...reply });
    const { stepDiff } = await import('../../client/show/step-diff.ts');
    for (const line of stepDiff(reply, output.paint)) output.line(line);
    output.line(
      `${reply.handle} is at revision ${reply.revision}${reply.from === 'now' ? '' : '; the change is seen from the next pass'}.`,
    );
  });
}

type Given = { step: JsonObject } | { params: JsonObject } | null;

function stepGiven(op: EditRequest['op'], { step, file, params }: Options): Given {
  if (op !== 'add' && op !== 'update') return null;
  const sources = [step, file, params].filter((source) => source !== undefined);
  if (sources.length !== 1)
    throw usage(
      `"step ${op}" needs the step once: give one of --step JSON, --file FILE${op === 'update' ? ', --params JSON' : ''}.`,
    );
  if (params !== undefined) return { params: objectIn('--params', params) };
  return { step: step === undefined ? objectIn(file ?? '', textOf(file ?? '')) : objectIn('--step', step) };
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw usage(`${file} cannot be read (${error instanceof Error ? error.message : String(error)}); check the path.`);
  }
}

function objectIn(source: string, text: string): JsonObject {
  const value = givenJson(source, text, `write it in single quotes: '{"type": "shell", "command": "true"}'`);
  if (!isJsonObject(value))
    throw usage(`${source} is not a JSON object; write one, like '{"type": "shell", "command": "true"}'.`);
  return value;
}

/** The revision that the edit is for, and the step; `--params` changes the run's present step. */
async function seenBy(
  client: OpenClient,
  handle: string,
  path: string,
  { revision }: Options,
  given: Given,
): Promise<Pick<EditRequest, 'revision' | 'step'>> {
  if (revision !== undefined && (given === null || 'step' in given)) return { revision, ...given };
  const list = await client.steps(handle, path);
  const seen = revision ?? list.revision;
  return given !== null && 'params' in given
    ? { revision: seen, step: withParams(list, runAt(handle, path).path, given.params) }
    : { revision: seen, ...given };
}

function withParams(list: StepList, path: string, params: JsonObject): Json {
  const step = list.steps.find((listed) => listed.path === path)?.step;
  if (step === undefined) throw noSuchStep(list, path);
  // As the command sentinel/step/update: a step that is not a command has no params, but fields of its own.
  return (step.type === 'command' ? { ...step, params } : { ...step, ...params }) as unknown as Json;
}

/** The run itself refuses edits; the error then lists the places that exist. */
async function refusalOf(
  error: unknown,
  client: OpenClient,
  handle: string,
  path: string,
  op: EditRequest['op'],
): Promise<unknown> {
  if (!(error instanceof ClientError) || error.code !== 'STEP_NOT_FOUND') return error;
  const list = await client.steps(handle, path).catch(() => null);
  const { path: place } = runAt(handle, path);
  // A step of a nested definition exists, but is skipped in the nested run.
  if (list === null || list.steps.some((step) => step.path === place)) return error;
  return noSuchStep(list, place, op);
}

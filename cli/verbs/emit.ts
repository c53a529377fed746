/** `sentinel emit NAME`: publishes an event from outside of runs. */
import type { Command } from 'commander';
import type { Json, JsonObject } from '../../language/json.ts';
import { defined } from '../../language/defined.ts';
import { DATA_BYTES_MAX } from '../../client/triggers/outside-event.ts';
import { EXIT } from '../output/exit-codes.ts';
import { openOutput } from '../output/output.ts';
import { givenJson } from '../request/given-json.ts';
import { projectFolder } from '../request/run-request.ts';
import { repeatable, usage } from '../request/usage.ts';
import { withClient } from '../request/with-client.ts';

interface Options {
  json?: boolean;
  data?: string;
  text: string[];
  id?: string;
  project?: string;
  ifUp?: boolean;
}

export function define(command: Command): void {
  command
    .description('Publishes an event, which starts the runs of matching triggers and wakes the runs that wait for it.')
    .argument('<name>', 'the name, such as deploy:done')
    .option('--data <json>', "the event's data as JSON")
    .addOption(repeatable('--text <name=text>', 'a field of the data, always text (repeatable)'))
    .option('--id <id>', 'publishing the same name and id again changes nothing (default: a new id)')
    .option('--project <dir>', 'only triggers and runs of this project see the event (default: all do)')
    .option('--if-up', 'start no services; if they are down, the event is lost and the exit code is 1')
    .addHelpText(
      'after',
      `
Examples:
  sentinel emit deploy:done --data '{"version": "1.4"}'
  sentinel emit ticket:closed --id T-17 --text by=ada --json    {ok, name, id, seq, isNew}`,
    )
    .action(async (name: string, options: Options) => {
      process.exitCode = await emit(name, options);
    });
}

async function emit(name: string, options: Options): Promise<number> {
  const output = openOutput(options);
  const { id, ifUp } = options;
  const data = dataOf(options);
  const project = options.project === undefined ? undefined : projectFolder(options.project);
  const event = { data, ...defined({ id, project }) };
  return withClient(output, async (client) => {
    const emitted = await client.emit(name, event, ifUp === true ? 'if-up' : 'always');
    if (emitted === null) {
      output.object({
        ok: false,
        error: { code: 'SERVICES', message: 'The services are not up; the event was not published.' },
      });
      output.note('sentinel: the services are not up, so the event was not published; "sentinel up" starts them.');
      return EXIT.failed;
    }
    output.object({ ok: true, ...emitted });
    output.line(emitted.isNew ? `${name} is published.` : `${name} with id ${emitted.id} had been published before.`);
    return EXIT.ok;
  });
}

function dataOf({ data, text }: Options): Json {
  const value = data === undefined ? null : parsed(data);
  if (text.length === 0) return value;
  if (value !== null && (typeof value !== 'object' || Array.isArray(value)))
    throw usage('--text adds fields to an object; give one with --data, or leave --data out.');
  const fields: JsonObject = { ...value };
  for (const assignment of text) {
    const at = assignment.indexOf('=');
    if (at < 1) throw usage(`--text ${assignment} has no name and text; write --text name=text.`);
    fields[assignment.slice(0, at)] = assignment.slice(at + 1);
  }
  return fields;
}

function parsed(text: string): Json {
  if (Buffer.byteLength(text) > DATA_BYTES_MAX)
    throw usage(`--data has at most ${DATA_BYTES_MAX} bytes; publish a reference to what is larger.`);
  return givenJson('--data', text, `write it as such, for example '{"version": 1}' or '"text"'`, { around: 1 });
}

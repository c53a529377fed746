/** `sentinel chat [ROOM]`: shows the messages in rooms, and sends one. */
import type { Command } from 'commander';
import type { OpenClient } from '../../client/open-client.ts';
import { performCommand, refusedParam } from '../../client/perform.ts';
import type { Json, JsonObject } from '../../language/json.ts';
import { openOutput, type Output } from '../output/output.ts';
import { usage, wholeNumber } from '../request/usage.ts';
import { withClient } from '../request/with-client.ts';
import { speakerHere, speakerOption } from '../request/speaker.ts';

/** As `collaboration/chat/read` gives it. */
interface Message {
  [field: string]: string | number | null;
  author: string;
  /** The run that said it; null for a person. */
  handle: string | null;
  message: string;
  at: number;
}

interface Options {
  json?: boolean;
  send?: string;
  limit: number;
  by?: string;
}

export function define(command: Command): void {
  command
    .description(
      'Shows the rooms in which runs and people write messages, shows the messages of one room, or sends one.',
    )
    .argument('[room]', 'the name of a room, such as general (default: show all rooms with the latest message of each)')
    .option('--send <text>', 'send this message to the room; runs that watch chat:ROOM:message receive it')
    .option('--limit <n>', 'the number of latest messages', wholeNumber('--limit', { min: 1, max: 1000 }), 50)
    .addOption(speakerOption('--by <persona>', 'the author'))
    .addHelpText(
      'after',
      `
Examples:
  sentinel chat
  sentinel chat general --limit 10 --json    [{seq, room, author, handle, message, at}]
  sentinel chat general --send "Ship it."`,
    )
    .action((room: string | undefined, options: Options) => chat(room, options));
}

async function chat(room: string | undefined, options: Options): Promise<void> {
  const output = openOutput(options);
  const { send, limit } = options;
  if (send !== undefined && room === undefined) throw usage('--send needs a room: sentinel chat general --send "…".');
  const by = await speakerHere(options.by, output);
  await withClient(output, async (client) => {
    if (room === undefined) return showRooms(output, client, by);
    if (send !== undefined) return say(output, client, { room, message: send, by });
    const read = await inRoom<{ messages: Message[] }>(client, 'collaboration/chat/read', { room, limit }, by);
    output.object(read.messages);
    for (const message of read.messages) show(output, message);
    if (read.messages.length === 0) output.line(`Nothing was said in ${room} yet.`);
  });
}

async function showRooms(output: Output, client: OpenClient, by: string): Promise<void> {
  const rooms = await performCommand<{ room: string; messages: number; latest: Message }[]>(
    client,
    'collaboration/chat/list',
    {},
    { by },
  );
  output.object(rooms);
  for (const { room, messages, latest } of rooms) {
    output.line(`${output.paint.strong(room)}  ${messages} ${messages === 1 ? 'message' : 'messages'}`);
    show(output, latest);
  }
  if (rooms.length === 0) output.line('Nothing was said in any room yet.');
}

/** The message and its event are one transaction. */
async function say(
  output: Output,
  client: OpenClient,
  { room, message, by }: { room: string; message: string; by: string },
): Promise<void> {
  const said = await inRoom<{ room: string; author: string; message: string; event: string }>(
    client,
    'collaboration/chat/send',
    { room, message },
    by,
  );
  output.object({ ok: true, ...said });
  output.line(`said in ${said.room}.`);
}

/** What the command does not take is said in the words of what was typed. */
async function inRoom<Result extends Json>(
  client: OpenClient,
  command: string,
  params: JsonObject & { room: string },
  by: string,
): Promise<Result> {
  try {
    return await performCommand<Result>(client, command, params, { by });
  } catch (error) {
    const noRoom = refusedParam(error, 'room');
    if (noRoom !== undefined) throw usage(`"${params.room}" is no room: it ${noRoom}.`);
    const noMessage = refusedParam(error, 'message');
    if (noMessage !== undefined) throw usage(`--send ${noMessage}.`);
    throw error;
  }
}

function show(output: Output, { author, handle, message, at }: Message): void {
  const when = new Date(at).toISOString().slice(0, 19).replace('T', ' ');
  const speaker = handle === null ? author : `${author} (run ${handle})`;
  output.line(`${output.paint.strong(speaker)}  ${output.paint.dim(when)}`);
  for (const line of message.split('\n')) output.line(`  ${line}`);
}

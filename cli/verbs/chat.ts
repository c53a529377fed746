/** `sentinel chat [ROOM]`: shows the messages in rooms, and sends one. */
import type { Command } from 'commander';
import type { OpenClient } from '../../client/open-client.ts';
import { performCommand, refusedParam } from '../../client/perform.ts';
import type { Json, JsonObject } from '../../language/json.ts';
import { defined } from '../../language/defined.ts';
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
  seq: number;
  room: string;
  replyTo: number | null;
}

interface Options {
  json?: boolean;
  send?: string;
  reply?: number;
  thread?: number;
  mentions?: string | true;
  limit: number;
  by?: string;
}

const messageNumber = { min: 1, max: Number.MAX_SAFE_INTEGER };

export function define(command: Command): void {
  command
    .description(
      'Shows the rooms in which runs and people write messages, shows the messages of one room or thread or those that address somebody, or sends one.',
    )
    .argument('[room]', 'the name of a room, such as general (default: show all rooms with the latest message of each)')
    .option('--send <text>', 'send this message to the room; runs that watch chat:ROOM:message receive it')
    .option('--limit <n>', 'the number of latest messages', wholeNumber('--limit', { min: 1, max: 1000 }), 50)
    .option(
      '--reply <seq>',
      'with --send: the number of the message that it answers',
      wholeNumber('--reply', messageNumber),
    )
    .option(
      '--thread <seq>',
      'only the message with this number and the replies below it',
      wholeNumber('--thread', messageNumber),
    )
    .option('--mentions [name]', 'the messages of all rooms that address a persona as @name (default: you)')
    .addOption(speakerOption('--by <persona>', 'the author'))
    .addHelpText(
      'after',
      `
Examples:
  sentinel chat
  sentinel chat general --limit 10 --json    [{seq, room, author, handle, message, at, replyTo, thread, mentions, source}]
  sentinel chat general --send "Ship it, @ada."
  sentinel chat general --send "Done." --reply 12
  sentinel chat general --thread 12
  sentinel chat --mentions`,
    )
    .action((room: string | undefined, options: Options) => chat(room, options));
}

async function chat(room: string | undefined, options: Options): Promise<void> {
  const output = openOutput(options);
  const { send, limit, reply, thread, mentions } = options;
  refuseMixed(room, options);
  const by = await speakerHere(options.by, output);
  await withClient(output, async (client) => {
    if (mentions !== undefined)
      return showMentions(output, client, { name: mentions === true ? by : mentions, limit, by });
    if (room === undefined) return showRooms(output, client, by);
    if (send !== undefined) return say(output, client, { room, message: send, by, ...defined({ replyTo: reply }) });
    const asked = { room, limit, ...defined({ thread }) };
    const { messages } = await inRoom<{ messages: Message[] }>(client, 'collaboration/chat/read', asked, by);
    output.object(messages);
    for (const message of messages) show(output, message);
    if (messages.length === 0)
      output.line(
        thread === undefined ? `Nothing was said in ${room} yet.` : `There is no message ${thread} in ${room}.`,
      );
  });
}

function refuseMixed(room: string | undefined, { send, reply, thread, mentions }: Options): void {
  if (send !== undefined && room === undefined) throw usage('--send needs a room: sentinel chat general --send "…".');
  if (reply !== undefined && send === undefined)
    throw usage('--reply needs --send: sentinel chat general --reply 12 --send "…".');
  if (thread !== undefined && (room === undefined || send !== undefined))
    throw usage('--thread shows messages of a room: sentinel chat general --thread 12.');
  if (mentions !== undefined && (room !== undefined || send !== undefined))
    throw usage('--mentions shows messages of all rooms: sentinel chat --mentions ada.');
}

async function showMentions(
  output: Output,
  client: OpenClient,
  { name, limit, by }: { name: string; limit: number; by: string },
): Promise<void> {
  const { messages } = await addressing(client, { name, limit }, by);
  output.object(messages);
  for (const message of messages) show(output, message, `${message.room} `);
  if (messages.length === 0) output.line(`Nobody has addressed @${name} yet.`);
}

async function addressing(
  client: OpenClient,
  asked: { name: string; limit: number },
  by: string,
): Promise<{ messages: Message[] }> {
  try {
    return await performCommand<{ messages: Message[] }>(client, 'collaboration/chat/mentions', asked, { by });
  } catch (error) {
    const noName = refusedParam(error, 'name');
    if (noName !== undefined) throw usage(`"${asked.name}" is no name: it ${noName}.`);
    throw error;
  }
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
  { by, ...said }: { room: string; message: string; by: string; replyTo?: number },
): Promise<void> {
  const done = await inRoom<JsonObject & { room: string; seq: number }>(client, 'collaboration/chat/send', said, by);
  output.object({ ok: true, ...done });
  output.line(`said in ${done.room}, as message ${done.seq}.`);
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

function show(output: Output, { author, handle, message, at, seq, replyTo }: Message, where = ''): void {
  const when = new Date(at).toISOString().slice(0, 19).replace('T', ' ');
  const speaker = handle === null ? author : `${author} (run ${handle})`;
  const place = `${where}#${seq}${replyTo === null ? '' : `, reply to #${replyTo}`}`;
  output.line(`${output.paint.strong(speaker)}  ${output.paint.dim(`${when}  ${place}`)}`);
  for (const line of message.split('\n')) output.line(`  ${line}`);
}

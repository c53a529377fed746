/** `sentinel chat [ROOM]`: shows the messages in rooms, and sends one. */
import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import {
  chatEvent,
  speakerOf,
  chatLengthMax,
  ROOM,
  roomRule,
  type ChatMessage,
} from '../../prisma/store/contract/chat-contract.ts';
import type { OpenClient } from '../../client/open-client.ts';
import { openOutput, type Output } from '../output/output.ts';
import { usage, wholeNumber } from '../request/usage.ts';
import { withClient } from '../request/with-client.ts';
import { withSession } from '../request/with-session.ts';

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
    .option('--by <persona>', 'the author (default: the user)')
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
  const { send, limit, by = process.env['USER'] ?? 'local' } = options;
  if (room !== undefined && !ROOM.test(room)) throw usage(`"${room}" is no room: its name has ${roomRule}.`);
  if (send !== undefined && room === undefined) throw usage('--send needs a room: sentinel chat general --send "…".');
  if (send !== undefined && (send.trim() === '' || send.length > chatLengthMax))
    throw usage(`--send has 1 to ${chatLengthMax} characters.`);
  await withClient(output, async (client) => {
    if (room === undefined) return showRooms(output, client);
    if (send !== undefined) return say(output, client, { room, message: send, author: by });
    const messages = await withSession(client, (session, store) => store.chat.read(session, { room, limit }));
    output.object(messages);
    for (const message of messages) show(output, message);
    if (messages.length === 0) output.line(`Nothing was said in ${room} yet.`);
  });
}

async function showRooms(output: Output, client: OpenClient): Promise<void> {
  const rooms = await withSession(client, (session, store) => store.chat.rooms(session));
  output.object(rooms);
  for (const { room, messages, latest } of rooms) {
    output.line(`${output.paint.strong(room)}  ${messages} ${messages === 1 ? 'message' : 'messages'}`);
    show(output, latest);
  }
  if (rooms.length === 0) output.line('Nothing was said in any room yet.');
}

async function say(
  output: Output,
  client: OpenClient,
  { room, message, author }: { room: string; message: string; author: string },
): Promise<void> {
  const id = randomUUID();
  const store = await client.store();
  await store.chat.post({ room, author, handle: null, key: id, message, project: null });
  const said = await client.emit(chatEvent(room), { id, data: { room, message, author, handle: null } });
  output.object({ ok: true, room, author, message, event: said?.name ?? null });
  output.line(`said in ${room}.`);
}

function show(output: Output, { author, handle, message, at }: ChatMessage): void {
  const when = new Date(at).toISOString().slice(0, 19).replace('T', ' ');
  output.line(`${output.paint.strong(speakerOf({ author, handle }))}  ${output.paint.dim(when)}`);
  for (const line of message.split('\n')) output.line(`  ${line}`);
}

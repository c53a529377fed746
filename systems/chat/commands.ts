/**
 * `collaboration/chat`: rooms in which runs and people say something. A message is a row, and an event
 * `chat:ROOM:message` that triggers and watches hear; both are committed with the step that says it.
 */
import * as z from 'zod';
import type { Json } from '../../language/json.ts';
import {
  chatEvent,
  speakerOf,
  chatLengthMax,
  ROOM,
  roomRule,
  type ChatHeard,
  type ChatMessage,
  type ChatRoom,
} from '../../prisma/store/contract/chat-contract.ts';
import { publishEvent } from '../../operations/events/publish-event.ts';
import { COMMAND_BOUNDS } from '../../operations/bounds.ts';
import { type Command, type CommandContext, defineCommand } from '../../operations/command.ts';

const Room = z.string().regex(ROOM, `must be a name of ${roomRule}`).default('general');

const SendParams = z.strictObject({
  room: Room,
  message: z.string().trim().min(1).max(chatLengthMax),
});

const Message: z.ZodType<ChatMessage & { [field: string]: Json }> = z.strictObject({
  seq: z.number(),
  room: z.string(),
  author: z.string(),
  handle: z.string().nullable(),
  message: z.string(),
  at: z.number(),
});

/** A model has to do with its own project alone; a step of a definition reaches every room. */
const heardBy = ({ confinement, run }: CommandContext): ChatHeard =>
  confinement?.byModel === true ? { project: run.project } : {};

async function send({ room, message }: z.infer<typeof SendParams>, context: CommandContext) {
  const { store, session, run, key } = context;
  const { handle, persona: author, project } = run;
  await store.chat.say(session, { room, author, handle, key, message, project });
  const data = { room, message, author, handle };
  const said = { handle, key, name: chatEvent(room), data, ...heardBy(context) };
  const { event } = await publishEvent(store, session, said, 'engine');
  return { room, author, message, event };
}

const ReadParams = z.strictObject({
  room: Room,
  limit: z.number().int().positive().max(COMMAND_BOUNDS.chatMessagesMax).default(50),
  after: z.number().int().nonnegative().optional().describe('"seq" of the last message that is known'),
});

async function read({ room, limit, after }: z.infer<typeof ReadParams>, context: CommandContext) {
  const { store, session } = context;
  const query = { room, limit, ...(after === undefined ? {} : { after }), ...heardBy(context) };
  const messages = await store.chat.read(session, query);
  const text = messages.map((said) => `${speakerOf(said)}: ${said.message}`).join('\n');
  return { room, messages: messages as (ChatMessage & { [field: string]: Json })[], text };
}

const Rooms: z.ZodType<(ChatRoom & { [field: string]: Json })[]> = z.array(
  z.strictObject({ room: z.string(), messages: z.number(), latest: Message }),
);

export const chatCommands: Command[] = [
  defineCommand({
    name: 'collaboration/chat/send',
    description: 'Says something in a room, where other runs and people read it.',
    permission: 'write',
    speed: 'quick',
    textField: 'message',
    textParams: ['message'],
    params: SendParams,
    result: z.strictObject({ room: z.string(), author: z.string(), message: z.string(), event: z.string() }),
    run: send,
  }),
  defineCommand({
    name: 'collaboration/chat/read',
    description: 'Reads the latest messages of a room.',
    permission: 'read',
    speed: 'quick',
    textField: 'text',
    params: ReadParams,
    result: z.strictObject({ room: z.string(), messages: z.array(Message), text: z.string() }),
    run: read,
  }),
  defineCommand({
    name: 'collaboration/chat/list',
    description: 'Lists the rooms that have messages, with the latest of each.',
    permission: 'read',
    speed: 'quick',
    params: z.strictObject({}),
    result: Rooms,
    run: async (_params, context) =>
      (await context.store.chat.rooms(context.session, heardBy(context))) as (ChatRoom & { [field: string]: Json })[],
  }),
];

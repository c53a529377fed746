/**
 * `collaboration/chat`: rooms in which runs and people say something. A message is a row, and an event
 * `chat:ROOM:message` that triggers and watches hear; both are committed with the step that says it.
 */
import * as z from 'zod';
import { type Command, defineCommand } from '../../operations/command.ts';
import { simulatedText } from '../../operations/predicted.ts';
import { chatEvent, chatLengthMax, ROOM, roomRule, speakerOf } from './messages.ts';
import { messagesIn, rooms, say } from './store.ts';

/** Of a room that are read at once. */
const messagesMax = 1_000;

const Room = z.string().regex(ROOM, `must be a name of ${roomRule}`).default('general');

const MESSAGE = `has 1 to ${chatLengthMax} characters`;

const Message = z.strictObject({
  seq: z.number(),
  room: z.string(),
  author: z.string(),
  handle: z.string().nullable(),
  message: z.string(),
  at: z.number(),
});

export const chatCommands: Command[] = [
  defineCommand({
    name: 'collaboration/chat/send',
    description: 'Says something in a room, where other runs and people read it.',
    permission: 'write',
    speed: 'quick',
    textField: 'message',
    textParams: ['message'],
    params: z.strictObject({ room: Room, message: z.string().trim().min(1, MESSAGE).max(chatLengthMax, MESSAGE) }),
    result: z.strictObject({ room: z.string(), author: z.string(), message: z.string(), event: z.string() }),
    async run({ room, message }, context) {
      const { author, event } = await say(context, room, message);
      return { room, author, message, event };
    },
    predict({ room = 'general', message }) {
      const name = simulatedText(room);
      const said = { room: name, author: 'the simulation', message: simulatedText(message), event: chatEvent(name) };
      return { text: `says something in ${name}`, source: 'assumed', result: said };
    },
  }),
  defineCommand({
    name: 'collaboration/chat/read',
    description: 'Reads the latest messages of a room.',
    permission: 'read',
    speed: 'quick',
    textField: 'text',
    params: z.strictObject({
      room: Room,
      limit: z.number().int().positive().max(messagesMax).default(50),
      after: z.number().int().nonnegative().optional().describe('"seq" of the last message that is known'),
    }),
    result: z.strictObject({ room: z.string(), messages: z.array(Message), text: z.string() }),
    async run(asked, context) {
      const messages = (await messagesIn(context, asked)).map((said) => ({ ...said }));
      const text = messages.map((said) => `${speakerOf(said)}: ${said.message}`).join('\n');
      return { room: asked.room, messages, text };
    },
  }),
  defineCommand({
    name: 'collaboration/chat/list',
    description: 'Lists the rooms that have messages, with the latest of each.',
    permission: 'read',
    speed: 'quick',
    params: z.strictObject({}),
    result: z.array(z.strictObject({ room: z.string(), messages: z.number(), latest: Message })),
    run: async (_params, context) =>
      (await rooms(context)).map(({ latest, ...room }) => ({ ...room, latest: { ...latest } })),
  }),
];

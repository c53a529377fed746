/**
 * `collaboration/chat`: rooms in which runs and people say something. A message is a row, and an event
 * `chat:ROOM:message` that triggers and watches hear; both are committed with the step that says it.
 */
import * as z from 'zod';
import { type Command, defineCommand } from '../../operations/command.ts';
import { simulatedText } from '../../operations/predicted.ts';
import {
  chatEvent,
  chatLengthMax,
  mentionsIn,
  ROOM,
  roomRule,
  SOURCES,
  speakerOf,
  type ChatMessage,
} from './messages.ts';
import { messagesIn, messagesTo, rooms, say } from './store.ts';

/** Of a room that are read at once. */
const messagesMax = 1_000;

const Room = z.string().regex(ROOM, `must be a name of ${roomRule}`).default('general');

const Name = z.string().regex(/^[A-Za-z0-9][\w.-]{0,99}$/, 'must be the name of a persona, without "@"');

const MESSAGE = `has 1 to ${chatLengthMax} characters`;

const Message = z.strictObject({
  seq: z.number(),
  room: z.string(),
  author: z.string(),
  handle: z.string().nullable(),
  message: z.string(),
  at: z.number(),
  replyTo: z.number().nullable(),
  thread: z.number().nullable(),
  mentions: z.array(z.string()),
  source: z.enum(SOURCES),
});

const Seq = z.number().int().positive();
const Limit = z.number().int().positive().max(messagesMax).default(50);
const After = z.number().int().nonnegative().optional().describe('"seq" of the last message that is known');

const textOf = (messages: readonly ChatMessage[]): string =>
  messages.map((said) => `${speakerOf(said)}: ${said.message}`).join('\n');

export const chatCommands: Command[] = [
  defineCommand({
    name: 'collaboration/chat/send',
    description: 'Says something in a room, where other runs and people read it.',
    permission: 'write',
    speed: 'quick',
    textField: 'message',
    textParams: ['message'],
    failures: {
      CHAT_MESSAGE_NOT_FOUND: { title: 'A room has no such message', retryable: false },
    },
    params: z.strictObject({
      room: Room,
      message: z.string().trim().min(1, MESSAGE).max(chatLengthMax, MESSAGE),
      replyTo: Seq.optional().describe('"seq" of the message of the room that it answers'),
    }),
    result: z.strictObject({
      room: z.string(),
      author: z.string(),
      message: z.string(),
      event: z.string(),
      seq: z.number(),
      replyTo: z.number().nullable(),
      thread: z.number().nullable(),
      mentions: z.array(z.string()),
    }),
    async run({ room, message, replyTo }, context) {
      return { room, message, ...(await say(context, { room, message, replyTo })) };
    },
    predict({ room = 'general', message, replyTo = null }) {
      const [name, text] = [simulatedText(room), simulatedText(message)];
      const answers = typeof replyTo === 'number' ? replyTo : null;
      const place = { seq: 1, replyTo: answers, thread: answers, mentions: mentionsIn(text) };
      const result = { room: name, author: 'the simulation', message: text, event: chatEvent(name), ...place };
      return { text: `says something in ${name}`, source: 'assumed', result };
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
      limit: Limit,
      after: After,
      thread: Seq.optional().describe('only this message and the replies below it'),
    }),
    result: z.strictObject({ room: z.string(), messages: z.array(Message), text: z.string() }),
    async run(asked, context) {
      const messages = (await messagesIn(context, asked)).map((said) => ({ ...said }));
      return { room: asked.room, messages, text: textOf(messages) };
    },
  }),
  defineCommand({
    name: 'collaboration/chat/mentions',
    description: 'Reads the latest messages of all rooms that address somebody ("@name").',
    permission: 'read',
    speed: 'quick',
    textField: 'text',
    params: z.strictObject({
      name: Name.optional().describe("the persona that is addressed; the run's own when absent"),
      limit: Limit,
      after: After,
    }),
    result: z.strictObject({ name: z.string(), messages: z.array(Message), text: z.string() }),
    async run({ name, ...asked }, context) {
      const addressed = name ?? context.run.persona;
      const messages = (await messagesTo(context, { name: addressed, ...asked })).map((said) => ({ ...said }));
      return { name: addressed, messages, text: textOf(messages) };
    },
  }),
  defineCommand({
    name: 'collaboration/chat/list',
    description:
      'Lists the rooms that have messages, each with its latest, with how busy it is ("lastHour") and how pressed ("unanswered").',
    permission: 'read',
    speed: 'quick',
    params: z.strictObject({}),
    result: z.array(
      z.strictObject({
        room: z.string(),
        messages: z.number(),
        lastHour: z.number().describe('messages of the last hour'),
        unanswered: z.number().describe('messages that address somebody, none of whom has said anything there since'),
        latest: Message,
      }),
    ),
    run: async (_params, context) =>
      (await rooms(context)).map(({ latest, ...room }) => ({ ...room, latest: { ...latest } })),
  }),
];

/** Rooms in which runs and people talk. */
import * as z from 'zod';
import { defineSystem } from '../../operations/system.ts';
import { chatCommands } from './commands.ts';
import { SOURCES } from './messages.ts';
import { tables } from './tables.ts';

export const chat = defineSystem({
  name: 'chat',
  summary: 'rooms in which runs and people say something, each message an event',
  commands: chatCommands,
  tables,
  events: {
    'chat:*:message': z.strictObject({
      room: z.string(),
      message: z.string(),
      author: z.string(),
      handle: z.string().nullable(),
      seq: z.number(),
      replyTo: z.number().nullable(),
      thread: z.number().nullable(),
      mentions: z.array(z.string()),
      source: z.enum(SOURCES),
    }),
  },
});

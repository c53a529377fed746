/**
 * Reading and answering what runs ask. An answer is signed with the name of the program that gave it, never a
 * person's; what a question asks of persons by name it gives in the place of whoever started the server; and one that lets a run act is refused, unless the server was started to allow it: a run whose
 * agent sits at the other end would approve for itself.
 */
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import * as z from 'zod';
import { CHOICES, letsAct, type Choice } from '../../language/events/question.ts';
import { defined } from '../../language/defined.ts';
import { ClientError } from '../client.ts';
import { callerOf } from './serve-runs.ts';
import { type Served, said } from './served.ts';

export function addAnswering(server: McpServer, served: Served): void {
  const { client, allowApprove } = served;
  server.registerTool(
    'inbox',
    {
      description:
        'What runs ask, each question with its run, its id, and the choices there are; and what was posted for personas.',
      inputSchema: {
        handle: z.string().optional().describe('Only what this run asks, and those nested in it.'),
        all: z.boolean().default(false).describe('Settled questions, too.'),
      },
      annotations: { readOnlyHint: true },
    },
    async ({ handle, all }) =>
      said({ items: await client.listInbox({ all, ...defined({ handle }) }, callerOf(server)) }),
  );
  server.registerTool(
    'answer',
    {
      description: allowApprove
        ? 'Answers what a run asks.'
        : 'Answers what a run asks: rejects, skips, stops or aborts. Approving, editing, retrying and extending are left to a person, who does it with "sentinel answer".',
      inputSchema: {
        handle: z.string().min(1),
        id: z.string().optional().describe('The question; may be left out where one is open.'),
        choice: z.enum(CHOICES as [Choice, ...Choice[]]),
        note: z.string().optional().describe('Why, kept with the answer.'),
        data: z.json().optional(),
        digest: z.string().optional().describe('Of the question that was seen.'),
      },
    },
    async ({ handle, id, choice, note, data, digest }) => {
      if (letsAct(choice) && !allowApprove) throw refused(handle, id, choice);
      return said(
        await client.answer(handle, {
          choice,
          by: callerOf(server),
          as: 'agent',
          ...(allowApprove ? { person: served.personaFor() } : {}),
          ...defined({ id, note, data, digest }),
        }),
      );
    },
  );
}

const refused = (handle: string, id: string | undefined, choice: Choice): ClientError =>
  new ClientError(
    'ANSWER_REFUSED',
    `"${choice}" lets a run act, which is a person's to say: "sentinel answer ${handle}${id === undefined ? '' : ` ${id}`} ${choice}". A server started with --allow-approve takes it.`,
  );

/** The tools that start runs, show them and steer them. */
import { existsSync } from 'node:fs';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import * as z from 'zod';
import { hasErrors } from '../../language/problems.ts';
import { findDefinition } from '../find-definition.ts';
import { AGENTS as HANDLES } from '../../runs/handles.ts';
import { ClientError } from '../client.ts';
import type { OpenClient } from '../open-client.ts';
import { nestedEvents } from '../follow/nested-events.ts';
import { standingOf } from '../lookup/run-standing.ts';
import { isDefinitionFile } from '../../language/read/text/definition-text.ts';
import { choiceParams, START_CHOICES } from '../../language/policy/start-choices.ts';
import { defined } from '../../language/defined.ts';
import { traceLines } from '../show/trace.ts';
import { policyOf, said, savedFor, servedCommands, servedFiles, type Served } from './served.ts';

const handle = z.string().min(1).describe('The handle of a run.');
const looks = { readOnlyHint: true };
/** At the command line the beginning of a handle stands for a person's run. */
const agentsHandle = START_CHOICES.handle
  .optional()
  .describe('A name for the run, which no other has; its handle is "agent:" and this name.');
const handleAs = (name: string | undefined): string | undefined => name && `${HANDLES}${name}`;
/** Its `handle` is that of the old run, and the new one's stands beside it. */
const { handle: _handle, ...retryChoices } = choiceParams('retry_run');
/** What agents have paused, agents let go on; no run can have such a handle. */
const AGENTS = '@agents';

export function addRuns(server: McpServer, served: Served): void {
  addStarting(server, served);
  addRetrying(server, served);
  addLooking(server, served);
  addSteering(server, served);
}

function addStarting(server: McpServer, served: Served): void {
  const { client, project } = served;
  server.registerTool(
    'list_sentinels',
    {
      description: 'Lists the saved sentinels by name, those of the project and those that are stored.',
      annotations: looks,
    },
    async () => said({ sentinels: await savedSentinels(served) }),
  );
  server.registerTool(
    'run_sentinel',
    {
      description: 'Starts a saved sentinel and returns the handle of the run, which goes on by itself.',
      inputSchema: {
        name: z.string().min(1).describe('As list_sentinels names it.'),
        ...choiceParams('run_sentinel'),
        handle: agentsHandle,
      },
    },
    async ({ name, handle: asked, policy, ...chosen }) => {
      const definition = await savedDefinition(served, name);
      const started = await client.start(definition.definition, {
        project,
        persona: served.personaFor(definition.persona),
        known: definition.known,
        saves: false,
        startedBy: 'agent',
        ...defined({ ...chosen, host: served.host, handle: handleAs(asked) }),
        ...policyOf(served, policy),
      });
      return said(started);
    },
  );
}

function addRetrying(server: McpServer, served: Served): void {
  const { client } = served;
  server.registerTool(
    'retry_run',
    {
      description:
        'Starts a new run with the results of an old one so far, from what failed in it: from the failed items of a list, whose other items keep their results, or from the step that failed.',
      inputSchema: {
        handle,
        ...retryChoices,
        as: agentsHandle,
        items: z
          .union([z.literal('failed'), z.array(z.number().int().min(0)).min(1)])
          .optional()
          .describe('Items of a list: those that failed, or these, counted from 0.'),
        at: z.string().min(1).optional().describe("The key of the list's step, if the run has several lists."),
      },
    },
    async ({ handle: run, as, items, at, policy, ...chosen }) =>
      said(
        await client.retry(run, {
          ...defined({ ...chosen, items, at, handle: handleAs(as) }),
          ...policyOf(served, policy),
          startedBy: 'agent',
        }),
      ),
  );
}

async function savedDefinition(served: Served, name: string) {
  // A name, and no path: what is not saved is not started from here.
  if (/[/\\]/.test(name) || isDefinitionFile(name) || existsSync(name))
    throw new ClientError('USAGE', `"${name}" is not the name of a saved sentinel; list_sentinels names them.`);
  const { definition, problems, known, persona } = await findDefinition(
    name,
    served.project,
    await servedCommands(served),
    savedFor(served),
  );
  if (definition === null || hasErrors(problems)) {
    const errors = problems.filter(({ severity }) => severity === 'error');
    const text = errors.map(({ path, message }) => `${path}: ${message}`).join('; ');
    throw new ClientError('DEFINITION_INVALID', `"${name}" has problems, and nothing was started: ${text}.`);
  }
  return { definition, known, persona };
}

async function savedSentinels(served: Served): Promise<{ name: string; description: string | null }[]> {
  const files = await servedFiles(served);
  const stored = (await (await savedFor(served)())?.list()) ?? [];
  const names = [...new Set([...files.names(), ...stored.map(({ name }) => name)])].toSorted();
  return names.flatMap((name) => {
    const definition = files.known(name) ?? stored.find((one) => one.name === name)?.definition;
    return definition === undefined ? [] : [{ name, description: definition.description ?? null }];
  });
}

function addLooking(server: McpServer, { client }: Served): void {
  server.registerTool(
    'list_runs',
    {
      description: 'Lists runs, newest first.',
      inputSchema: {
        status: z.enum(['running', 'paused', 'completed', 'failed', 'cancelled']).optional(),
        limit: z.number().int().min(1).max(500).default(20),
      },
      annotations: looks,
    },
    async ({ status, limit }) => said({ runs: await client.list({ limit, ...defined({ status }) }) }),
  );
  server.registerTool(
    'run_status',
    { description: 'How a run stands, what it gave, and what it asks.', inputSchema: { handle }, annotations: looks },
    async ({ handle: run }) => said(await standingOf(client, run)),
  );
  server.registerTool(
    'run_trace',
    { description: 'The steps of a run as a tree.', inputSchema: { handle }, annotations: looks },
    async ({ handle: run }) => {
      const trace = await traceOf(client, run);
      return said({ handle: run, trace }, trace);
    },
  );
  server.registerTool(
    'run_logs',
    {
      description: 'What the steps of a run printed, and what models said: the last lines.',
      inputSchema: { handle, lines: z.number().int().min(1).max(5000).default(200) },
      annotations: looks,
    },
    async ({ handle: run, lines }) => {
      const logs = await logsOf(client, run, lines);
      return said({ handle: run, lines: logs }, logs.join('\n'));
    },
  );
}

export async function traceOf(client: OpenClient, run: string): Promise<string> {
  await client.find(run);
  const events = await client.events(run);
  return traceLines(events, { nested: await nestedEvents(client, run, events) }).join('\n');
}

export async function logsOf(client: OpenClient, run: string, lines: number): Promise<string[]> {
  await client.find(run);
  const tail = await client.logs(run, { stream: 'combined', nested: true }, lines);
  return tail.lines.map(({ text }) => text);
}

function addSteering(server: McpServer, { client, allowApprove }: Served): void {
  server.registerTool(
    'steer_run',
    {
      description:
        'Holds a run before its next step (pause), lets it go on (resume; at a limit, or where a person paused it, it waits for a person), ends it after the steps under way (stop), or interrupts them (cancel).',
      inputSchema: { handle, how: z.enum(['pause', 'resume', 'stop', 'cancel']) },
    },
    async ({ handle: run, how }) => {
      if (how === 'cancel') await client.requestCancel(run);
      else if (how === 'pause') await client.pause(run, `${callerOf(server)} paused it`, { by: AGENTS });
      else if (how === 'resume')
        await client.resume(run, allowApprove ? { extendsLimits: true } : { extendsLimits: false, by: AGENTS });
      else await client.stop(run);
      return said(await client.status(run));
    },
  );
  server.registerTool(
    'tell_model',
    {
      description: 'Tells the model of a step that is under way something, before its next turn.',
      inputSchema: { handle, text: z.string().min(1), step: z.string().optional() },
    },
    async ({ handle: run, text, step }) =>
      said(await client.tell(run, text, { by: callerOf(server), ...defined({ step }) })),
  );
}

/** Who is at the other end, as answers and words are signed: it is no person. */
export function callerOf(server: McpServer): string {
  const name = server.server.getClientVersion()?.name ?? 'unknown';
  return `mcp:${name.replaceAll(/[^\w.-]+/g, '-').slice(0, 60)}`;
}

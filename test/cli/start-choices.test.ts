/** The choices of a start are one list: a door has all of it, but for what it leaves out with a reason. */
import { Command } from 'commander';
import { expect, test } from 'vitest';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { define as defineCommand } from '../../cli/verbs/command.ts';
import { define as defineEval } from '../../cli/verbs/eval.ts';
import { define as defineFork } from '../../cli/verbs/fork.ts';
import { define as defineMcp } from '../../cli/verbs/mcp.ts';
import { define as defineRetry } from '../../cli/verbs/retry.ts';
import { define as defineRun } from '../../cli/verbs/run.ts';
import { define as defineSchedule } from '../../cli/verbs/schedule.ts';
import { define as defineSimulate } from '../../cli/verbs/simulate.ts';
import { define as defineTrigger } from '../../cli/verbs/trigger.ts';
import type { RetryOptions, StartOptions } from '../../client/contract/requests.ts';
import { addRuns } from '../../client/mcp/serve-runs.ts';
import type { Served } from '../../client/mcp/served.ts';
import type { JsonObject } from '../../language/json.ts';
import {
  choicesAt,
  LEFT_OUT,
  START_CHOICES,
  type ChoiceAt,
  type StartChoice,
  type StartDoor,
} from '../../language/policy/start-choices.ts';
import { builtInCommands } from '../../systems/built-in.ts';

/** How a choice is called at the command line. */
const FLAGS: { [Choice in StartChoice]: readonly string[] } = {
  project: ['--project'],
  inputs: ['--input', '--input-file'],
  persona: ['--persona', '--by'],
  handle: ['--id'],
  host: ['--host'],
  policy: ['--policy'],
  cassette: ['--replay'],
  continueEvery: ['--continue-every'],
};

const VERBS: { [Door in StartDoor]?: (command: Command, argv: readonly string[]) => unknown } = {
  run: defineRun,
  fork: defineFork,
  retry: defineRetry,
  'schedule create': defineSchedule,
  'trigger add': defineTrigger,
  eval: defineEval,
  command: defineCommand,
  simulate: defineSimulate,
  'mcp serve': defineMcp,
};

async function flagsOf(door: StartDoor): Promise<StartChoice[]> {
  const [, sub] = door.split(' ');
  const verb = new Command(door);
  await VERBS[door]?.(verb, []);
  const command = sub === undefined ? verb : verb.commands.find((one) => one.name() === sub);
  const flags = command?.options.map(({ long }) => long) ?? [];
  return namesOf(Object.entries(FLAGS), (said) => said.every((flag) => flag.startsWith('--') && isThere(flag, flags)));
}

/** One of the two spellings of a persona is enough. */
const isThere = (flag: string, flags: readonly (string | null | undefined)[]): boolean =>
  flags.includes(flag) || (FLAGS.persona.includes(flag) && FLAGS.persona.some((one) => flags.includes(one)));

const namesOf = (entries: [string, readonly string[]][], has: (said: readonly string[]) => boolean): StartChoice[] =>
  entries.flatMap(([choice, said]) => (has(said) ? [choice as StartChoice] : []));

function toolsOfServer(): Map<string, object> {
  const tools = new Map<string, object>();
  const server = {
    registerTool: (name: string, { inputSchema = {} }: { inputSchema?: object }) => tools.set(name, inputSchema),
  };
  addRuns(server as unknown as McpServer, {} as Served);
  return tools;
}

const tools = toolsOfServer();
/** `handle` is that of the run to retry there. */
const AT_RETRY: Readonly<Record<string, string>> = { handle: '', as: 'handle' };

function inTool(name: 'run_sentinel' | 'retry_run'): string[] {
  const fields = Object.keys(tools.get(name) ?? {});
  return name === 'run_sentinel' ? fields : fields.map((field) => AT_RETRY[field] ?? field);
}

function inCommand(name: string): string[] {
  const params = builtInCommands.find((command) => command.name === name)?.params as unknown as {
    options: { shape: JsonObject }[];
  };
  const [first, ...others] = params.options.map(({ shape }) => Object.keys(shape));
  return (first ?? []).filter((field) => others.every((fields) => fields.includes(field)));
}

const CHOICES = Object.keys(START_CHOICES) as StartChoice[];
const choicesIn = (fields: readonly string[]): StartChoice[] => CHOICES.filter((choice) => fields.includes(choice));

/** A type is seen by the compiler alone: what it lacks makes this no program. */
const lacks = <Choice extends never>(): Choice[] => [];
lacks<Exclude<ChoiceAt<'client.start'>, keyof StartOptions>>();
lacks<Exclude<ChoiceAt<'client.retry'>, keyof RetryOptions>>();
lacks<Exclude<keyof RetryOptions & StartChoice, ChoiceAt<'client.retry'>>>();

type SeenDoor = Exclude<StartDoor, `client.${string}`>;

const DOORS: { [Door in SeenDoor]: () => Promise<StartChoice[]> | StartChoice[] } = {
  run: () => flagsOf('run'),
  fork: () => flagsOf('fork'),
  retry: () => flagsOf('retry'),
  'schedule create': () => flagsOf('schedule create'),
  'trigger add': () => flagsOf('trigger add'),
  eval: () => flagsOf('eval'),
  command: () => flagsOf('command'),
  simulate: () => flagsOf('simulate'),
  'mcp serve': () => flagsOf('mcp serve'),
  run_sentinel: () => choicesIn(inTool('run_sentinel')),
  retry_run: () => choicesIn(inTool('retry_run')),
  'sentinel/run': () => choicesIn(inCommand('sentinel/run')),
  'sentinel/start': () => choicesIn(inCommand('sentinel/start')),
};

test.each(Object.keys(DOORS) as SeenDoor[])('%s has the choices of the list', async (door) => {
  expect((await DOORS[door]()).toSorted()).toEqual(choicesAt(door).toSorted());
});

test('what a door leaves out is a choice, and has its reason', () => {
  for (const [door, left] of Object.entries(LEFT_OUT))
    for (const [choice, reason] of Object.entries(left)) {
      expect(CHOICES, door).toContain(choice);
      expect(reason.trim(), `${door} ${choice}`).not.toBe('');
    }
});

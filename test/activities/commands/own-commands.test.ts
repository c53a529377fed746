/** Commands of a project as a worker performs them: whatever their code does, the step gets a result or a failure. */
import { tmpdir } from 'node:os';
import * as z from 'zod';
import { expect, test } from 'vitest';
import { createRegistry } from '../../../activities/commands/registry.ts';
import { toolsFor } from '../../../activities/turns/tools/tools.ts';
import type { Json } from '../../../language/json.ts';
import { CommandFailure, defineCommand } from '../../../services/commands/define-command.ts';
import { OwnCommand } from '../../../services/commands/own-commands.ts';
import { ownCommands } from '../../../worker/commands/own-commands.ts';
import { commandContext } from '../harness/command-context.ts';

type Over = Parameters<typeof commandContext>[1];

const echo = defineCommand({
  name: 'own/echo',
  permission: 'read',
  params: z.strictObject({ text: z.string(), times: z.number().default(2) }),
  result: z.object({ text: z.string(), key: z.string(), project: z.string(), attempt: z.number() }),
  run: ({ text, times }, { key, project, attempt }) => ({ text: text.repeat(times), key, project, attempt, more: 1 }),
});

function perform(command: object, params: Json = {}, over: Over = {}): Promise<unknown> {
  const registry = createRegistry(ownCommands([OwnCommand.parse(command)]));
  return registry
    .run('own/it', params, commandContext(tmpdir(), over))
    .then((value) => ({ value }))
    .catch((error: unknown) => error);
}

/** A command whose code is `run`. */
const running = (run: (...args: never[]) => unknown, rest: object = {}): object => ({
  name: 'own/it',
  permission: 'read',
  params: z.object({}),
  result: z.any(),
  run,
  ...rest,
});

test('it gets its parameters as its schema reads them, and where it is; its result is what its schema knows', async () => {
  const context = commandContext(tmpdir());
  expect(await perform({ ...echo, name: 'own/it' }, { text: 'ab' }, context)).toEqual({
    value: { text: 'abab', key: `${context.run.handle}/${context.key}`, project: tmpdir(), attempt: 1 },
  });
  expect(await perform({ ...echo, name: 'own/it' }, { text: 7, other: 1 })).toMatchObject({
    code: 'COMMAND_PARAMS_INVALID',
    details: { problems: [{ path: 'params.text' }, { path: 'params' }] },
  });
});

test('it is a tool with its own schema', () => {
  const registry = createRegistry(ownCommands([OwnCommand.parse(echo)]));
  expect(toolsFor(registry, ['own/echo'])).toEqual([
    {
      name: 'own/echo',
      description: 'Runs the command own/echo.',
      parameters: {
        type: 'object',
        properties: { text: { type: 'string' }, times: { type: 'number', default: 2 } },
        required: ['text'],
        additionalProperties: false,
      },
    },
  ]);
});

const circle: { self?: unknown } = {};
circle.self = circle;

test.each<[string, (...args: never[]) => unknown, object]>([
  [
    'an error',
    () => {
      throw new Error('no luck');
    },
    { code: 'ACTIVITY_FAILED', message: 'own/it: no luck' },
  ],
  [
    'a word',
    () => {
      throw 'words';
    },
    { code: 'ACTIVITY_FAILED', message: 'own/it: words' },
  ],
  ['a rejection', () => Promise.reject(new TypeError('x is null')), { code: 'ACTIVITY_FAILED' }],
  [
    'a failure of its own',
    () => {
      throw new CommandFailure('TRACKER_CLOSED', 'come back', { details: { at: 7 } });
    },
    { code: 'TRACKER_CLOSED', message: 'own/it: come back', details: { at: 7 } },
  ],
  [
    'a code of Sentinel',
    () => {
      throw new CommandFailure('STORE_UNAVAILABLE', 'x');
    },
    { code: 'ACTIVITY_FAILED' },
  ],
  [
    'no code',
    () => {
      throw new CommandFailure('not a code', 'x', { details: circle });
    },
    { code: 'ACTIVITY_FAILED', details: undefined },
  ],
])('%s fails the step', async (_what, run, failure) => {
  expect(await perform(running(run))).toMatchObject(failure);
});

test.each<[string, unknown, object, object]>([
  [
    'what its schema refuses',
    7,
    { result: z.string() },
    { code: 'COMMAND_RESULT_INVALID', message: expect.stringContaining('own/it: result: ') as string },
  ],
  [
    'a circle',
    circle,
    {},
    { code: 'COMMAND_RESULT_INVALID', message: expect.stringContaining('it is no JSON') as string },
  ],
  ['a big integer', 7n, {}, { code: 'COMMAND_RESULT_INVALID' }],
  ['too much', 'x'.repeat(9 * 1024 * 1024), {}, { code: 'VALUE_TOO_LARGE' }],
  ['nothing', undefined, {}, { value: null }],
  ['a date', new Date(0), {}, { value: '1970-01-01T00:00:00.000Z' }],
])('%s as a result', async (_what, returned, rest, outcome) => {
  expect(await perform(running(() => returned, rest))).toMatchObject(outcome);
});

test('a check that throws, of parameters or of a result, fails the step', async () => {
  const throws = z.any().refine(() => {
    throw new Error('the check broke');
  });
  expect(await perform(running(() => 1, { result: throws }))).toMatchObject({ code: 'COMMAND_RESULT_INVALID' });
  expect(
    await perform(
      running(() => 1, { params: z.object({ a: throws }) }),
      { a: 1 },
    ),
  ).toMatchObject({
    code: 'ACTIVITY_FAILED',
    message: 'own/it: the check broke',
  });
});

test('one that does not end is left when its time is over', async () => {
  let told = false;
  const never = (_params: never, { signal }: { signal: AbortSignal }): Promise<never> => {
    signal.addEventListener('abort', () => (told = true));
    return new Promise(() => undefined);
  };
  expect(await perform(running(never as never), {}, { timeoutMs: 100 })).toMatchObject({
    code: 'STEP_TIMEOUT',
    message: 'own/it took longer than 100 ms; give the step more time',
  });
  expect(told).toBe(true);
});

test.each([
  ['rejects', () => Promise.reject(new Error('aborted')), 'cancelled'],
  ['has ended its work', () => 'tidied up', { value: 'tidied up' }],
])('one that is cancelled and %s', async (_what, end, outcome) => {
  const over = new AbortController();
  const ends = (_params: never, { signal }: { signal: AbortSignal }): Promise<unknown> =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve(end())));
  const reason = new Error('cancelled');
  setTimeout(() => over.abort(reason), 50);
  const came = await perform(running(ends), {}, { signal: over.signal });
  if (outcome === 'cancelled') expect(came).toBe(reason);
  else expect(came).toEqual(outcome);
});

const waits = (): Promise<string> => new Promise((resolve) => setTimeout(() => resolve('done'), 2500));

test('while it works the server hears that it is alive', async () => {
  let beats = 0;
  expect(await perform(running(waits), {}, { heartbeat: () => (beats += 1) })).toEqual({ value: 'done' });
  expect(beats).toBeGreaterThan(0);
});

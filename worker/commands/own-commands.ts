/**
 * The commands of a project's `sentinel.config` as commands of this worker. Their code is a user's:
 *
 * - O1 What it throws fails the step, whatever it is; nothing of it reaches the worker as a bug.
 * - O2 What it returns is held against its schema and made plain JSON, as large as a value may be.
 * - O3 It ends with its step: when the time is over or the step is cancelled it is told, and waited for no
 *      longer than a moment.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type * as z from 'zod';
import { type Command, type CommandContext, defineCommand } from '../../activities/commands/command.ts';
import { FAILURE_CODES } from '../../language/failure.ts';
import { Failure } from '../../activities/failures/failures.ts';
import { beating } from '../../activities/shell/process/beating.ts';
import { VALUE_FAULT, valueFault, type Json, type JsonObject } from '../../language/json.ts';
import { valueBytesMax } from '../../language/limits.ts';
import { Value } from '../../language/model.ts';
import { ownEntry } from '../../runs/commands/project-commands.ts';
import { CommandFailure } from '../../services/commands/define-command.ts';
import { parametersOf, QUICK_MS_MAX, type OwnCommand } from '../../services/commands/own-commands.ts';

const endsWithinMs = 2_000;
const messageLengthMax = 4_000;
const CODE = /^[A-Z][A-Z0-9_]{1,63}$/;

export const ownCommands = (commands: readonly OwnCommand[]): Command[] => commands.map(ownCommand);

function ownCommand(own: OwnCommand): Command {
  return defineCommand({
    name: own.name,
    ...(own.description === undefined ? {} : { description: own.description }),
    ...ownEntry(own),
    params: Value,
    parameters: parametersOf(own.params) as JsonObject,
    result: Value,
    async run(params, context) {
      const given = await paramsOf(own, params);
      return resultOf(own, await perform(own, given, context));
    },
  });
}

async function paramsOf({ name, params: schema }: OwnCommand, params: Json): Promise<unknown> {
  const read = await schema.safeParseAsync(params).catch((error: unknown) => {
    throw failureOf(name, error);
  });
  if (read.success) return read.data;
  throw new Failure('COMMAND_PARAMS_INVALID', `${name}: ${issuesOf('params', read.error)}; correct the step's params`, {
    details: {
      problems: read.error.issues.map(({ path, message }) => ({ path: pathOf('params', path), message })),
    },
  });
}

const pathOf = (root: string, path: readonly PropertyKey[]): string => [root, ...path.map(String)].join('.');

const issuesOf = (root: string, { issues }: z.ZodError): string =>
  issues.map(({ path, message }) => `${pathOf(root, path)}: ${message}`).join('; ');

async function perform(own: OwnCommand, params: unknown, context: CommandContext): Promise<unknown> {
  const { run, key, attempt, signal: cancelled } = context;
  const timeoutMs = own.speed === 'quick' ? Math.min(context.timeoutMs, QUICK_MS_MAX) : context.timeoutMs;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error(`${own.name} took longer than ${timeoutMs} ms`)), timeoutMs);
  const signal = AbortSignal.any([cancelled, late.signal]);
  const running = Promise.resolve().then(() =>
    own.run(params, { signal, project: run.project, key: `${run.handle}/${key}`, attempt }),
  );
  try {
    return await beating(context, () => Promise.race([running, whenLeft(signal)]));
  } catch (error) {
    if (cancelled.aborted) throw cancelled.reason;
    if (late.signal.aborted)
      throw new Failure('STEP_TIMEOUT', `${own.name} took longer than ${timeoutMs} ms; give the step more time`);
    throw failureOf(own.name, error);
  } finally {
    clearTimeout(timer);
    // Nobody listens any more to what it says after its end.
    running.catch(() => undefined);
  }
}

/** Rejects a moment after the signal aborts: by then the command has had time to end by itself. */
async function whenLeft(signal: AbortSignal): Promise<never> {
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
  await sleep(endsWithinMs, undefined, { ref: false });
  throw signal.reason;
}

function failureOf(name: string, error: unknown): Failure {
  const said = error instanceof Error ? error.message : String(error);
  const message = `${name}: ${said === '' ? 'it failed without a word' : said}`.slice(0, messageLengthMax);
  if (!(error instanceof CommandFailure)) return new Failure('ACTIVITY_FAILED', message, { cause: error });
  // Codes of Sentinel's own mean what they mean.
  const isOwn = CODE.test(error.code) && !Object.hasOwn(FAILURE_CODES, error.code);
  return new Failure(isOwn ? error.code : 'ACTIVITY_FAILED', message, {
    ...detailsOf(error),
    cause: error,
  });
}

function detailsOf({ details }: CommandFailure): { details?: JsonObject } {
  try {
    const plain = details === undefined ? undefined : (JSON.parse(JSON.stringify(details)) as JsonObject);
    return plain === undefined || valueFault(plain, 'details') !== null ? {} : { details: plain };
  } catch {
    // Details that are no JSON are left out; the message stands.
    return {};
  }
}

async function resultOf({ name, result: schema }: OwnCommand, returned: unknown): Promise<Json> {
  const invalid = (finding: string): Failure =>
    new Failure('COMMAND_RESULT_INVALID', `${name}: ${finding}; correct its "run" or its "result" in sentinel.config`);
  const read = await schema.safeParseAsync(returned).catch((error: unknown) => {
    throw invalid(`its result cannot be checked (${error instanceof Error ? error.message : String(error)})`);
  });
  if (!read.success) throw invalid(issuesOf('result', read.error));
  const text = textOf(read.data);
  if (text === null) throw invalid('result: it is no JSON');
  if (Buffer.byteLength(text) > valueBytesMax)
    throw new Failure(
      VALUE_FAULT,
      `the result of ${name} has ${Buffer.byteLength(text)} bytes as JSON, and at most ${valueBytesMax} are taken; return less of it`,
    );
  return JSON.parse(text) as Json;
}

/** Null for what JSON cannot say: circles, big integers. */
function textOf(value: unknown): string | null {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch {
    return null;
  }
}

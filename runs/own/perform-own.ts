/**
 * The code of a project's command, in its process:
 *
 * - O1 What it throws fails the step, whatever it is.
 * - O2 What it returns is held against its schema and made plain JSON, as large as a value may be.
 */
import { inspect } from 'node:util';
import type * as z from 'zod';
import { FAILURE_CODES, type FailureInfo } from '../../language/failure.ts';
import { VALUE_FAULT, valueFault, type Json, type JsonObject } from '../../language/json.ts';
import { valueBytesMax } from '../../language/limits.ts';
import { notPlainWords } from '../../language/plain-json.ts';
import { defined } from '../../language/defined.ts';
import type { CommandContext, CommandFailure } from '../../services/commands/define-command.ts';
import type { OwnCommand } from '../../services/commands/own-commands.ts';
import type { Outcome } from './own-messages.ts';
import { PortFailure } from './port-to-worker.ts';

const messageLengthMax = 4_000;
const CODE = /^[A-Z][A-Z0-9_]{1,63}$/;

class Refused extends Error {
  readonly failure: Pick<FailureInfo, 'code' | 'message' | 'details'>;

  constructor(code: string, message: string, details?: JsonObject) {
    super(message);
    this.failure = { code, message, ...defined({ details }) };
  }
}

export interface Performed {
  own: OwnCommand;
  /** Whose it is; undefined: the project's own. */
  system: string | undefined;
  /** Codes that commands of ours state. */
  reserved: readonly string[];
}

export async function performOwn(of: Performed, params: Json, context: CommandContext): Promise<Outcome> {
  const { own } = of;
  try {
    const given = await paramsOf(own, params);
    return { ok: true, text: await resultOf(own, await own.run(given, context)) };
  } catch (error) {
    return error instanceof Refused ? { ok: false, failure: error.failure } : thrown(of, error);
  }
}

async function paramsOf({ name, params: schema }: OwnCommand, params: Json): Promise<unknown> {
  const read = await schema.safeParseAsync(params);
  if (read.success) return read.data;
  throw new Refused('COMMAND_PARAMS_INVALID', `${name}: ${issuesOf('params', read.error)}; correct the step's params`, {
    problems: read.error.issues.map(({ path, message }) => ({ path: pathOf('params', path), message })),
  });
}

const pathOf = (root: string, path: readonly PropertyKey[]): string => [root, ...path.map(String)].join('.');

const issuesOf = (root: string, { issues }: z.ZodError): string =>
  issues.map(({ path, message }) => `${pathOf(root, path)}: ${message}`).join('; ');

function thrown(of: Performed, error: unknown): Outcome {
  const { name } = of.own;
  const said = error instanceof Error ? error.message : String(error);
  const message = `${name}: ${said === '' ? 'it failed without a word' : said}`.slice(0, messageLengthMax);
  if (!isCommandFailure(error))
    return { ok: false, failure: { code: 'ACTIVITY_FAILED', message }, trace: inspect(error) };
  const { details, fault } = detailsOf(error);
  // It says itself what it means; where that came from is another matter.
  const trace = [error.cause === undefined ? [] : inspect(error.cause), fault ?? []].flat();
  const notStated = error instanceof PortFailure ? null : notStatedWords(of, error);
  const failure =
    notStated === null
      ? { code: codeOf(of, error), message }
      : { code: 'FAILURE_NOT_STATED', message: `${message} (${notStated})`.slice(0, messageLengthMax) };
  return {
    ok: false,
    failure: { ...failure, ...defined({ details }) },
    ...(trace.length === 0 ? {} : { trace: trace.join('\n') }),
  };
}

/** Codes of Sentinel's own mean what they mean. */
const isTaken = ({ reserved }: Performed, code: string): boolean =>
  Object.hasOwn(FAILURE_CODES, code) || reserved.includes(code);

const codeOf = (of: Performed, error: CommandFailure): string =>
  error instanceof PortFailure || (CODE.test(error.code) && !isTaken(of, error.code)) ? error.code : 'ACTIVITY_FAILED';

/** Null where the code is stated, or nothing has to be. */
function notStatedWords(of: Performed, { code }: CommandFailure): string | null {
  const { own, system } = of;
  if (own.failures === undefined || Object.hasOwn(own.failures, code) || isTaken(of, code)) return null;
  const [whose, where] =
    system === undefined
      ? [`the command "${own.name}"`, 'defineCommand']
      : [`the system "${system}"`, `defineCommand or of defineSystem`];
  return `it failed with the code "${code}", which ${whose} does not state; add it to "failures" of its ${where}`;
}

/** A package has a class of its own by that name where it brings its own copy of this one. */
const isCommandFailure = (error: unknown): error is CommandFailure =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && error.name === 'CommandFailure';

/** Details that are no JSON are left out, which is said; the message stands. */
function detailsOf({ details }: CommandFailure): { details?: JsonObject; fault?: string } {
  if (details === undefined) return {};
  const fault = valueFault(details, 'details');
  if (fault !== null) return { fault: `the details are left out: ${fault.message}` };
  return { details: JSON.parse(JSON.stringify(details)) as JsonObject };
}

async function resultOf({ name, result: schema }: OwnCommand, returned: unknown): Promise<string> {
  const invalid = (finding: string): Refused =>
    new Refused('COMMAND_RESULT_INVALID', `${name}: ${finding}; correct its "run" or its "result" in sentinel.config`);
  const read = await schema.safeParseAsync(returned).catch((error: unknown) => {
    throw invalid(`its result cannot be checked (${error instanceof Error ? error.message : String(error)})`);
  });
  if (!read.success) throw invalid(issuesOf('result', read.error));
  const odd = notPlainWords(read.data, 'the result');
  if (odd !== null) throw invalid(odd);
  const text = JSON.stringify(read.data) ?? 'null';
  const bytes = Buffer.byteLength(text);
  if (bytes > valueBytesMax)
    throw new Refused(
      VALUE_FAULT,
      `the result of ${name} has ${bytes} bytes as JSON, and at most ${valueBytesMax} are taken; return less of it`,
    );
  return text;
}

/** From whatever was thrown to a sentence, an object, and an exit code. */
import { CommanderError } from 'commander';
import type { JsonObject } from '../../language/json.ts';
import { defined } from '../../language/defined.ts';
import type { ClientErrorCode } from '../../runs/client-error.ts';
import { asClientError } from '../../client/contract/as-client-error.ts';
import { EXIT, exitCodeOfError } from './exit-codes.ts';
import { openOutput } from './output.ts';

interface Reported {
  code: ClientErrorCode;
  message: string;
  exitCode: number;
  details?: JsonObject;
}

export async function reportError(
  error: unknown,
  options: { json: boolean; verb: string | undefined },
): Promise<number> {
  const { code, message, exitCode, details } = await readError(error, options.verb);
  const said = { code, message, ...defined({ details }) };
  const output = openOutput({ json: options.json, streams: true });
  output.note(`sentinel: ${message}`);
  output.object({ ok: false, error: said });
  if (code === 'BUG' && error instanceof Error && error.stack !== undefined) output.note(error.stack);
  return exitCode;
}

async function readError(error: unknown, verb: string | undefined): Promise<Reported> {
  const told = asClientError(error);
  if (told !== null) {
    const { code, message, details } = told;
    return { code, message, exitCode: exitCodeOfError(code), ...defined({ details }) };
  }
  if (error instanceof CommanderError) {
    return { code: 'USAGE', message: sentenceOf(error, verb), exitCode: EXIT.usage };
  }
  if (!(error instanceof Error)) return { code: 'BUG', message: `bug: ${String(error)}`, exitCode: EXIT.failed };
  return { code: 'BUG', message: error.message, exitCode: EXIT.failed };
}

/** Commander's own words, made one sentence that ends in what to do. */
function sentenceOf(error: CommanderError, verb: string | undefined): string {
  const [first = '', hint = ''] = error.message.replace(/^error: /, '').split('\n');
  const finding = first.replace(/\.$/, '').replaceAll("'", '"');
  const help = verb === undefined ? 'sentinel --help' : `sentinel ${verb} --help`;
  const suggestion = /^\(Did you mean (?:one of )?(.*)\?\)$/.exec(hint)?.[1];
  return suggestion === undefined
    ? `${finding}; "${help}" shows what it takes.`
    : `${finding}; write ${suggestion}, or see "${help}".`;
}

/** From whatever was thrown to a sentence, an object, and an exit code. */
import { CommanderError } from 'commander';
import { ClientError, type ClientErrorCode } from '../../../runs/client-error.ts';
import { EXIT, exitCodeOfError } from './exit-codes.ts';

interface Reported {
  code: ClientErrorCode;
  message: string;
  exitCode: number;
}

export async function reportError(
  error: unknown,
  options: { json: boolean; verb: string | undefined },
): Promise<number> {
  const { code, message, exitCode } = await readError(error, options.verb);
  process.stderr.write(`sentinel: ${message}\n`);
  if (options.json) process.stdout.write(`${JSON.stringify({ ok: false, error: { code, message } })}\n`);
  if (code === 'BUG' && error instanceof Error && error.stack !== undefined) process.stderr.write(`${error.stack}\n`);
  return exitCode;
}

async function readError(error: unknown, verb: string | undefined): Promise<Reported> {
  if (error instanceof ClientError)
    return { code: error.code, message: error.message, exitCode: exitCodeOfError(error.code) };
  if (error instanceof CommanderError) {
    return { code: 'USAGE', message: sentenceOf(error, verb), exitCode: EXIT.usage };
  }
  if (!(error instanceof Error)) return { code: 'BUG', message: `bug: ${String(error)}`, exitCode: EXIT.failed };
  if (error.name === 'ConfigError') return { code: 'SETTINGS', message: error.message, exitCode: EXIT.usage };
  if (error.name === 'CONFIG_DIFFERS') return { code: 'SETTINGS', message: error.message, exitCode: EXIT.usage };
  if (error.name === 'SANDBOX_NOT_AVAILABLE')
    return { code: error.name, message: error.message, exitCode: EXIT.failed };
  if (error.name === 'ServicesError') return { code: 'SERVICES', message: error.message, exitCode: EXIT.failed };
  if (error.name === 'NamespaceNotFoundError') {
    const message = `The Temporal server does not have what TEMPORAL_NAMESPACE names (${error.message}): create the namespace there, or correct the setting.`;
    return { code: 'SERVICES', message, exitCode: EXIT.failed };
  }
  if (
    error.name === 'ServiceError' ||
    /^Failed to connect before the deadline|^\d+ (UNAVAILABLE|DEADLINE_EXCEEDED)/.test(error.message)
  ) {
    const message = `Temporal does not answer (${error.message}): "sentinel doctor" says what to do.`;
    return { code: 'NO_ANSWER', message, exitCode: EXIT.failed };
  }
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

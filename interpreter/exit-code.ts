/** A process that ended with a code other than 0, where its step fails then. */
import { failsByExitCode, type FailureInfo } from '../language/failure.ts';
import { isJsonObject, type Json } from '../language/json.ts';
import type { Step } from '../language/model.ts';
import { textOf } from '../language/expression/scope.ts';
import type { Reply } from './effect.ts';
import type { Walk } from './walk-state.ts';

const linesMax = 10;
const charactersMax = 1_000;

export function exitFailure(
  walk: Walk,
  step: Step,
  key: string,
  reply: Reply,
): { failure: FailureInfo; gave: Json } | null {
  if (!reply.ok || !isJsonObject(reply.value) || !failsByExitCode(step, walk.input.definition.defaults)) return null;
  const { exitCode, stderr, stdout } = reply.value;
  if (typeof exitCode !== 'number' || exitCode === 0) return null;
  const told = lastLines(textOf(stderr));
  const said = told === '' ? lastLines(textOf(stdout)) : told;
  const message = `${key}: it ended with exit code ${exitCode}${said === '' ? '' : `: ${said}`}`;
  const failure = { code: 'SHELL_EXIT_NONZERO', message, retryable: true, details: { exitCode, stderr: told } };
  return { failure, gave: reply.value };
}

function lastLines(text: string): string {
  const lines = text.trimEnd().split('\n').slice(-linesMax).join('\n');
  return lines.length <= charactersMax ? lines : `…${lines.slice(1 - charactersMax)}`;
}

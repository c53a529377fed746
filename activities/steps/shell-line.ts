/** The line of a shell step: between two states of its project, with its secrets in place. */
import type { ShellRequest } from '../../interpreter/contract.ts';
import { SHELL } from '../../interpreter/contract.ts';
import type { StepCheckpoints } from '../../operations/checkpoints/step-checkpoints.ts';
import { withMaskedFailures } from '../../operations/secrets/secrets.ts';
import type { ShellContext } from '../../operations/shell/request.ts';
import { runShell, type ShellResult } from '../../operations/shell/run-shell.ts';
import { checkpointed } from './checkpointed.ts';
import type { KnownContext } from './perform-command.ts';

export function runLine(
  { begun: _begun, isCancelled: _isCancelled, ...request }: ShellRequest,
  context: KnownContext & Pick<ShellContext, 'isHandedOver'>,
  /** Null: nothing is kept of the project, or somebody else does. */
  checkpoints: StepCheckpoints | null,
): Promise<ShellResult> {
  const { secrets, timeoutMs } = context;
  return checkpointed(checkpoints, context, { what: SHELL, isBackground: false }, async () => {
    const line = { ...secrets.unsealShell(request), timeoutMs, isKept: true };
    const ended = await withMaskedFailures(secrets, () => runShell(line, context));
    return secrets.results.json(ended);
  });
}

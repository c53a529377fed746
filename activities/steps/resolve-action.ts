/** What a command would do as the project is now, for the question about it. */
import type { CommandEffect } from '../../interpreter/effect.ts';
import type { Resolved } from '../../interpreter/host.ts';
import type { CommandContext } from '../../operations/command.ts';
import type { Registry } from '../../operations/registry.ts';
import { secretsOfCall, unsealedFor, withMaskedFailures, type Secrets } from '../../operations/secrets/secrets.ts';
import { Failure } from '../../world/failures/failures.ts';

export type ActionToResolve = Pick<CommandEffect, 'command' | 'params'>;

/** Masked as a result is: a question is kept, and read by persons. */
export async function resolveAction(
  registry: Registry,
  { command, params }: ActionToResolve,
  context: CommandContext & { secrets: Secrets; isCall: boolean },
): Promise<Resolved> {
  const { isCall, reach } = context;
  const secrets = isCall ? secretsOfCall(context.secrets, reach?.env) : context.secrets;
  try {
    const resolved = await withMaskedFailures(secrets, async () =>
      registry.resolve(command, unsealedFor(registry.find(command), params, secrets), { ...context, secrets }),
    );
    return { resolved: secrets.results.json(resolved) };
  } catch (error) {
    if (!(error instanceof Failure) || error.code === 'STORE_UNAVAILABLE') throw error;
    return { failure: error.toInfo() };
  }
}

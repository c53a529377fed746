/** A shell step as an activity of its own, which goes on with the process where a segment has begun it. */
import { CancellationScope } from '@temporalio/workflow';
import { defined } from '../../language/defined.ts';
import type { ShellRequest } from '../../interpreter/contract.ts';
import type { Reply, ShellEffect } from '../../interpreter/effect.ts';

export async function performShell(
  { command, args, cwd, env, files, stdin, onUnknown, begun }: ShellEffect,
  perform: (request: ShellRequest) => Promise<Reply>,
): Promise<Reply> {
  const request = { command, ...defined({ args, cwd, env, files, stdin, onUnknown, begun }) };
  if (begun === undefined || !CancellationScope.current().consideredCancelled) return perform(request);
  // Its line was cancelled before anybody went on with it, and its process is ended all the same.
  await CancellationScope.nonCancellable(() => perform({ ...request, isCancelled: true }));
  return { ok: false, cancelled: true };
}

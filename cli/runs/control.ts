/** What the verbs that steer a run have in common. */
import type { RunState } from '../../workflows/messages/messages.ts';
import { ClientError } from '../../client/client.ts';
import type { OpenClient } from '../../client/open-client.ts';
import { openOutput } from '../output/output.ts';
import { withRun } from './run-named.ts';

/** Refuses to pause or resume a run that was told to stop. */
export function refuseStopping(state: RunState, verb: 'pause' | 'resume'): RunState {
  if (!state.stopping) return state;
  throw new ClientError(
    'RUN_ENDED',
    `${state.handle} was told to stop and ends after the steps under way; there is nothing to ${verb}.`,
  );
}

export async function control(
  given: string,
  options: { json?: boolean },
  result: string,
  ask: (client: OpenClient, handle: string) => Promise<RunState>,
): Promise<void> {
  const output = openOutput(options);
  await withRun(output, given, async (client, handle) => {
    const state = await ask(client, handle);
    output.object({ ok: true, ...state, webUrl: client.webUrl(handle) });
    output.line(`${handle} ${result}${state.reason === null ? '' : ` (${state.reason})`}.`);
    for (const { key, label } of state.current) output.line(`  under way: ${key}  ${label}`);
  });
}

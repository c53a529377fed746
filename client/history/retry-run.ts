/** A retry that a program asks for. */
import { readForStart } from '../reading/read-for-start.ts';
import type { RetryOptions } from '../contract/requests.ts';
import type { RunEvent } from '../../language/events/run-event.ts';
import { defined } from '../../language/defined.ts';
import type { Seeker } from '../../prisma/store/contract/sentinel-contract.ts';
import type { Run } from '../../prisma/store/contract/contract.ts';
import type { RunServices } from '../../runs/start-run.ts';
import { givenPolicies } from '../../runs/policies.ts';
import { ownBundle } from '../../runs/bundle.ts';
import { forkRun, type Fork } from './fork-run.ts';
import { retryPlace } from './retry-place.ts';

const seekerOf = ({ persona, project }: Run): Seeker => ({ persona, project });

export async function retryRun(
  parts: RunServices,
  run: Run,
  events: readonly RunEvent[],
  { at, items, definition, known, handle: as, host: _host, policy, ...asked }: RetryOptions,
): Promise<Fork> {
  const read = definition === undefined ? {} : await readForStart(parts, definition, { ...seekerOf(run), known });
  const { others: _others, ...place } = retryPlace(run, events, defined({ at, items }));
  const request = {
    ...asked,
    policies: givenPolicies(policy),
    ...read,
    handle: run.handle,
    ...place,
    ...defined({ as }),
  };
  return forkRun(parts, await ownBundle(), request, events);
}

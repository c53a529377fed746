/**
 * Which run a person means: an exact handle, an unambiguous beginning of one, or `--last`, the latest run of the
 * project in this folder that a person started: nothing that starts by itself comes between a person and their run. A nested run follows behind that of the run around it: `nightly/steps.2@1`.
 */
import type { OpenClient } from '../../client/open-client.ts';
import type { Output } from '../output/output.ts';
import { projectFolder } from '../request/run-request.ts';
import { withClient } from '../request/with-client.ts';
import { LAST } from './handles-typed.ts';

/** A client for one verb about one run, which is found by what was typed. */
export function withRun<Result>(
  output: Output,
  given: string,
  use: (client: OpenClient, handle: string) => Promise<Result>,
): Promise<Result> {
  return withClient(output, async (client) => use(client, await runNamed(client, given)));
}

/** Returns the given text if no run has it as handle or as beginning; the caller's look-up then fails. */
export const runNamed = (client: Pick<OpenClient, 'handleOf' | 'latestOf'>, given: string): Promise<string> =>
  given === LAST ? client.latestOf(projectFolder('.')) : client.handleOf(given);

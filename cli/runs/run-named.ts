/**
 * Which run a person means: an exact handle, an unambiguous beginning of one, or `--last`, the latest run of the
 * project in this folder that a person started: nothing that starts by itself comes between a person and their run. A nested run follows behind that of the run around it: `nightly/steps.2@1`.
 */
import type { Store } from '../../prisma/store/contract/contract.ts';
import { ClientError } from '../../client/client.ts';
import type { OpenClient } from '../../client/open-client.ts';
import type { Output } from '../output/output.ts';
import { projectFolder } from '../request/run-request.ts';
import { withClient } from '../request/with-client.ts';
import { LAST } from './handles-typed.ts';

const NAMED_MAX = 5;

/** A client for one verb about one run, which is found by what was typed. */
export function withRun<Result>(
  output: Output,
  given: string,
  use: (client: OpenClient, handle: string) => Promise<Result>,
): Promise<Result> {
  return withClient(output, async (client) => use(client, await runNamed(client, given)));
}

/** Returns the given text if no run has it as handle or as beginning; the caller's look-up then fails. */
export async function runNamed(client: Pick<OpenClient, 'store'>, given: string): Promise<string> {
  const { runs } = await client.store();
  if (given === LAST) return latest(runs, projectFolder('.'));
  if ((await runs.find(given)) !== null) return given;
  const whole = await beginning(runs, given);
  if (whole !== null) return whole;
  const [root = '', ...inner] = given.split('/');
  const around = inner.length === 0 || (await runs.find(root)) !== null ? null : await beginning(runs, root);
  return around === null ? given : [around, ...inner].join('/');
}

async function beginning(runs: Store['runs'], given: string): Promise<string | null> {
  const handles = await runs.beginningWith(given, NAMED_MAX + 1);
  const [only = null] = handles;
  if (handles.length < 2) return only;
  const more = handles.length > NAMED_MAX ? ', …' : '';
  throw new ClientError(
    'HANDLE_AMBIGUOUS',
    `Several runs begin with "${given}": ${handles.slice(0, NAMED_MAX).join(', ')}${more}. Write more of the handle.`,
  );
}

async function latest(runs: Store['runs'], project: string): Promise<string> {
  const [run] = await runs.list({ project, isNested: false, startedBy: 'person', limit: 1 });
  if (run !== undefined) return run.handle;
  throw new ClientError(
    'RUN_NOT_FOUND',
    `Nobody has started a run in ${project} yet, so there is no last one; "sentinel list" shows those of other projects, and those that steps, agents, triggers and schedules started.`,
  );
}

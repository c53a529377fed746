/**
 * The run that a person means: by its handle, or by an unambiguous beginning of it. A nested run follows behind that of the
 * run around it: `nightly/steps.2@1`.
 */
import type { Store } from '../../prisma/store/contract/contract.ts';
import { ClientError } from '../../runs/client-error.ts';

const NAMED_MAX = 5;

type Runs = Store['runs'];

/** Returns the given text if no run has it as handle or as beginning. Throws `HANDLE_AMBIGUOUS`. */
export async function handleOf(runs: Runs, given: string): Promise<string> {
  if ((await runs.find(given)) !== null) return given;
  const whole = await beginning(runs, given);
  if (whole !== null) return whole;
  const [root = '', ...inner] = given.split('/');
  const around = inner.length === 0 || (await runs.find(root)) !== null ? null : await beginning(runs, root);
  return around === null ? given : [around, ...inner].join('/');
}

async function beginning(runs: Runs, given: string): Promise<string | null> {
  const handles = await runs.beginningWith(given, NAMED_MAX + 1);
  const [only = null] = handles;
  if (handles.length < 2) return only;
  const more = handles.length > NAMED_MAX ? ', …' : '';
  throw new ClientError(
    'HANDLE_AMBIGUOUS',
    `Several runs begin with "${given}": ${handles.slice(0, NAMED_MAX).join(', ')}${more}. Write more of the handle.`,
  );
}

/** The latest run of a project that a person started. Throws `RUN_NOT_FOUND`. */
export async function latestOf(runs: Runs, project: string): Promise<string> {
  const [run] = await runs.list({ project, isNested: false, startedBy: 'person', limit: 1 });
  if (run !== undefined) return run.handle;
  throw new ClientError(
    'RUN_NOT_FOUND',
    `Nobody has started a run in ${project} yet, so there is no last one; "sentinel list" shows those of other projects, and those that steps, agents, triggers and schedules started.`,
  );
}

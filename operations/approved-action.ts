/** What a person approved is what is done. A command that `resolves` shows what it would do, and looks again before it does it. */
import { canonicalText } from '../language/canonical.ts';
import type { Json } from '../language/json.ts';
import { contentHash } from '../prisma/store/values/content-hash.ts';
import { Failure } from '../world/failures/failures.ts';
import type { CommandContext } from './command.ts';

type Approved = Pick<CommandContext, 'resolved' | 'secrets'>;

/** Throws where a person was asked, and a look finds something else than was shown. */
export async function refuseChanged(
  { resolved, secrets }: Approved,
  look: () => Promise<Json> | Json,
  changed: Failure,
): Promise<void> {
  if (resolved === undefined) return;
  const now = await look();
  if (canonicalText(secrets?.results.json(now) ?? now) !== canonicalText(resolved)) throw changed;
}

/** `what`, as in "what data/delete would do". */
export const changedAction = (what: string): Failure =>
  new Failure(
    'ACTION_CHANGED',
    `what ${what} would do changed after a person approved what was shown, and nothing was done; see what changed, and run the step again`,
  );

const shownMax = 100;

/** The first of a list, and where there are more, how many, and by what they are told from others. */
export function shownOf(list: readonly Json[], max = shownMax): Json {
  if (list.length <= max) return [...list];
  return [...list.slice(0, max), { more: list.length - max, digest: contentHash(list) }];
}

/** What a person approved is what is done. A command that `resolves` shows what it would do, and looks again before it does it. */
import { createHash } from 'node:crypto';
import { canonicalText } from '../../language/canonical.ts';
import type { Json } from '../../language/json.ts';
import { Failure } from '../failures/failures.ts';
import type { CommandContext } from './command.ts';

type Approved = Pick<CommandContext, 'resolved' | 'secrets'>;

/** `what`, as in "what commit would do". Nothing where nobody was asked. */
export async function refuseChanged(context: Approved, what: string, look: () => Promise<Json> | Json): Promise<void> {
  if (context.resolved === undefined) return;
  const now = await look();
  if (canonicalText(context.secrets?.results.json(now) ?? now) === canonicalText(context.resolved)) return;
  throw new Failure(
    'ACTION_CHANGED',
    `what ${what} would do changed after a person approved what was shown, and nothing was done; see what changed, and run the step again`,
  );
}

const shownMax = 100;

/** The first of a list, and where there are more, how many, and by what they are told from others. */
export function shownOf(list: readonly Json[], max = shownMax): Json {
  if (list.length <= max) return [...list];
  const digest = createHash('sha256')
    .update(canonicalText([...list]))
    .digest('hex');
  return [...list.slice(0, max), { more: list.length - max, digest }];
}

/** What a run's place in its group is in words. */
import type { Grouped } from './run-event.ts';

type Told = Pick<Grouped, 'group' | 'state' | 'holder' | 'ahead' | 'cancels'>;

export function groupWords({ group, state, holder = '', ahead = 1, cancels = [] }: Told): string {
  const name = `the group "${group}"`;
  if (state === 'taken') return `has ${name}`;
  if (state === 'skipped') return `is skipped: ${holder} has ${name}`;
  const others = ahead > 1 ? `, with ${ahead - 1} more before this run` : '';
  const ends = cancels.length === 0 ? '' : `; ${cancels.join(', ')} ${cancels.length === 1 ? 'is' : 'are'} cancelled`;
  return `waits for ${name} behind ${holder}${others}${ends}`;
}

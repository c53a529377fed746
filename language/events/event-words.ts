/** What events say, as a person reads it: what something cost, and the place of a run in its group. */
import type { StepUsage, Grouped } from './run-event.ts';

export function costWords({ tokens, usd, isUnpriced }: StepUsage): string[] {
  return [
    ...(tokens === 0 ? [] : [`${tokens.toLocaleString('en-US')} token${tokens === 1 ? '' : 's'}`]),
    ...(usd === 0 ? [] : [dollars(usd)]),
    ...(isUnpriced === true ? [usd === 0 ? 'price not known' : 'and more, whose price is not known'] : []),
  ];
}

/** A step may well cost less than a cent. */
export function dollars(usd: number): string {
  if (usd < 0.0001) return 'under $0.0001';
  return `$${usd.toFixed(usd < 0.1 ? 4 : 2)}`;
}

type Told = Pick<Grouped, 'group' | 'of' | 'state' | 'holder' | 'ahead' | 'cancels'>;

export function groupWords({ group, of, state, holder = '', ahead = 1, cancels = [] }: Told): string {
  if (of === 'persona') return placeWords(group, state, ahead);
  const name = `the group "${group}"`;
  if (state === 'taken') return `has ${name}`;
  if (state === 'skipped') return `is skipped: ${holder} has ${name}`;
  const others = ahead > 1 ? `, with ${ahead - 1} more before this run` : '';
  const ends = cancels.length === 0 ? '' : `; ${cancels.join(', ')} ${cancels.length === 1 ? 'is' : 'are'} cancelled`;
  return `waits for ${name} behind ${holder}${others}${ends}`;
}

function placeWords(persona: string, state: Grouped['state'], ahead: number): string {
  if (state === 'taken') return `has a place of ${persona}`;
  return `waits for a place of ${persona}${aheadWords(ahead)}`;
}

/** `until`: in milliseconds since the epoch. */
export const dayWords = (persona: string, until: number): string =>
  `waits for the budget of ${persona} until ${new Date(until).toISOString()}`;

/** Of the run around one that waits for a day. */
export const nestedDayWords = (persona: string): string =>
  `stands still with a nested run that waits for the budget of ${persona}`;

/** Of those who wait for the same. */
export const aheadWords = (ahead: number): string =>
  ahead === 0 ? '' : `, with ${ahead} ${ahead === 1 ? 'run' : 'runs'} before this one`;

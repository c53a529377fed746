/** What something cost, as a person reads it. */
import type { StepUsage } from './run-event.ts';

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

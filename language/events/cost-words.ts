/** What something cost, as a person reads it. */
import type { StepUsage } from './run-event.ts';

export function costWords({ tokens, usd }: StepUsage): string[] {
  return [
    ...(tokens === 0 ? [] : [`${tokens.toLocaleString('en-US')} token${tokens === 1 ? '' : 's'}`]),
    ...(usd === 0 ? [] : [dollars(usd)]),
  ];
}

/** A step may well cost less than a cent. */
function dollars(usd: number): string {
  if (usd < 0.0001) return 'under $0.0001';
  return `$${usd.toFixed(usd < 0.1 ? 4 : 2)}`;
}

/** What is said of a persona's budget of a day. */
import type { Day } from '../language/references/days.ts';
import type { DayBudget, DayUse } from '../prisma/store/contract/persona-contract.ts';

/** What of the budget is used up; null: there is some left. */
export function spentIn(budget: DayBudget, used: DayUse): keyof DayUse | null {
  const kinds = ['usd', 'tokens', 'steps'] as const;
  return kinds.find((kind) => budget[kind] !== null && used[kind] >= budget[kind]) ?? null;
}

const FLAGS = { usd: '--budget-usd', tokens: '--budget-tokens', steps: '--budget-steps' } as const;

/** How much was used of how much: `12 of 10 steps`. */
export function usedWords(budget: DayBudget, used: DayUse): string {
  const kinds = ['usd', 'tokens', 'steps'] as const;
  return kinds.flatMap((kind) => (budget[kind] === null ? [] : [kindWords(kind, used[kind], budget[kind])])).join(', ');
}

function kindWords(kind: keyof DayUse, used: number, bound: number): string {
  return kind === 'usd' ? `${amount(used)} of ${amount(bound)} US dollars` : `${used} of ${bound} ${kind}`;
}

/** No more digits than a price of a token needs. */
const amount = (usd: number): string => Number(usd.toFixed(6)).toString();

export function spentWords(
  persona: string,
  { budget, day, used, kind }: { budget: DayBudget; day: Day; used: DayUse; kind: keyof DayUse },
): string {
  const of = kindWords(kind, used[kind], budget[kind] ?? 0);
  return `${of} are used that ${persona} has on ${day.date} (${budget.timeZone}); "sentinel persona limit ${persona} ${FLAGS[kind]} …" gives it more`;
}

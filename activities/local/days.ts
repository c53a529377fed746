/**
 * Whether the persona of a run has some of its day left. A run that waits is noted before it looks: whoever gives the
 * persona more finds it there, or has done so by the time it looks.
 */
import type { DayAnswer } from '../../interpreter/contract.ts';
import { dayAt } from '../../language/references/days.ts';
import { spentIn, spentWords } from '../../operations/day-budget.ts';
import type { RunContext, Store } from '../../prisma/store/contract/contract.ts';

export async function askForDay(
  { personaDays: days }: Pick<Store, 'personaDays'>,
  { handle, persona }: RunContext,
  now = Date.now(),
): Promise<DayAnswer> {
  await days.wait(handle, persona, null);
  const budget = await days.budget(persona, true);
  const day = budget === null ? null : dayAt(now, budget.timeZone);
  const used = day === null ? null : await days.used(persona, day);
  const kind = budget === null || used === null ? null : spentIn(budget, used);
  // Other lines of the run may wait; the last of them takes the note away.
  if (budget === null || day === null || used === null || kind === null) return null;
  await days.wait(handle, persona, day.until);
  return { until: day.until, why: spentWords(persona, { budget, day, used, kind }) };
}

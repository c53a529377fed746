/**
 * What the runs of a persona may use in a day of its time zone, for all workers together. Where it is spent, what a run
 * would begin is held back, and the run waits for the next day (interpreter/day-budget.ts).
 *
 * - D1 Steps are shell lines, commands (a model's calls, too) and events: counted one by one before they begin, so no more
 *      begin than there may. Quick ones in a segment are counted with its commit, and lock nothing before it; of those
 *      that other segments have not committed yet a segment knows nothing. A worker that is lost between the count of a
 *      step and its claim leaves it counted twice, one that is lost before the count leaves it uncounted.
 * - D2 Dollars and tokens are known when a turn has ended. What is under way when they are spent goes on.
 * - D3 A clean-up (`always`) is not held back, nor is a nested run that it starts.
 * - D4 Of a persona without a budget one small read in a second is made, whatever its runs do.
 */
import type { DayBudget, DayUse, PersonaDayStore } from '../../prisma/store/contract/persona-contract.ts';
import { dayAt, type Day } from '../../language/references/days.ts';
import { isInCleanUp } from '../../interpreter/keys.ts';
import { Failure } from '../../world/failures/failures.ts';
import { spentIn, spentWords } from '../../operations/day-budget.ts';
import { WaitingRows } from '../../prisma/store/contract/session-contract.ts';

/** For so long nobody looks again whether a persona has a budget. */
const NONE_MS = 1_000;
/** For so long quick steps go by what was read. */
const QUICK_MS = 250;
const REMEMBERED_MAX = 1_000;

/** Who begins what. */
export interface Begins {
  persona: string;
  handle: string;
  key: string;
}

/** Of a turn. */
export interface HeldToDay {
  run: { handle: string };
  /** The key of who asks. */
  asker: string;
  /** The persona whose budget of a day it is held to. Absent: what asks has begun. */
  heldTo?: string;
}

interface Found {
  budget: DayBudget;
  day: Day;
  used: DayUse;
  /** Quick steps that began here since. */
  begun: number;
}

/** What was asked at a time, and is not asked again for a while. */
interface Asked<Answer> {
  at: number;
  answer: Promise<Answer>;
}

export class DayBudgets {
  readonly #days: PersonaDayStore;
  readonly #now: () => number;
  /** Looks that are under way, and of personas that have none. */
  readonly #budgets = new Map<string, Asked<DayBudget | null>>();
  readonly #recent = new Map<string, Asked<Found | null>>();

  constructor(days: PersonaDayStore, now: () => number = Date.now) {
    this.#days = days;
    this.#now = now;
  }

  /** Throws what holds a turn back, unless it is under way. */
  async hold({ heldTo, run, asker }: HeldToDay, isUnderWay: () => Promise<boolean>): Promise<void> {
    if (heldTo === undefined || isInCleanUp(run.handle, asker)) return;
    const found = await this.#look(heldTo);
    const failure = found === null ? null : heldBack(heldTo, found);
    if (failure !== null && !(await isUnderWay())) throw failure;
  }

  /** Counts a step that begins, or throws what holds it back. */
  async begin(begins: Begins): Promise<void> {
    const { persona, handle, key } = begins;
    const found = await this.#look(persona);
    if (found === null) return;
    const isFree = isInCleanUp(handle, key);
    const failure = isFree ? null : heldBack(persona, found);
    if (failure !== null) throw failure;
    const { budget, day } = found;
    const max = isFree ? null : budget.steps;
    if (await this.#days.beginStep(persona, day.date, max ?? Number.MAX_SAFE_INTEGER)) return;
    throw refused(persona, { ...found, used: { ...found.used, steps: max ?? 0 } }, 'steps');
  }

  /** Throws what would hold a step back that is to begin soon; nothing is counted. */
  async check(begins: Begins, rows: WaitingRows = new WaitingRows()): Promise<void> {
    await this.#checked(begins, rows);
  }

  /** As `begin`, of a quick step, whose count goes out with `rows`: those of its segment that wait for a commit. */
  async beginQuick(begins: Begins, rows: WaitingRows): Promise<void> {
    const found = await this.#checked(begins, rows);
    if (found === null) return;
    found.begun += 1;
    rows.later(this.#days.stepsBegun, JSON.stringify([begins.persona, found.day.date]));
  }

  /** What was read a while ago lets begin, but holds nothing back. */
  async #checked({ persona, handle, key }: Begins, rows: WaitingRows): Promise<Found | null> {
    const found = await this.#lookQuickly(persona, QUICK_MS);
    if (found === null || isInCleanUp(handle, key) || heldBack(persona, withRows(found, rows)) === null) return found;
    const now = await this.#lookQuickly(persona, 0);
    const failure = now === null ? null : heldBack(persona, withRows(now, rows));
    if (failure !== null) throw failure;
    return now;
  }

  #lookQuickly(persona: string, withinMs: number): Promise<Found | null> {
    return shared(this.#recent, persona, { now: this.#now(), withinMs, ask: () => this.#look(persona) });
  }

  async #look(persona: string): Promise<Found | null> {
    const now = this.#now();
    const ask = (): Promise<DayBudget | null> => this.#days.budget(persona);
    const budget = await shared(this.#budgets, persona, { now, withinMs: NONE_MS, ask });
    if (budget === null) return null;
    this.#budgets.delete(persona);
    const day = dayAt(now, budget.timeZone);
    return { budget, day, used: await this.#days.used(persona, day), begun: 0 };
  }
}

/** Those who ask for the same at the same time have one answer; of a failure nothing is kept. */
function shared<Answer>(
  known: Map<string, Asked<Answer>>,
  persona: string,
  { now, withinMs, ask }: { now: number; withinMs: number; ask: () => Promise<Answer> },
): Promise<Answer> {
  const before = known.get(persona);
  if (before !== undefined && now - before.at < withinMs) return before.answer;
  const asked = { at: now, answer: ask() };
  if (known.size >= REMEMBERED_MAX) known.clear();
  known.set(persona, asked);
  asked.answer.catch(() => {
    if (known.get(persona) === asked) known.delete(persona);
  });
  return asked.answer;
}

/** With the quick steps that are not in the store yet, as far as they are known here. */
const withRows = ({ used, begun, ...found }: Found, rows: WaitingRows): Found => ({
  ...found,
  begun,
  used: { ...used, steps: used.steps + Math.max(begun, rows.all.length) },
});

function heldBack(persona: string, found: Found): Failure | null {
  const kind = spentIn(found.budget, found.used);
  return kind === null ? null : refused(persona, found, kind);
}

const refused = (persona: string, { budget, day, used }: Found, kind: keyof DayUse): Failure =>
  new Failure('PERSONA_BUDGET_SPENT', spentWords(persona, { budget, day, used, kind }), {
    details: { persona, kind, until: day.until },
  });

/**
 * Who holds a run that is paused. The run around a nested one holds it with itself; whoever pauses it besides, or a limit,
 * holds it for a reason of its own. Neither of them is lifted with the other.
 */
import { HELD_WITH_PARENT } from '../language/events/question.ts';
import { defined } from '../language/defined.ts';

export interface Hold {
  reason: string;
  since: number;
  /** Until its limits are extended, which is a person's to do. */
  atLimit?: true;
  /** The run whose model paused it, or agents. */
  by?: string;
  /** The run around it holds it: nobody else does, or somebody does besides. */
  around?: 'alone' | 'besides';
}

/** While no time of a run passes although it is not held. */
export interface Stillness {
  since: number;
  /** How long the run had been held when it began. */
  held: number;
  /** How many of its lines wait for a day on which its persona has budget again, and until when. */
  lines: number;
  until?: number;
  /** A nested run that it waits for stands still. */
  withNested?: true;
}

/** What a nested run has told the run around it, the last time. */
export interface ToldAround {
  /** Counts what it has told. */
  word: number;
  isStill: boolean;
}

export const holdOf = (reason: string, since: number, by?: string): Hold => ({
  reason,
  since,
  ...defined({ by }),
});

export const holdWithParent = (since: number): Hold => ({ reason: HELD_WITH_PARENT, since, around: 'alone' });

/** Somebody pauses what is held: whether that gives it another reason. */
export function holdBesides(hold: Hold, { reason, by }: { reason: string; by?: string | undefined }): boolean {
  const isFirst = hold.around === 'alone';
  if (isFirst) Object.assign(hold, { reason, around: 'besides' }, by === undefined ? {} : { by });
  // Whoever pauses it besides has to be asked, too.
  else if (hold.by !== by) delete hold.by;
  return isFirst;
}

/** Whoever paused it lets it go: false where the run around it still holds it. */
export function letGoOf(hold: Hold): boolean {
  if (hold.around === undefined) return true;
  hold.reason = HELD_WITH_PARENT;
  hold.around = 'alone';
  delete hold.by;
  return false;
}

/** The run around it lets it go: false where somebody else holds it. */
export function letGoWithParent(hold: Hold): boolean {
  if (hold.around === 'alone') return true;
  delete hold.around;
  return false;
}

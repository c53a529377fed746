/**
 * The wait of a run whose persona has used what it may use in a day. It lasts until midnight in the persona's time zone,
 * or until a person gives it more.
 *
 * - The host knows how long it is, and asks again when it is over.
 * - The wait is time that the run is held: no limit counts it. A line that waits leaves the others at work.
 */
import type { Walking } from './drive.ts';
import type { Gate, Strand } from './host.ts';
import { away } from './places.ts';
import { lineGoesOn, lineStands } from './stillness.ts';
import { record, type Walk } from './walk-state.ts';

export const DAY_SPENT = 'PERSONA_BUDGET_SPENT';

/** `frame`: remembers until when the wait was said to last, also where the run continues as new in it. */
export function* waitForDay(walk: Walk, strand: Strand, key: string, frame: { restsUntil?: number }): Walking<Gate> {
  const { position, host } = walk;
  lineStands(walk);
  const tell = (until: number, why: string): void => {
    if (position.still !== undefined) position.still.until = until;
    if (frame.restsUntil === until) return;
    frame.restsUntil = until;
    say(walk, key, until, `is waiting for ${budgetOf(walk)} until ${new Date(until).toISOString()}: ${why}`);
  };
  try {
    const end = yield* away(walk, strand, () => host.awaitDay(strand, key, tell));
    if (end === 'yield') return end;
    if (end !== 'go') {
      // The run may go on without this line.
      if ((frame.restsUntil ?? 0) > host.now()) say(walk, key, host.now(), 'waits no more');
      return end;
    }
    if (frame.restsUntil !== undefined && frame.restsUntil > host.now()) say(walk, key, host.now(), 'goes on');
    delete frame.restsUntil;
    return 'go';
  } finally {
    lineGoesOn(walk);
  }
}

/** The same in the middle of a model step: where another host takes it from here, it waits before all else. */
export function* waitInModel(
  walk: Walk,
  strand: Strand,
  key: string,
  open: { restsUntil?: number; awaitsDay?: true },
): Walking<Gate> {
  open.awaitsDay = true;
  const gate = yield* waitForDay(walk, strand, key, open);
  if (gate === 'go') delete open.awaitsDay;
  // A call beside it may have gone on meanwhile.
  else if (gate === 'yield') open.awaitsDay = true;
  return gate;
}

const budgetOf = ({ input }: Walk): string => `the budget of ${input.persona}`;

function say(walk: Walk, key: string, until: number, what: string): void {
  record(walk, {
    type: 'warning',
    key,
    code: DAY_SPENT,
    message: `${key} ${what}`,
    until,
    waitsFor: budgetOf(walk),
  });
}

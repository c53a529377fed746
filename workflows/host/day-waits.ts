/**
 * Waiting in a workflow for a day on which the persona has budget again: a timer until its midnight. Whoever gives it
 * more wakes the runs that wait; that word may come before the wait, or twice, and costs a look.
 */
import { CancellationScope, condition, isCancellation } from '@temporalio/workflow';
import { ASK_FOR_DAY, LEAVE_DAY, type DayAnswer, type PlaceAsked } from '../../interpreter/contract.ts';
import { shieldOf, type Host, type Strand } from '../../interpreter/host.ts';
import { askLocally } from '../replay-order/local-activity.ts';
import { dayOptions } from './activity-options.ts';
import type { Waiting } from './waiting.ts';

/** Clocks of machines differ: whoever looks at midnight is not early by so much. */
const afterMidnightMs = 1_000;

/** A step that is held back again as soon as it went on waits for so long before it asks. */
const againMs = 1_000;

type DayEnd = Awaited<ReturnType<Host['awaitDay']>>;

export function dayWaits(waiting: Waiting, mustContinue: () => boolean): Host['awaitDay'] {
  const { walk, control } = waiting;
  /** Lines that wait. What says of the run that it does goes with the last of them. */
  let lines = 0;
  let left: Promise<unknown> = Promise.resolve();
  /** By step, when it last went on. */
  const went = new Map<string, number>();
  const asked = (): PlaceAsked => ({ seq: walk.position.seq });
  const mustMove = (strand: Strand): boolean =>
    shieldOf(strand) === null && (walk.position.paused !== null || walk.position.stopping || waiting.isYielding());

  const beforeLook = async (strand: Strand, looks: number): Promise<DayEnd | null> => {
    const held = (await waiting.untilResumed(strand)) ?? waiting.interruption(strand);
    if (held !== null) return held;
    if (shieldOf(strand) !== null) return null;
    if (looks > 0 && mustContinue()) waiting.beginToYield();
    return waiting.isYielding() ? 'yield' : null;
  };

  const leave = (): Promise<unknown> =>
    CancellationScope.nonCancellable(() =>
      askLocally<null>(walk, LEAVE_DAY, [asked()], dayOptions(walk.input.persona)),
    );

  const untilThere: Host['awaitDay'] = async (strand, key, tell) => {
    // Where a clock says another day, the step is held back again at once.
    const since = walk.host.now() - (went.get(key) ?? 0);
    if (since < againMs) await condition(() => mustMove(strand), againMs - since);
    for (let looks = 0; ; looks += 1) {
      const end = await beforeLook(strand, looks);
      if (end !== null) return end;
      const { heard } = control;
      const day = await askLocally<DayAnswer>(walk, ASK_FOR_DAY, [asked()], dayOptions(walk.input.persona));
      if (day === null) return 'go';
      tell(day.until, day.why);
      walk.host.suspended();
      const ms = Math.max(0, day.until - walk.host.now()) + afterMidnightMs;
      await condition(() => control.heard !== heard || mustMove(strand), ms);
    }
  };

  return async (strand, key, tell) => {
    lines += 1;
    await left;
    const step = key.replaceAll(/#\d+/g, '');
    const end = await untilThere(strand, step, tell).catch((error: unknown): DayEnd => {
      if (!isCancellation(error) && !CancellationScope.current().consideredCancelled) throw error;
      return waiting.interruption(strand) ?? 'cancel';
    });
    lines -= 1;
    if (end === 'go') went.set(step, walk.host.now());
    if (end !== 'yield' && lines === 0) await (left = leave());
    return end;
  };
}

/**
 * How a line of execution waits in workflow code: for the run to go on, for a time, for an answer.
 * Everything that can end waiting is looked at here: a stop, a cancellation, a pause, and another
 * line that has begun to continue as new.
 */
import { CancellationScope, condition, isCancellation } from '@temporalio/workflow';
import type { Question } from '../../language/events/question.ts';
import { questionOptions } from './activity-options.ts';
import type { Control } from './control.ts';
import { isCancelled, shieldOf, type AskEnd, type RestEnd, type Strand } from '../../interpreter/host.ts';
import { standsStill } from '../../interpreter/places.ts';
import { earlier, isPast } from '../../interpreter/waits.ts';
import type { Walk } from '../../interpreter/walk-state.ts';

/** No timer lasts longer than the server can count. */
const timerMsMax = 365 * 86_400_000;
const timerMs = (left: number): number => Math.min(Math.max(1, left), timerMsMax);

export class Waiting {
  readonly walk: Walk;
  readonly control: Control;
  /** A line of execution returned its position to continue as new; the others follow. */
  private yielding = false;
  /** Those that rest follow, too. */
  private restless = false;
  private resting = 0;

  constructor(walk: Walk, control: Control) {
    this.walk = walk;
    this.control = control;
  }

  beginToYield(): void {
    this.yielding = true;
    if (this.resting > 0) this.restless = true;
  }

  isYielding(): boolean {
    return this.yielding;
  }

  interruption(strand?: Strand): 'stop' | 'cancel' | null {
    if (strand !== undefined && shieldOf(strand) !== null) return isCancelled(strand) ? 'cancel' : null;
    if (this.control.cancelled || CancellationScope.current().consideredCancelled) return 'cancel';
    return this.walk.position.stopping ? 'stop' : null;
  }

  async untilResumed(strand?: Strand): Promise<'stop' | 'cancel' | null> {
    if (this.walk.position.paused === null) return null;
    try {
      await condition(() => this.walk.position.paused === null || this.walk.position.stopping);
    } catch (error) {
      if (!isCancellation(error)) throw error;
    }
    return this.interruption(strand);
  }

  async rest(key: string, ms: number, strand: Strand): Promise<RestEnd> {
    const isShielded = shieldOf(strand) !== null;
    if (this.yielding) this.restless = true;
    if (this.restless && !isShielded) return this.interruption(strand) ?? 'carry';
    let moved = false;
    this.resting += 1;
    try {
      moved = await condition(() => (this.walk.position.stopping || this.restless) && !isShielded, ms, {
        summary: `${key} rests`,
      });
    } catch (error) {
      if (!isCancellation(error)) throw error;
    } finally {
      this.resting -= 1;
    }
    return this.interruption(strand) ?? (moved ? 'carry' : 'go');
  }

  /**
   * After a wait that is late. Its time does not pass while the run stands still, so it is not read again before the run
   * goes on, or has to move: a timer for what is left would be set again and again. `clockMs`, and the end of a clean-up,
   * come by the clock.
   */
  async untilGoesOn(
    strand: Strand,
    mustMove: () => boolean,
    clockMs: number | null = null,
  ): Promise<'stop' | 'cancel' | null> {
    const { position, host } = this.walk;
    const isOver = (): boolean => mustMove() || position.paused !== null || !standsStill(position);
    const endMs = earlier(clockMs, shieldOf(strand)?.until ?? null);
    for (;;) {
      const held = await this.untilResumed(strand);
      if (held !== null || isOver() || isPast(this.walk, endMs)) return held;
      if (endMs === null) await condition(isOver);
      else await condition(isOver, timerMs(endMs - host.now()));
    }
  }

  async forTime(
    strand: Strand,
    key: string,
    untilMs: number,
    clockMs: number | null,
  ): Promise<Exclude<AskEnd, 'settled'>> {
    const { position, host } = this.walk;
    const isShielded = shieldOf(strand) !== null;
    const mustMove = (): boolean => (this.yielding || position.stopping) && !isShielded;
    try {
      await condition(mustMove, timerMs(untilMs - host.now()), { summary: `${key} sleeps` });
      const held = await this.untilGoesOn(strand, mustMove, clockMs);
      if (held) return held;
      if (!mustMove()) return 'late';
    } catch (error) {
      if (!isCancellation(error)) throw error;
    }
    return this.interruption(strand) ?? (this.yielding ? 'yield' : 'cancel');
  }

  async forAnswer(strand: Strand, question: Question, untilMs: number | null): Promise<AskEnd> {
    const { position, host } = this.walk;
    const isShielded = shieldOf(strand) !== null;
    const isOpen = (): boolean => position.questions.includes(question);
    const mustMove = (): boolean => !isOpen() || ((this.yielding || position.stopping) && !isShielded);
    try {
      const late =
        untilMs === null
          ? (await condition(mustMove), false)
          : !(await condition(mustMove, Math.max(1, untilMs - host.now()), questionOptions(question)));
      const held = await (late ? this.untilGoesOn(strand, mustMove) : this.untilResumed(strand));
      if (held) return held;
      if (!isOpen()) return 'settled';
      if (late && !mustMove()) return 'late';
    } catch (error) {
      if (!isCancellation(error)) throw error;
    }
    return this.interruption(strand) ?? (this.yielding ? 'yield' : 'cancel');
  }
}

/**
 * Waiting for a place of the persona in a workflow. Whoever leaves a place wakes the runs whose turn it is; that word may
 * come before the wait, or twice, and costs a look. A run that is held gives up its turn, and asks anew when it goes on.
 */
import { CancellationScope, condition, isCancellation } from '@temporalio/workflow';
import { ASK_FOR_PLACE, LEAVE_PLACE, type PlaceAsked } from '../../interpreter/contract.ts';
import type { Host, PlaceTurn, Strand } from '../../interpreter/host.ts';
import { askLocally } from '../replay-order/local-activity.ts';
import { placeOptions } from './activity-options.ts';
import { dayWaits } from './day-waits.ts';
import type { Waiting } from './waiting.ts';

/** How long a place that was left without a word may go unnoticed. */
const againMs = 600_000;

type TakeEnd = Awaited<ReturnType<Host['takePlace']>>;

export class Places {
  private readonly waiting: Waiting;
  private readonly mustContinue: () => boolean;
  readonly awaitDay: Host['awaitDay'];

  constructor(waiting: Waiting, mustContinue: () => boolean) {
    this.waiting = waiting;
    this.mustContinue = mustContinue;
    this.awaitDay = dayWaits(waiting, mustContinue);
  }

  readonly take: Host['takePlace'] = async (strand, tell) => {
    const { walk, control } = this.waiting;
    try {
      for (let turns = 0; ; turns += 1) {
        const end = await this.beforeTurn(strand ?? undefined, turns);
        if (end !== null) return end;
        const { heard } = control;
        const request: PlaceAsked = { seq: walk.position.seq };
        const standing = await askLocally<PlaceTurn>(walk, ASK_FOR_PLACE, [request], placeOptions(walk.input.persona));
        if (standing.state === 'taken') return 'taken';
        tell(standing);
        walk.host.suspended();
        await condition(() => control.heard !== heard || this.mustMove(), againMs);
      }
    } catch (error) {
      if (!isCancellation(error) && !CancellationScope.current().consideredCancelled) throw error;
      return this.waiting.interruption(strand ?? undefined) ?? 'cancel';
    }
  };

  /** Whatever becomes of the run: nobody else may have the place before. */
  readonly leave: Host['leavePlace'] = async () => {
    const { walk } = this.waiting;
    const request: PlaceAsked = { seq: walk.position.seq };
    await CancellationScope.nonCancellable(() =>
      askLocally<null>(walk, LEAVE_PLACE, [request], placeOptions(walk.input.persona)),
    );
  };

  private async beforeTurn(strand: Strand | undefined, turns: number): Promise<TakeEnd | null> {
    const { walk } = this.waiting;
    if (walk.position.paused !== null) {
      if (turns > 0) await this.leave();
      await this.waiting.untilResumed(strand);
    }
    const held = this.waiting.interruption(strand);
    if (held !== null) return held;
    // Another line asked, too.
    if (walk.position.place?.taken === true) return 'taken';
    if (turns > 0 && this.mustContinue()) this.waiting.beginToYield();
    return this.waiting.isYielding() ? 'yield' : null;
  }

  private mustMove(): boolean {
    const { position } = this.waiting.walk;
    return position.paused !== null || position.stopping || position.place?.taken === true || this.waiting.isYielding();
  }
}

/**
 * Everything local must leave the workflow task now and then, or signals and updates would wait: after a
 * tenth of the task's time in segments, and after `pureStepsMax` steps without any effect, a timer ends
 * the task. No branch begins a segment meanwhile, or the others would keep the task open.
 */
import { condition, isCancellation, sleep, workflowInfo } from '@temporalio/workflow';
import type { SegmentResult } from '../../interpreter/contract.ts';
import type { Walk } from '../../interpreter/walk-state.ts';
import { takesChange } from './last-in-turn.ts';

const shareOfTask = 0.1;
/** What a segment takes besides: it waits, commits and is handed over. */
const fixedMs = 60;
const pureStepsMax = 500;

export class TaskTime {
  private readonly taskMs = workflowInfo().taskTimeoutMs * shareOfTask;
  private pureSteps = 0;
  private segmentMs = 0;
  private resting = 0;

  /** Whether the run has to rest before more of it. */
  isSpentBySegment({ flow, durationMs }: SegmentResult): boolean {
    this.segmentMs += durationMs + fixedMs;
    if (flow.kind !== 'yield' || this.segmentMs < this.taskMs) return false;
    this.segmentMs = 0;
    return true;
  }

  isSpentByPureStep(): boolean {
    this.pureSteps += 1;
    if (this.pureSteps < pureStepsMax) return false;
    this.pureSteps = 0;
    return true;
  }

  hadEffect(): void {
    this.pureSteps = 0;
  }

  /** Null: a segment may begin in this task. While a branch rests the others wait; and a task that changed the run ends first. */
  beforeSegment(walk: Walk): Promise<void> | null {
    if (this.resting > 0) return this.untilRested();
    return takesChange(walk) ? this.rest() : null;
  }

  /** Ends the workflow task, so that what waits outside is delivered; cancelled, ends at once. */
  async rest(): Promise<void> {
    this.resting += 1;
    try {
      await sleep(1);
    } catch (error) {
      if (!isCancellation(error)) throw error;
    } finally {
      this.resting -= 1;
    }
  }

  private async untilRested(): Promise<void> {
    try {
      await condition(() => this.resting === 0);
    } catch (error) {
      if (!isCancellation(error)) throw error;
    }
  }
}

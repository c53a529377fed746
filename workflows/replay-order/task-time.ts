/**
 * Everything local must leave the workflow task now and then, or signals and updates would wait: after a
 * tenth of the task's time in segments, and after `pureStepsMax` steps without any effect, a timer ends
 * the task. No branch begins a segment meanwhile, or the others would keep the task open.
 */
import { condition, isCancellation, sleep, workflowInfo } from '@temporalio/workflow';
import type { SegmentResult } from '../../interpreter/contract.ts';
import { CHANGES } from '../../interpreter/changes.ts';
import { hasChange } from './has-change.ts';
import type { Walk } from '../../interpreter/walk-state.ts';

const shareOfTask = 0.1;
/** What a segment takes besides: it waits, commits and is handed over. */
const fixedMs = 60;
/** Runs of before rested for each branch alone. */
const apartMs = 1000;
const pureStepsMax = 500;

export class TaskTime {
  private readonly isShared: boolean;
  private readonly taskMs: number;
  private pureSteps = 0;
  private segmentMs = 0;
  private resting = 0;

  constructor(walk: Walk) {
    this.isShared = hasChange(walk.input, CHANGES.localEnds);
    this.taskMs = this.isShared ? workflowInfo().taskTimeoutMs * shareOfTask : apartMs;
  }

  /** Whether the run has to rest before more of it. */
  isSpentBySegment({ flow, durationMs }: SegmentResult): boolean {
    this.segmentMs += durationMs + (this.isShared ? fixedMs : 0);
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

  /** Whether a branch rests, and the others wait for it. */
  isResting(): boolean {
    return this.isShared && this.resting > 0;
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

  async untilRested(): Promise<void> {
    try {
      await condition(() => this.resting === 0);
    } catch (error) {
      if (!isCancellation(error)) throw error;
    }
  }
}

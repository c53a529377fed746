/** Which steps took their workers with them. */
export interface LostStep {
  handle: string;
  key: string;
}

export interface LostSteps {
  /** A worker was lost while it was at these. */
  add(steps: readonly LostStep[]): Promise<void>;
  /** How many workers were lost while they were at it. */
  count(step: LostStep): Promise<number>;
  /** How many workers were lost with each step within the last day, at most a thousand steps. */
  recent(): Promise<(LostStep & { count: number })[]>;
  /** Of runs that ended more than a day ago. */
  sweep(): Promise<void>;
}

/** What is recorded of a run. */
import type { Definition } from '../../language/model.ts';

export type ModelTurn = { says: string } | { calls: string; input: object } | { asksToWaitSeconds: number };

export interface HistoryCase {
  name: string;
  definition: Definition;
  continueEvery?: number;
  /** What a model answers, turn by turn. */
  turns?: readonly ModelTurn[];
  /** What is said to the run once its first shell step has begun; `resume-held` and `extend-held`: each time that it is held. */
  say?: 'pause-resume' | 'stop' | 'cancel' | 'stop-later' | 'resume-held' | 'extend-held';
}

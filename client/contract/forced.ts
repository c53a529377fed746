/** The result of ending a run by force. */
import type { Settled } from '../../runs/settle-run.ts';

export interface ForcedRun extends Settled {
  handle: string;
  workflow: 'terminated' | 'had ended' | 'unknown';
  row: 'settled' | 'had ended' | 'none';
}

export interface Forced {
  /** The run, and those nested in it. */
  runs: ForcedRun[];
  processes: {
    /** Steps whose processes were ended, or are known to have ended since. */
    ended: number;
    /** Those that a worker held which is neither there nor of this host. */
    left: { executionId: string; handle: string; key: string; worker: string }[];
  };
}

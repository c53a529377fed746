/**
 * Which sequence numbers of a run a follower has not seen. Numbers have gaps (a segment reserves a
 * block) and parallel branches make them visible out of order, so "everything after the highest" would
 * lose the late ones, and reading a window again would cost the more the longer the run. The holes
 * themselves are few: the follower asks the database for exactly these ranges.
 *
 * Invariant: `ranges` are disjoint and ascending; the last one has no end.
 */
const GAPS_MAX = 1_024;
/** Past every number a run can reach, and exact in a double. */
const END = Number.MAX_SAFE_INTEGER;

export interface SeqRange {
  from: number;
  to: number;
}

export class SeqGaps {
  #ranges: SeqRange[];

  constructor(after: number) {
    this.#ranges = [{ from: after + 1, to: END }];
  }

  get ranges(): readonly SeqRange[] {
    return this.#ranges;
  }

  /** Expects numbers in ascending order. */
  markSeen(seqs: readonly number[]): void {
    const kept: SeqRange[] = [];
    let next = 0;
    for (const range of this.#ranges) {
      let from = range.from;
      for (let seq = seqs[next]; seq !== undefined && seq <= range.to; next += 1, seq = seqs[next]) {
        if (seq < from) continue;
        if (seq > from) kept.push({ from, to: seq - 1 });
        from = seq + 1;
      }
      if (from <= range.to) kept.push({ from, to: range.to });
    }
    // The oldest holes are blocks long since abandoned.
    this.#ranges = kept.length > GAPS_MAX ? kept.slice(-GAPS_MAX) : kept;
  }
}

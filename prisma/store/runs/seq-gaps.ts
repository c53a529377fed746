/**
 * Which sequence numbers of a run a follower has not seen. Numbers have gaps (a segment reserves a
 * block) and parallel branches make them visible out of order, so "everything after the highest" would
 * lose the late ones, and reading a window again would cost the more the longer the run. The holes
 * themselves are few: the follower asks the database for exactly these ranges.
 *
 * Invariant: the holes are disjoint and ascending, and all lie before the tail, which has no end.
 */
const HOLES_MAX = 1_024;
export interface SeqRange {
  from: number;
  to: number;
}

export class SeqGaps {
  #holes: SeqRange[] = [];
  #tail: number;

  constructor(after: number) {
    this.#tail = after + 1;
  }

  get holes(): readonly SeqRange[] {
    return this.#holes;
  }

  /** Nothing from here on was seen. */
  get tail(): number {
    return this.#tail;
  }

  /** Expects numbers in ascending order. */
  markSeen(seqs: readonly number[]): void {
    const left: SeqRange[] = [];
    let next = 0;
    for (const hole of [...this.#holes, { from: this.#tail, to: Number.POSITIVE_INFINITY }]) {
      let from = hole.from;
      for (let seq = seqs[next]; seq !== undefined && seq <= hole.to; next += 1, seq = seqs[next]) {
        if (seq < from) continue;
        if (seq > from) left.push({ from, to: seq - 1 });
        from = seq + 1;
      }
      if (hole.to === Number.POSITIVE_INFINITY) this.#tail = from;
      else if (from <= hole.to) left.push({ from, to: hole.to });
    }
    // The oldest holes are blocks long since abandoned.
    this.#holes = left.slice(-HOLES_MAX);
  }
}

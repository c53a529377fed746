/**
 * Numbers of a run's events. They come in blocks of four parts: the first is the workflow's own, the
 * others are places for the events of the one segment that begins in the block. So neither writes over
 * the other, even where a worker that was lost had come to another order, and what that worker wrote of
 * the workflow's own can be told from what segments committed.
 */
export const PART_SIZE = 1024;
const PARTS = 4;
const BLOCK_SIZE = PARTS * PART_SIZE;
/** Where the events of a segment may stand, each 1,024 numbers after the one before. */
export const PLACES = PARTS - 1;

export interface SegmentNumbers {
  /** The first place begins after it. */
  from: number;
  /** The latest number that is taken once the segment has its own. */
  taken: number;
}

/** `latest`: the latest number that was taken. */
export function segmentNumbers(latest: number): SegmentNumbers {
  const block = Math.floor(latest / BLOCK_SIZE) * BLOCK_SIZE;
  return { from: block + PART_SIZE, taken: block + BLOCK_SIZE };
}

/** The latest number, or the end of the block where its own part is full. */
export function withRoom(latest: number): number {
  return latest % BLOCK_SIZE < PART_SIZE ? latest : (Math.floor(latest / BLOCK_SIZE) + 1) * BLOCK_SIZE;
}

/** Whether a number is one of those that the segment's events may have. */
export function isOfSegment(seq: number, { from, taken }: SegmentNumbers): boolean {
  return seq > from && seq <= taken;
}

/** SQL for whether a number is the workflow's own. */
export const OWN_NUMBER = `(seq - 1) % ${BLOCK_SIZE} < ${PART_SIZE}`;

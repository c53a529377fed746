/** Numbers of events: what is the workflow's own, and what a segment's, however many there are. */
import { describe, expect, test } from 'vitest';
import { isOfSegment, PART_SIZE, PLACES, segmentNumbers, withRoom } from '../../../language/events/event-numbers.ts';

const isOwn = (seq: number): boolean => (seq - 1) % 4096 < 1024;

describe('numbers apart', () => {
  test('own events and segments never meet, and what comes later has higher numbers', () => {
    let latest = 0;
    const taken = new Set<number>();
    for (let n = 0; n < 3000; n += 1) {
      if (n % 7 === 3 || n % 1500 === 0) {
        const numbers = segmentNumbers(latest);
        const seqs = Array.from({ length: PLACES * PART_SIZE }, (_, index) => numbers.from + 1 + index);
        expect(
          seqs.filter((seq) => isOwn(seq) || taken.has(seq) || seq <= latest || !isOfSegment(seq, numbers)),
        ).toEqual([]);
        if (n < 200) for (const seq of seqs) taken.add(seq);
        expect(numbers.taken).toBeGreaterThanOrEqual(numbers.from + PLACES * PART_SIZE);
        latest = numbers.taken;
      }
      const own = latest + 1;
      expect(isOwn(own)).toBe(true);
      expect(taken.has(own)).toBe(false);
      latest = withRoom(own);
    }
  });

  test('a part that is full goes on in the next block', () => {
    let latest = 0;
    for (let n = 0; n < 3 * PART_SIZE; n += 1) latest = withRoom(latest + 1);
    expect(latest).toBe(3 * 4 * PART_SIZE);
  });

  test.each([0, 1, 1023, 1024, 1025, 2048, 3000, 4095, 4096, 1_000_000])(
    'a run goes on from %i with a number of its own',
    (latest) => {
      expect(withRoom(latest)).toBeGreaterThanOrEqual(latest);
      expect(isOwn(withRoom(latest) + 1)).toBe(true);
    },
  );
});

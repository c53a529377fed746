import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { inSequence } from '../../../client/follow/in-sequence.ts';
import type { RunEvent } from '../../../language/events/run-event.ts';

const event = (seq: number): RunEvent => ({ seq, at: 0, key: '', type: 'resumed' });

async function* arriving(script: readonly (number | { wait: number } | Error)[]): AsyncGenerator<RunEvent> {
  for (const item of script) {
    if (item instanceof Error) throw item;
    if (typeof item === 'number') yield event(item);
    else await sleep(item.wait);
  }
}

async function numbersOf(events: AsyncIterable<RunEvent>): Promise<number[]> {
  const numbers: number[] = [];
  for await (const { seq } of events) numbers.push(seq);
  return numbers;
}

describe('inSequence', () => {
  const cases: { title: string; script: (number | { wait: number })[]; after?: number; numbers: number[] }[] = [
    { title: 'leaves what is in order', script: [1, 2, 3], numbers: [1, 2, 3] },
    {
      title: 'waits for what comes a moment later',
      script: [1025, 1026, { wait: 30 }, 1, 2, { wait: 30 }, 2049],
      numbers: [1, 2, 1025, 1026, 2049],
    },
    {
      title: 'does not wait for numbers nobody uses',
      script: [1, 1025, { wait: 400 }, 1026, { wait: 400 }, 2049],
      numbers: [1, 1025, 1026, 2049],
    },
    { title: 'yields late what comes very late', script: [5, { wait: 400 }, 4, 6], numbers: [5, 4, 6] },
    { title: 'begins after the number it is told', script: [8, 9], after: 7, numbers: [8, 9] },
    { title: 'orders what it still holds at the end', script: [30, 10, 20], numbers: [10, 20, 30] },
  ];

  it.each(cases)('$title', async ({ script, after = 0, numbers }) => {
    expect(await numbersOf(inSequence(arriving(script), after))).toEqual(numbers);
  });

  it('yields what has no gap before it at once', async () => {
    const began = performance.now();
    const { value } = await inSequence(arriving([1, { wait: 5000 }]), 0).next();
    expect((value as RunEvent).seq).toBe(1);
    expect(performance.now() - began).toBeLessThan(1000);
  });

  it('passes an error on', async () => {
    await expect(numbersOf(inSequence(arriving([1, new Error('away')]), 0))).rejects.toThrow('away');
  });
});

/** Processes that one segment begins side by side. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Acts, type ActingSteps } from '../../activities/segment/acts.ts';
import type { ShellEffect } from '../../interpreter/effect.ts';
import type { RunInput, Strand } from '../../interpreter/host.ts';

const input = { handle: 'at-once', persona: 'ada' } as unknown as RunInput;
const strand = { within: null } as unknown as Strand;
const shell = (n: number): ShellEffect => ({
  type: 'shell',
  key: `steps.${n}@1`,
  label: 'shell',
  timeoutMs: 1_000,
  command: 'true',
});

test('of many branches no more than eight act at the same time, and all do in the end', async () => {
  let [underWay, most, begun] = [0, 0, 0];
  const steps: ActingSteps = {
    canBegin: () => Promise.resolve(true),
    mayBegin: async () => {
      await sleep(1);
      return true;
    },
    keepState: () => Promise.resolve(null),
    async perform() {
      begun += 1;
      underWay += 1;
      most = Math.max(most, underWay);
      await sleep(5);
      underWay -= 1;
      return null;
    },
    write: () => () => undefined,
    forget: () => undefined,
  };
  const acts = new Acts(steps, input, () => Promise.resolve(), { attempt: 1 });
  const replies = await Promise.all(Array.from({ length: 20 }, (_, n) => acts.perform(strand, shell(n))));
  expect(replies.filter((reply) => 'ok' in reply && reply.ok)).toHaveLength(20);
  expect({ begun, most }).toEqual({ begun: 20, most: 8 });
});

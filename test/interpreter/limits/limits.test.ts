/** A run's time bounds the pauses in it as well: it ends within its limit, whatever it waits for. */
import { expect, test } from 'vitest';
import type { Definition, Step } from '../../../language/model.ts';
import { MODES, runCase } from '../harness/run-case.ts';

const hour = 3_600_000;
const flaky: Step = { type: 'shell', command: 'flaky', retry: { attempts: 9, backoffMs: hour, maxBackoffMs: hour } };
const child: Definition = { name: 'child', loop: { type: 'once' }, steps: [flaky] };
const waits: { what: string; steps: Step[] }[] = [
  { what: 'the pause before another attempt', steps: [flaky] },
  {
    what: 'the pause before another attempt of a quick step',
    steps: [{ ...flaky, type: 'command', command: 'data/list' }],
  },
  {
    what: 'the pause before another attempt in a branch',
    steps: [{ type: 'parallel', branches: [[flaky], [{ type: 'shell', command: 'fine' }]] }],
  },
  {
    what: 'the pause before another attempt in a nested run',
    steps: [
      { type: 'sentinel', definition: child },
      { type: 'shell', command: 'fine' },
    ],
  },
  {
    what: 'the pause before another attempt of a nested run',
    steps: [
      {
        type: 'sentinel',
        definition: { ...child, steps: [{ type: 'shell', command: 'flaky' }] },
        retry: { attempts: 9, backoffMs: hour },
      },
    ],
  },
  {
    what: 'the pause between two passes',
    steps: [
      {
        type: 'loop',
        loop: { type: 'continuous', intervalMs: hour, max: 9 },
        steps: [{ type: 'shell', command: 'fine' }],
      },
    ],
  },
  { what: 'an approval', steps: [{ type: 'approval', message: 'Go on?' }] },
  { what: 'an event', steps: [{ type: 'watch', event: 'never' }] },
];

test.each(waits)('$what', async ({ steps }) => {
  const definition: Definition = { name: 'bounded', loop: { type: 'once' }, timeoutMs: 1000, steps };
  const replies = {
    flaky: { ok: false, failure: { code: 'BROKEN', retryable: true } },
    'data/list': { ok: false, failure: { code: 'BROKEN', retryable: true } },
  };
  for (const mode of MODES) {
    const { runs } = await runCase({ definition, replies }, mode);
    expect({ mode: mode.name, ...runs[0]?.result }).toMatchObject({
      mode: mode.name,
      outcome: 'stopped',
      limit: 'timeoutMs',
    });
    expect(runs[0]?.result?.durationMs).toBeLessThanOrEqual(1100);
  }
});

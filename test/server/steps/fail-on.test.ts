/** `failOn` on real services: real exit codes, tried again, within `failFast`, and in a definition inside another. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { once, shell } from '../harness/definitions.ts';
import { Harness } from '../harness/harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker();
});
afterAll(() => harness.close());

test('a code other than 0 fails the step with the end of what the process said, and its variable is set', async () => {
  const { result } = await harness.run(
    once('strict', [shell('echo out; echo one >&2; echo two >&2; exit 7', { failOn: 'nonzero', outputTo: 'tried' })]),
  );
  expect(result).toMatchObject({
    outcome: 'failed',
    failure: {
      code: 'SHELL_EXIT_NONZERO',
      message: 'steps.0@1: it ended with exit code 7: one\ntwo',
      details: { exitCode: 7, stderr: 'one\ntwo' },
    },
    outputs: { tried: { exitCode: 7, stdout: 'out\n' } },
  });
});

test('it is tried again until the code is 0', async () => {
  const line = 'echo x >> tries; test "$(wc -l < tries)" -ge 3';
  const { result } = await harness.run(
    once(
      'flaky',
      [
        shell(line, { retry: { attempts: 4, backoffMs: 1 }, outputTo: 'last' }),
        shell('wc -l < tries', { outputTo: 'tries' }),
      ],
      { defaults: { shell: { failOn: 'nonzero' } } },
    ),
  );
  expect(result).toMatchObject({ outcome: 'completed', outputs: { last: { exitCode: 0 }, tries: { stdout: '3\n' } } });
});

test('the default of a definition reaches the ones inside it, and failFast ends the other branches', async () => {
  const inner = once('inner', [shell('exit 3')]);
  const { result } = await harness.run(
    once(
      'outer',
      [
        {
          type: 'parallel',
          failFast: true,
          branches: [[shell('sleep 600')], [{ type: 'sentinel', definition: inner }]],
        },
      ],
      { defaults: { shell: { failOn: 'nonzero' } } },
    ),
  );
  expect(result).toMatchObject({
    outcome: 'failed',
    failure: { code: 'CHILD_FAILED', details: { code: 'SHELL_EXIT_NONZERO' } },
  });
});

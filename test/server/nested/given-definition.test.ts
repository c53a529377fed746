/** Nested sentinels whose definition stands in a variable, on real services: read, named, refused. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Definition, Step } from '../../../language/model.ts';
import { once, shell } from '../harness/definitions.ts';
import { Harness } from '../harness/harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker();
});
afterAll(() => harness.close());

const given = (reference: string, rest: Partial<Extract<Step, { type: 'sentinel' }>> = {}): Step => ({
  type: 'sentinel',
  definition: { $ref: reference },
  ...rest,
});
const greets = (name: string): Definition => once(name, [shell('echo hello $who', { outputTo: 'said' })]);

test('a definition that a step printed runs, with one that is stored inside it', async () => {
  await harness.store.definitions.save(greets('stored-greeter'));
  const drafted = once('drafted', [given('stored-greeter', { outputTo: 'inner' })]);
  const steps = [
    shell('echo "$text"', { name: 'draft it' }),
    given('{{named.draft it.stdout}}', { outputTo: 'result' }),
    given('stored-$kind', { outputTo: 'named' }),
  ];
  const inputs = { text: JSON.stringify(drafted), who: 'ada', kind: 'greeter' };
  const { handle, result } = await harness.run(once('drafts', steps), { inputs });
  expect(result).toMatchObject({
    outcome: 'completed',
    outputs: { result: { inner: { said: { stdout: 'hello ada\n' } } }, named: { said: { stdout: 'hello ada\n' } } },
  });
  expect(await harness.store.runs.find(`${handle}/steps.1@1`)).toMatchObject({ name: 'drafted', status: 'completed' });
});

test('one that has problems fails its step with all of them, and nothing of it runs', async () => {
  const drafted = {
    name: 'drafted',
    loop: { type: 'until', check: 'false' },
    steps: [{ type: 'shell', command: 'true' }, { type: 'shell' }],
  };
  const { handle, result } = await harness.run(once('drafts', [given('$plan')]), { inputs: { plan: drafted } });
  const problems = [
    { code: 'MISSING_KEY', path: 'steps.1.command' },
    { code: 'UNBOUNDED_LOOP', path: 'loop' },
  ];
  expect(result).toMatchObject({ outcome: 'failed', failure: { code: 'DEFINITION_INVALID', details: { problems } } });
  expect(await harness.store.runs.find(`${handle}/steps.0@1`)).toBeNull();
});

test('a stored one that only the run around it bounds runs there, named in the step or by a variable, and nowhere else', async () => {
  await harness.store.definitions.save({
    name: 'retrier',
    loop: { type: 'until', check: '$t.exitCode === 0' },
    steps: [shell('true', { outputTo: 't' })],
  });
  const steps = (name: string): Step[] => [{ type: 'sentinel', definition: { $ref: 'retrier' } }, given(name)];
  const bounded = await harness.run(once('boss', steps('$chosen'), { safety: { timeoutMs: 60_000 } }), {
    inputs: { chosen: 'retrier' },
  });
  expect(bounded.result).toMatchObject({ outcome: 'completed' });
  await expect(harness.run(once('endless', steps('$chosen')))).rejects.toThrow(
    '"until" in "retrier" can run for ever here',
  );
  const { result } = await harness.run(once('endless', [given('$chosen')]), { inputs: { chosen: 'retrier' } });
  expect(result).toMatchObject({
    outcome: 'failed',
    failure: { code: 'DEFINITION_INVALID', details: { problems: [{ code: 'UNBOUNDED_LOOP' }] } },
  });
});

/** What a person sees of the step that failed: the action, as it would be done again. */
import { expect, test } from 'vitest';
import type { Step } from '../../../language/model.ts';
import { runCase, STRAIGHT } from '../harness/run-case.ts';

const fails = { ok: false, failure: { code: 'BROKEN', message: 'it broke' } };

async function actionsShown(step: Step, answers: object[]): Promise<unknown[]> {
  const definition = {
    name: 'case',
    loop: { type: 'once' as const },
    inputs: { who: 'ada' },
    steps: [step],
    escalateOn: [{ condition: 'error' as const, action: 'pause' as const }],
  };
  const { runs } = await runCase(
    { definition, replies: { 'steps.0@1': [fails, fails, {}] }, answers: { '**': answers } } as Parameters<
      typeof runCase
    >[0],
    STRAIGHT,
  );
  return (runs[0]?.events ?? []).flatMap((event) =>
    event.type === 'asked' ? [(event.question.show as { action: unknown }).action] : [],
  );
}

test('of a failed step its action is shown, with what its references say, and as edited', async () => {
  const shown = await actionsShown({ type: 'shell', command: 'greet', args: ['$who'] }, [
    { choice: 'edit', data: { args: ['bob'] } },
  ]);
  expect(shown).toEqual([
    { type: 'shell', command: 'greet', args: ['ada'], env: {} },
    { type: 'shell', command: 'greet', args: ['bob'], env: {} },
  ]);
  expect(
    await actionsShown({ type: 'command', command: 'data/create', params: { collection: 'c', data: '$who' } }, [
      { choice: 'abort' },
    ]),
  ).toEqual([{ type: 'command', command: 'data/create', params: { collection: 'c', data: 'ada' } }]);
});

test('of a failed step that is no action its type is shown', async () => {
  const nested: Step = { type: 'sentinel', definition: { name: 'child', loop: { type: 'once' }, steps: [] } };
  expect(await actionsShown(nested, [{ choice: 'abort' }])).toEqual([{ type: 'sentinel' }]);
});

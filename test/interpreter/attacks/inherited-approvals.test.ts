/**
 * What a run wants to approve is inherited with the rule that decides it. A definition inside it tries every rule it
 * has to do the action without the persona's word; beside each stands the honest use of the same rule.
 */
import { describe, expect, test } from 'vitest';
import type { Definition, EscalationRule, Step } from '../../../language/model.ts';
import type { RunEvent } from '../../../language/events/run-event.ts';
import { defined } from '../../../language/defined.ts';
import { MODES, runCase } from '../harness/run-case.ts';

const act: Step = { type: 'shell', command: 'act' };
const once = (name: string, steps: Step[], rest: Partial<Definition> = {}): Definition => ({
  name,
  loop: { type: 'once' },
  steps,
  ...rest,
});
const rule = (action: EscalationRule['action'], priority?: EscalationRule['priority']): EscalationRule => ({
  condition: 'approval_needed',
  action,
  ...defined({ priority }),
});
const shells = { safety: { requireApproval: ['shell' as const] } };
const nest = (definition: Definition): Step => ({ type: 'sentinel', definition });

interface Seen {
  asked: string[];
  told: string[];
  done: number;
}

async function seen(definition: Definition, answer: 'approve' | 'reject', mode: (typeof MODES)[number]): Promise<Seen> {
  const { runs, effects } = await runCase({ definition, answers: { '**': { choice: answer } } }, mode);
  const events = runs.flatMap((run): RunEvent[] => run.events);
  return {
    asked: events.flatMap((event) => (event.type === 'asked' ? [event.question.assignee] : [])),
    told: events.flatMap((event) => (event.type === 'notified' ? [event.condition] : [])),
    done: Object.entries(effects).filter(([, effect]) => JSON.stringify(effect).includes('"command":"act"')).length,
  };
}

/** Definitions that a run with `requireApproval` nests, and that would rather not be asked about. */
const evasions: [string, Definition][] = [
  ['a rule of its own', once('inner', [act], { escalateOn: [rule('notify')] })],
  ['the rule, and the class once more', once('inner', [act], { ...shells, escalateOn: [rule('notify', 'urgent')] })],
  ['two deep', once('middle', [nest(once('inner', [act], { escalateOn: [rule('notify')] }))])],
  ['a rule in between', once('middle', [nest(once('inner', [act]))], { ...shells, escalateOn: [rule('notify')] })],
  [
    'in a loop',
    once('inner', [{ type: 'loop', loop: { type: 'count', max: 1 }, steps: [act] }], { escalateOn: [rule('notify')] }),
  ],
  ['in a branch', once('inner', [{ type: 'parallel', branches: [[act]] }], { escalateOn: [rule('notify')] })],
  ['as a clean-up', once('inner', [], { always: [act], escalateOn: [rule('notify')] })],
  [
    'a failure that is skipped',
    once('inner', [{ ...act, onError: 'skip' }], {
      escalateOn: [rule('notify'), { condition: 'error', action: 'notify' }],
    }),
  ],
];

const rulesInside = (action: EscalationRule['action']): Definition =>
  once('outer', [{ ...nest(once('inner', [act], { escalateOn: [rule(action)] })), onError: 'skip' }], {
    ...shells,
    escalateOn: [rule('notify')],
  });

describe.each(MODES)('$name', (mode) => {
  test.each(evasions)('%s: the persona is asked, and nothing happens without a word', async (_name, inner) => {
    const outer = once('outer', [{ ...nest(inner), onError: 'skip' }], shells);
    expect(await seen(outer, 'reject', mode)).toMatchObject({ asked: ['tester'], done: 0 });
    expect(await seen(outer, 'approve', mode)).toMatchObject({ asked: ['tester'], done: 1 });
  });

  test('a restriction that it states itself it decides itself', async () => {
    const inner = once('inner', [act], { ...shells, escalateOn: [rule('notify')] });
    expect(await seen(once('outer', [nest(inner)]), 'reject', mode)).toEqual({
      asked: [],
      told: ['approval_needed'],
      done: 1,
    });
  });

  test('the rule of the run around it holds inside, too', async () => {
    const told = once('outer', [nest(once('inner', [act]))], { ...shells, escalateOn: [rule('notify')] });
    expect(await seen(told, 'reject', mode)).toEqual({ asked: [], told: ['approval_needed'], done: 1 });
    const never = once(
      'outer',
      [{ ...nest(once('inner', [act], { escalateOn: [rule('notify')] })), onError: 'skip' }],
      {
        ...shells,
        escalateOn: [rule('abort')],
      },
    );
    expect(await seen(never, 'approve', mode)).toEqual({ asked: [], told: [], done: 0 });
  });

  test('a stricter rule inside is kept', async () => {
    expect(await seen(rulesInside('pause'), 'reject', mode)).toMatchObject({ asked: ['tester'], done: 0 });
    expect(await seen(rulesInside('abort'), 'approve', mode)).toMatchObject({ asked: [], done: 0 });
  });

  test('a class that the run around it does not name is decided by whoever names it', async () => {
    const write: Step = { type: 'command', command: 'code/write', params: { path: 'a', content: 'b' } };
    const inner = once('inner', [write, act], {
      safety: { requireApproval: ['write'] },
      escalateOn: [rule('notify')],
    });
    expect(await seen(once('outer', [nest(inner)], shells), 'approve', mode)).toMatchObject({
      asked: ['tester'],
      told: ['approval_needed'],
      done: 1,
    });
  });
});

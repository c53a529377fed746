/** A run that was edited while its branches were at different places, told again by the scripted host. */
import { expect, test } from 'vitest';
import { stage } from '../../../authoring/simulate/stage.ts';
import type { Edited, RunEvent, StepFinished } from '../../../language/events/run-event.ts';
import type { Definition, Step } from '../../../language/model.ts';
import { runScenario } from '../../../interpreter/simulation/run-scenario.ts';
import { LivedScript } from '../../server/chaos/lived-script.ts';
import { catalogue } from '../../catalogue.ts';

const listing = (collection: string): Step => ({ type: 'command', command: 'data/list', params: { collection } });

const definition: Definition = {
  name: 'branches',
  loop: { type: 'once' },
  steps: [{ type: 'parallel', branches: [[listing('a'), listing('b')], [listing('c')]] }],
};

const ended = (seq: number, key: string): StepFinished => ({
  type: 'step-finished',
  seq,
  at: seq,
  key,
  step: key === 'steps.0@1' ? 'parallel' : 'command',
  label: 'data/list',
  outcome: 'ok',
  durationMs: 1,
});

const begun = (seq: number, key: string, step: 'loop' | 'parallel'): RunEvent => ({
  type: 'step-started',
  seq,
  at: seq,
  key,
  step,
  label: step,
});

const edited: Edited = {
  type: 'edited',
  seq: 3,
  at: 3,
  key: '',
  op: 'add',
  path: 'steps.1',
  revision: 1,
  before: null,
  after: { ...listing('d') },
  by: 'ada',
  from: 'now',
};

async function told(of: Definition, events: readonly RunEvent[]): Promise<RunEvent[]> {
  const answers = new LivedScript([{ under: '', events }]);
  const { runs } = await runScenario(
    { definition: of, catalogue },
    { answers, stage: { ...stage, clockMoved: (now) => answers.clockMoved(now) } },
  );
  return runs[0]?.events ?? [];
}

const happenings = (events: readonly RunEvent[]): string[] =>
  events
    .filter(({ type }) => type === 'step-finished' || type === 'edited')
    .map(({ type, key }) => (type === 'edited' ? type : key));

test('a branch that came to its step after an edit waits for it, and the other goes on until then', async () => {
  const events: RunEvent[] = [
    ended(1, 'steps.0.branches.0.0@1'),
    ended(2, 'steps.0.branches.0.1@1'),
    edited,
    ended(4, 'steps.0.branches.1.0~1@1'),
    ended(5, 'steps.0@1'),
    ended(6, 'steps.1~1@1'),
  ];
  expect(happenings(await told(definition, events))).toEqual(happenings(events));
});

test('a branch that came to its step after an edit waits for what had ended before it in another', async () => {
  const looping: Definition = {
    name: 'branches',
    loop: { type: 'once' },
    steps: [
      {
        type: 'parallel',
        branches: [
          [{ type: 'parallel', branches: [[listing('a')]] }, listing('b')],
          [{ type: 'loop', loop: { type: 'count', max: 2 }, steps: [listing('c'), listing('d')] }],
        ],
      },
    ],
  };
  const events: RunEvent[] = [
    begun(0, 'steps.0@1', 'parallel'),
    begun(0.1, 'steps.0.branches.0.0@1', 'parallel'),
    begun(0.2, 'steps.0.branches.1.0@1', 'loop'),
    ended(1, 'steps.0.branches.1.0.steps.0@1.1'),
    ended(2, 'steps.0.branches.0.0.branches.0.0@1'),
    { ...edited, op: 'update', path: 'steps.0.branches.1.0.steps.0', before: { ...listing('c') } },
    ended(4, 'steps.0.branches.0.1~1@1'),
    ended(5, 'steps.0.branches.1.0.steps.1~1@1.1'),
    ended(6, 'steps.0.branches.1.0.steps.0~1@1.2'),
    ended(7, 'steps.0.branches.1.0.steps.1~1@1.2'),
  ];
  const again = await told(looping, events);
  expect(again.filter((event) => event.type === 'warning' && event.code !== 'EDIT_STALE')).toEqual([]);
  expect(
    happenings(again)
      .filter((key) => key.includes('~') || key === 'edited')
      .toSorted(),
  ).toEqual(
    happenings(events)
      .filter((key) => key.includes('~') || key === 'edited')
      .toSorted(),
  );
});

/**
 * Waiting that goes on in the run that this one continued as: it holds no sibling up, it takes no
 * longer and costs nothing more, and what ends the run or its branch on the way back ends it, too.
 */
import { describe, expect, test, vi } from 'vitest';
import { stage } from '../../../authoring/simulate/stage.ts';
import type { Definition, ShellStep, Step } from '../../../language/model.ts';
import { Script, type Interruption, type ScriptSource } from '../../../interpreter/simulation/script.ts';
import { runScenario, STARTS_AT, type Outcome } from '../../../interpreter/simulation/run-scenario.ts';
import type { Mode } from '../../../interpreter/simulation/world.ts';
import { runScriptedSegment } from '../harness/scripted-segment.ts';
import { catalogue } from '../../catalogue.ts';

const everyStep: Mode = { name: 'yield every step', yieldEvery: 1 };

/** Interrupts where a place is passed for the second time: on the way back into what was carried over. */
class OnTheWayBack extends Script {
  private readonly back: Interruption | null;
  private passed = 0;

  constructor(source: ScriptSource, back: Interruption | null) {
    super(source);
    this.back = back;
  }

  override interruptionsAt(key: string, when: 'before' | 'during'): Interruption[] {
    const { back } = this;
    if (back === null || key !== back.at || when !== 'before') return super.interruptionsAt(key, when);
    this.passed += 1;
    return this.passed === 2 ? [back] : [];
  }
}

interface Given extends ScriptSource {
  steps: Step[];
  terms?: Partial<Definition>;
  mode?: Mode;
  back?: Interruption;
}

function run({ steps, terms = {}, mode = everyStep, back, ...source }: Given): Promise<Outcome> {
  const answers = new OnTheWayBack(source, back ?? null);
  const definition: Definition = { name: 'case', loop: { type: 'once' }, steps, ...terms };
  return runScenario(
    { ...source, definition, catalogue },
    {
      mode,
      answers,
      segment: runScriptedSegment,
      stage: { ...stage, clockMoved: (now) => void vi.setSystemTime(now) },
    },
  );
}

const shell = (command: string, more: Partial<ShellStep> = {}): Step => ({ type: 'shell', command, ...more });
const shells = (count: number): Step[] => Array.from({ length: count }, (_, nth) => shell(`work ${nth}`));
const beside = (...branches: Step[][]): Step[] => [{ type: 'parallel', branches }];
const approval: Step = { type: 'approval', message: 'Go on?' };
const watch: Step = { type: 'watch', event: 'never' };
const key = 'steps.0.branches.0.0@1';

/** Milliseconds from the start of the run to the end of each step. */
function endsOf({ runs }: Outcome): { [key: string]: number } {
  const events = runs.flatMap((host) => host.events);
  return Object.fromEntries(
    events.flatMap((event) => (event.type === 'step-finished' ? [[event.key, event.at - STARTS_AT]] : [])),
  );
}

const waits: {
  what: string;
  branch: Step[];
  terms?: Partial<Definition>;
  replies?: ScriptSource['replies'];
  lines: string[];
}[] = [
  {
    what: 'an approval',
    branch: [approval],
    lines: [`${key} asks approval: approve, reject, abort`, `${key} withdrawn`, `${key} approval cancelled "Go on?"`],
  },
  { what: 'a watch of an event', branch: [watch], lines: [`${key} watch cancelled "never"`] },
  {
    what: 'a sleep',
    branch: [{ type: 'sleep', durationMs: 86_400_000 }],
    lines: [`${key} sleep cancelled "1 day"`],
  },
  { what: 'a join', branch: [{ type: 'join', handles: ['nobody'] }], lines: [`${key} join cancelled "nobody"`] },
  {
    what: 'an action that needs approval',
    branch: [{ type: 'command', command: 'code/write', params: { path: 'a', content: '' } }],
    terms: { safety: { requireApproval: ['write'] } },
    lines: [`${key} asks action: approve, reject, skip, edit, abort`, `${key} withdrawn`],
  },
];

describe.each(waits)('$what that was carried over', ({ branch, terms = {}, replies = {}, lines }) => {
  test.each(['stop', 'cancel'] as const)('ends with a %s before it goes on', async (what) => {
    const always = [shell('tidy')];
    const { trace, result, runs } = await run({
      steps: beside(branch, shells(4)),
      terms: { ...terms, always },
      replies,
      back: { at: key, do: what },
    });
    expect(result.outcome).toBe(what === 'stop' ? 'stopped' : 'cancelled');
    expect(trace.slice(1, 1 + lines.length)).toEqual(lines);
    expect(runs[0]?.walk.position.questions).toEqual([]);
    const types = runs[0]?.events.map((event) => `${event.type} ${event.key}`) ?? [];
    // A question is no longer open while the run cleans up.
    if (lines.some((line) => line.endsWith('withdrawn')))
      expect(types.indexOf(`withdrawn ${key}`)).toBeLessThan(types.indexOf('step-started always.0@1'));
  });

  test('ends with a sibling that failed while the run continued as new', async () => {
    const steps: Step[] = [
      {
        type: 'parallel',
        branches: [branch, shells(1), [shell('breaks')], shells(2)],
        failFast: true,
        onError: 'skip',
      },
      shell('after', { timeoutMs: 1000 }),
    ];
    const { trace, result } = await run({
      steps,
      terms,
      replies: { ...replies, breaks: { ok: false, failure: { code: 'BROKEN' }, tookMs: 30 } },
      mode: { name: 'every 4', yieldEvery: 4 },
    });
    expect(result.outcome).toBe('completed');
    expect(trace.slice(1, 1 + lines.length)).toEqual(lines);
    expect(trace.at(-1)).toBe('steps.1@1 shell ok "after"');
  });

  test('ends with a limit that a sibling came to after the others had gone back', async () => {
    const held: Step = {
      type: 'condition',
      check: 'true',
      then: [{ type: 'loop', loop: { type: 'count', max: 1 }, steps: branch }],
    };
    const { result, runs } = await run({
      steps: beside([held], shells(2), [shell('long'), shell('never')]),
      terms: { ...terms, timeoutMs: 20 },
      replies: { ...replies, long: { ok: true, tookMs: 30 } },
      mode: { name: 'every 2', yieldEvery: 2 },
    });
    expect(result).toMatchObject({ outcome: 'stopped', limit: 'timeoutMs' });
    const ended = (type: string): string[] =>
      runs.flatMap((host) => host.events.filter((event) => event.type === type).map((event) => event.key)).toSorted();
    expect(ended('step-started').filter((started) => !ended('step-finished').includes(started))).toEqual([]);
    expect(ended('withdrawn')).toEqual(ended('asked'));
  });

  test('holds up no sibling', async () => {
    const { runs, ...outcome } = await run({
      steps: beside(branch, [...shells(12), shell('last', { name: 'last' })]),
      terms: { ...terms, timeoutMs: 5000 },
      replies,
    });
    expect(endsOf({ runs, ...outcome })['steps.0.branches.1.12@1']).toBeLessThan(100);
    expect(runs[0]?.continued).toBeGreaterThan(10);
  });
});

test('an answer that came while the run continued as new is taken up, whatever ends the run', async () => {
  const answer: Interruption = { at: key, do: 'answer' };
  const answers = new OnTheWayBack({}, answer);
  const interruptionsAt = answers.interruptionsAt.bind(answers);
  answers.interruptionsAt = (at, when) =>
    interruptionsAt(at, when).flatMap((entry) => [entry, { ...entry, do: 'stop' as const }]);
  const definition: Definition = {
    name: 'case',
    loop: { type: 'once' },
    steps: beside([approval, shell('never')], shells(4)),
  };
  const { trace, result } = await runScenario({ definition, catalogue }, { mode: everyStep, answers, stage });
  expect(result.outcome).toBe('stopped');
  expect(trace.slice(1, 4)).toEqual([
    `${key} asks approval: approve, reject, abort`,
    `${key} answered approve by someone`,
    `${key} approval ok "Go on?"`,
  ]);
  expect(trace.join('\n')).not.toContain('never');
});

test.each([
  ['an approval', approval, { answers: { [key]: { choice: 'approve' as const, afterMs: 50 } } }],
  ['a watch of an event', { type: 'watch' as const, event: 'built' }, { events: [{ name: 'built', afterMs: 50 }] }],
  ['a sleep', { type: 'sleep' as const, durationMs: 50 }, {}],
])('%s that was carried over is paid for once', async (_what, step, source) => {
  const given = {
    steps: beside(
      [step],
      [{ type: 'loop', loop: { type: 'continuous', intervalMs: 5, max: 1 }, steps: [] }, shell('work')],
    ),
    terms: { safety: { budget: { steps: 2 } } },
    ...source,
  };
  const straight = await run({ ...given, mode: { name: 'straight' } });
  const carried = await run({ ...given, mode: { name: 'carried', yieldEvery: 1, yieldAsking: true } });
  expect(straight.result.outcome).toBe('completed');
  expect(carried.trace).toEqual(straight.trace);
});

describe('a rest', () => {
  const resting: Step = {
    type: 'loop',
    loop: { type: 'continuous', intervalMs: 1000, max: 2 },
    steps: [shell('turn')],
  };
  const failing: Step = shell('fails', { retry: { attempts: 2, backoffMs: 1000 }, onError: 'skip' });
  const replies = { fails: { ok: false, failure: { code: 'BUSY', retryable: true } } };

  test.each([
    ['between two passes', resting, 'steps.0.branches.0.0.steps.0@1.1', 'steps.0.branches.0.0.steps.0@1.2'],
    ['between two attempts', failing, key, 'steps.0.branches.0.0#2@1'],
  ])('%s holds up no sibling, and takes no longer', async (_what, step, first, second) => {
    const outcome = await run({
      steps: beside([step], shells(12)),
      replies,
      mode: { name: 'yield every 2 steps', yieldEvery: 2 },
    });
    const { [first]: begins = 0, [second]: ends = 0, 'steps.0.branches.1.11@1': sibling = 0 } = endsOf(outcome);
    expect(outcome.result.outcome).toBe('completed');
    expect(begins).toBeLessThan(5);
    expect(sibling).toBeLessThan(100);
    expect(ends - begins).toBe(1001);
    expect(outcome.runs[0]?.continued).toBeGreaterThan(5);
    expect(outcome.trace).toEqual(
      (await run({ steps: beside([step], shells(12)), replies, mode: { name: 'straight' } })).trace,
    );
  });

  test.each([
    ['between two passes', resting],
    ['between two attempts', failing],
  ])('%s ends with a sibling that failed while the run continued as new', async (_what, step) => {
    const steps: Step[] = [
      {
        type: 'parallel',
        branches: [[step], shells(1), [shell('breaks')], shells(2)],
        failFast: true,
        onError: 'skip',
      },
      shell('after'),
    ];
    const outcome = await run({
      steps,
      replies: { ...replies, breaks: { ok: false, failure: { code: 'BROKEN' }, tookMs: 30 } },
      mode: { name: 'every 4', yieldEvery: 4 },
    });
    expect(outcome.result.outcome).toBe('completed');
    expect(endsOf(outcome)['steps.1@1']).toBeLessThan(100);
  });
});

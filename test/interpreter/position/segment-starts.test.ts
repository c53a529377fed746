/** Where segments begin, and how much one of them walks: by the keys that a run's segments have in its journal. */
import { expect, test } from 'vitest';
import type { Definition, Step } from '../../../language/model.ts';
import { runCase } from '../harness/run-case.ts';

const read = (name: string): Step => ({
  type: 'command',
  command: 'data/list',
  params: { collection: 'rows' },
  outputTo: name,
});
const emit: Step = { type: 'emit', event: 'done' };
const shell: Step = { type: 'shell', command: 'true' };
const fail: Step = { type: 'fail', message: 'no' };
const set: Step = { type: 'set', values: { n: 1 } };
const given = (then: Step[], otherwise: Step[] = []): Step => ({
  type: 'condition',
  check: 'true',
  then,
  else: otherwise,
});
const twice = (...steps: Step[]): Step => ({ type: 'loop', loop: { type: 'count', max: 2 }, steps });
const fan = (branches: Step[][], rest: Partial<Extract<Step, { type: 'parallel' }>> = {}): Step => ({
  type: 'parallel',
  branches,
  ...rest,
});
const wide = (count: number, ...steps: Step[]): Step[][] => Array.from({ length: count }, () => steps);

async function segmentsOf(steps: Step[], rest: Partial<Definition> = {}): Promise<string[]> {
  const definition: Definition = { name: 'starts', loop: { type: 'once' }, steps, ...rest };
  const { runs } = await runCase({ definition }, { name: 'segments', segments: true });
  return runs.flatMap(({ journal }) => [...journal.keys()].map((key) => key.replace('segment ', '')));
}

test.each<[string, Step[], string[]]>([
  ['a fan and what follows it', [fan(wide(20, read('x'))), emit], ['steps.0@1']],
  ['what comes before a fan, and the fan', [emit, fan(wide(20, read('x')))], ['steps.0@1']],
  [
    'conditions, loops and fans in branches',
    [fan([[given([emit])], [twice(emit, set)], [fan(wide(2, emit))]])],
    ['steps.0@1'],
  ],
  ['a fan in a loop', [twice(fan(wide(3, emit)))], ['steps.0.steps.0@1.1']],
  [
    'a fan where the first failure cancels the others',
    [
      fan(
        [
          [emit, emit],
          [emit, fail],
        ],
        { failFast: true, onError: 'skip' },
      ),
    ],
    ['steps.0@1'],
  ],
  [
    'branches that come to a long step: what follows it is theirs',
    [
      fan([
        [emit, shell, emit],
        [emit, emit],
        [set, emit, shell],
      ]),
    ],
    ['steps.0@1', 'steps.0.branches.0.2@1'],
  ],
  [
    'a branch that begins with a long step waits for no other',
    [fan([[shell], [emit], [emit, emit]])],
    ['steps.0.branches.1.0@1', 'steps.0.branches.2.0@1'],
  ],
  [
    'one that may begin with a long step neither',
    [fan([[given([emit], [shell])], [emit]])],
    ['steps.0.branches.0.0.then.0@1', 'steps.0.branches.1.0@1'],
  ],
  [
    'what a failure is to cancel has to begin',
    [fan([[emit, shell], [emit]], { failFast: true })],
    ['steps.0.branches.0.0@1', 'steps.0.branches.1.0@1'],
  ],
  ['branches that ask nothing of the world', [fan([[set], [given([set])]])], []],
])('%s', async (_what, steps, keys) => {
  expect((await segmentsOf(steps)).toSorted()).toEqual(keys.toSorted());
});

test('a fan of more steps than one segment takes is gone on with by the next', async () => {
  expect(await segmentsOf([fan(wide(410, emit)), emit])).toEqual(['steps.0@1', 'steps.0@1+1', 'steps.0@1+2']);
  const long = [fan(wide(10, twice(...Array.from({ length: 15 }, () => emit))))];
  expect(await segmentsOf(long)).toEqual(['steps.0@1', 'steps.0@1+1']);
});

test('branches that are under way together leave room for the events of each', async () => {
  const wordy: Step = { type: 'emit', event: 'done', data: '$a $b $c $d $e $f' };
  const definition: Definition = {
    name: 'wordy',
    loop: { type: 'once' },
    steps: [fan(wide(150, wordy)), ...Array.from({ length: 20 }, () => shell)],
  };
  const { runs } = await runCase({ definition }, { name: 'segments', segments: true });
  const numbers = runs.flatMap(({ events }) => events.map(({ seq }) => seq));
  expect(numbers.length).toBeGreaterThan(150 * 7);
  expect(new Set(numbers).size).toBe(numbers.length);
});

test('one in which a branch waits is gone on with by the branches', async () => {
  const flaky: Step = { ...given([{ type: 'command', command: 'data/list', params: {} }]), retry: { attempts: 2 } };
  const definition: Definition = {
    name: 'waits',
    loop: { type: 'once' },
    steps: [fan([[flaky, emit], ...wide(210, emit)])],
  };
  const failure = { ok: false as const, failure: { code: 'SCRIPTED', message: 'no', retryable: true } };
  const replies = { 'data/list': [failure, { ok: true as const, value: 'x' }] };
  const { runs, result } = await runCase({ definition, replies }, { name: 'segments', segments: true });
  expect(result.outcome).toBe('completed');
  const keys = runs.flatMap(({ journal }) => [...journal.keys()]);
  // 197 of 210 fit into the first, beside the step itself and the branch that is tried again.
  expect(keys).toHaveLength(1 + 1 + 13);
  expect(keys).not.toContain('segment steps.0@1+1');
});

test('one that the first failure ends is gone on with by the branches, too', async () => {
  const keys = await segmentsOf([fan(wide(210, emit), { failFast: true })]);
  expect(keys).toHaveLength(1 + 11);
});

test('without segments there are none', async () => {
  expect(await segmentsOf([fan(wide(3, emit))], { durability: 'step' })).toEqual([]);
});

/** What the kit's format can say besides: more than one right run, definitions that no check has seen, edits. */
import { expect, test } from 'vitest';
import { compareRun, wayTaken } from '../../authoring/definition-tests/compare.ts';
import { runTestCase, subjectOf, type CaseReport } from '../../authoring/definition-tests/run-case.ts';
import { readCases, type TestCase } from '../../authoring/definition-tests/test-file.ts';
import { NO_FILES } from '../catalogue.ts';

const shell = (command: string): { type: string; command: string } => ({ type: 'shell', command });
const definition = { name: 'case', loop: { type: 'once' }, steps: [shell('a'), shell('b')] };
const lines = ['steps.0@1 shell ok "a"', 'steps.1@1 shell ok "b"'];

function caseOf(value: object): TestCase {
  const read = readCases({ definition, ...value }, 'format');
  if ('mistakes' in read) throw new Error(read.mistakes.join('; '));
  const [only] = read.cases;
  if (only === undefined) throw new Error('there is no case');
  return only;
}

function run(value: object): Promise<CaseReport> {
  const given = caseOf(value);
  return runTestCase(given, subjectOf(given, 'format.sentinel-test.json', NO_FILES));
}

const ways = (...traces: string[][]): object => ({ expect: { either: traces.map((trace) => ({ trace })) } });

test('one of several runs has to be the one', async () => {
  const fits = ways(['other'], lines);
  const { ok, outcome } = await run(fits);
  expect({ ok, way: outcome === null ? null : wayTaken(caseOf(fits).expect, outcome) }).toEqual({ ok: true, way: 1 });
  const { differences } = await run(ways(['other'], ['another']));
  expect(differences).toEqual([{ part: 'trace', expected: ['other'], actual: lines }]);
});

test('what holds in all of them is compared too', async () => {
  const { outcome } = await run({});
  if (outcome === null) throw new Error('nothing ran');
  const given = caseOf({ expect: { outcome: 'failed', either: [{ trace: lines }, { iterations: 7 }] } });
  expect(compareRun(given.expect, outcome).map(({ part }) => part)).toEqual(['outcome']);
});

test('a definition that a check would refuse runs when nothing is to check it', async () => {
  const refused = { definition: { ...definition, steps: [] }, expect: { trace: [] } };
  expect((await run(refused)).problems.map(({ code }) => code)).toEqual(['EMPTY_STEPS']);
  expect((await run({ ...refused, unchecked: true })).ok).toBe(true);
});

test.each([
  [
    'a step of another form',
    { definition: { ...definition, steps: [{ $: 'shell' }] } },
    /the definition is not canonical \(steps\.0\.type: /,
  ],
  [
    'a definition of the library',
    { library: { child: { name: 'child' } } },
    /library\.child is not canonical \(steps: /,
  ],
  ['a file that is not there', { definition: 'nowhere.json' }, /nowhere\.json cannot be read as JSON \(ENOENT/],
])('%s that nothing is to check fails its case, and says why', async (_what, value, says) => {
  const { ok, mistake, outcome } = await run({ ...value, unchecked: true, expect: { trace: [] } });
  expect({ ok, outcome }).toEqual({ ok: false, outcome: null });
  expect(mistake).toMatch(says);
});

test('an edit is made where the script says', async () => {
  const edit = { op: 'update', path: 'steps.1', step: shell('B') };
  const { ok, differences } = await run({
    interruptions: [{ at: 'steps.0@1', when: 'during', do: 'edit', edit }],
    expect: { trace: ['revision 1: update steps.1', 'steps.0@1 shell ok "a"', 'steps.1~1@1 shell ok "B"'] },
  });
  expect({ ok, differences }).toEqual({ ok: true, differences: [] });
});

test.each([
  ['an edit that is not stated', { at: 'steps.0@1', do: 'edit' }],
  ['an edit of a pause', { at: 'steps.0@1', do: 'pause', edit: { op: 'remove', path: 'steps.1' } }],
  [
    'a step that is none',
    { at: 'steps.0@1', do: 'edit', edit: { op: 'add', path: 'steps.1', step: { type: 'shel' } } },
  ],
])('%s is a mistake in the file', (_what, interruption) => {
  expect(readCases({ definition, interruptions: [interruption] }, 'format')).toEqual({
    mistakes: [expect.stringContaining('interruptions.0')],
  });
});

test('a value keeps every key that it has', async () => {
  const reply = JSON.parse('{"__proto__": {"a": 1}, "constructor": 2}') as object;
  const { outcome } = await run({
    definition: {
      ...definition,
      steps: [
        { type: 'command', command: 'data/read', params: { collection: 'c', id: 'x' }, outputTo: 'row' },
        { type: 'emit', event: 'seen', data: '$row' },
      ],
    },
    replies: { 'data/read': reply },
  });
  expect(JSON.stringify(outcome?.effects['steps.1@1'])).toBe(
    '{"event":"seen","data":{"__proto__":{"a":1},"constructor":2}}',
  );
});

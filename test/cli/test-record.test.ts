/** A case made from a run that ended: with what the store holds of it, the run comes out again. */
import { describe, expect, it } from 'vitest';
import { recordRun, type StoredRun } from '../../client/definition-tests/record.ts';
import { runTestCase, subjectOf } from '../../client/definition-tests/run-case.ts';
import { readCases } from '../../client/definition-tests/test-file.ts';
import { stage } from '../../client/simulate/stage.ts';
import type { Json } from '../../language/json.ts';
import type { Definition } from '../../language/model.ts';
import type { RunEvent } from '../../language/run-event.ts';
import { runScenario, STARTS_AT, type Scenario } from '../../workflows/simulation/run-scenario.ts';
import type { ScriptedHost } from '../../workflows/simulation/scripted-host.ts';

const child: Definition = { name: 'child', steps: [{ type: 'shell', command: 'inner', outputTo: 'inner' }], loop: { type: 'count', max: 2 } };
const definition: Definition = {
  name: 'parent',
  inputs: { who: 'world' },
  steps: [
    { type: 'shell', name: 'compile', command: 'make', outputTo: 'made' },
    { type: 'condition', check: '$made.exitCode === 2', then: [{ type: 'command', command: 'code/read', params: { path: 'a' }, onError: 'skip' }] },
    { type: 'sentinel', definition: child, outputTo: 'child' },
    { type: 'command', command: 'data/list', params: { collection: 'c' } },
    { type: 'emit', event: 'over', data: '$who' },
  ],
  loop: { type: 'once' },
};

const replies: NonNullable<Scenario['replies']> = {
  compile: { ok: true, value: { exitCode: 2, stderr: 'x'.repeat(500) } },
  'code/read': { ok: false, failure: { code: 'FILE_NOT_FOUND', message: 'no a' } },
  inner: [{ ok: true, value: { stdout: 'one' } }, { ok: true, value: { stdout: 'two' } }],
  'data/list': { ok: true, value: [{ n: 1 }] },
};

const ended = ({ events, result }: ScriptedHost): RunEvent[] => (result === null ? events : [...events, { type: 'run-finished', seq: 1e6, at: STARTS_AT, key: '', ...result }]);

/** The run as the store would hold it: its row, and the events of all runs with their ends. */
async function stored(scenario: Scenario): Promise<StoredRun> {
  const { runs, result } = await runScenario(scenario, { stage, persona: 'ada', project: '/here' });
  const [outermost, ...nested] = runs;
  if (outermost === undefined) throw new Error('no run');
  return {
    run: {
      handle: 'run',
      name: scenario.definition.name,
      definitionHash: '',
      project: '/here',
      persona: 'ada',
      parent: null,
      inputs: { ...scenario.definition.inputs, ...scenario.inputs },
      startedAt: STARTS_AT,
      status: result.status,
      outcome: result.outcome,
      limit: result.limit ?? null,
      failure: result.failure ?? null,
      outputs: result.outputs,
      iterations: result.iterations,
      finishedAt: STARTS_AT + 1,
    },
    definition: scenario.definition,
    library: {},
    events: ended(outermost),
    nested: nested.map((run) => ({ under: run.walk.input.handle.slice('run/'.length), definition: run.walk.input.definition, events: ended(run) })),
  };
}

interface File {
  inputs: { [name: string]: Json };
  replies: { [key: string]: Json };
  notes?: string[];
}

async function passes(file: unknown): Promise<boolean> {
  const read = readCases(JSON.parse(JSON.stringify(file)), 'file');
  if ('mistakes' in read) throw new Error(read.mistakes.join('; '));
  const [test] = read.cases;
  if (test === undefined) throw new Error('no case');
  const { ok } = await runTestCase(test, subjectOf(test, '/nowhere/x.sentinel-test.json', () => undefined));
  return ok;
}

describe('a recorded run', () => {
  it('comes out again, with what its outputs and its events hold', async () => {
    const { file, unknown } = await recordRun(await stored({ definition, replies, inputs: { who: 'Ada' } }));
    expect(unknown).toEqual([]);
    const recorded = file as unknown as File;
    expect(recorded.inputs).toEqual({ who: 'Ada' });
    expect(recorded.replies).toMatchObject({
      'steps.0@1': { ok: true, value: { exitCode: 2, stderr: 'x'.repeat(500) } },
      'steps.1.then.0@1': { ok: false, failure: { code: 'FILE_NOT_FOUND' } },
      'steps.2@1/steps.0@1': { ok: true, value: { exitCode: 0, stdout: 'one' } },
      'steps.2@1/steps.0@2': { ok: true, value: { exitCode: 0, stdout: 'two' } },
      'steps.3@1': { ok: true, value: [{ n: 1 }] },
    });
    expect(await passes(file)).toBe(true);
  });

  it('says what cannot be known', async () => {
    const long: Scenario = {
      definition: { ...definition, steps: [{ type: 'command', command: 'data/list', params: { collection: 'c' } }, { type: 'emit', event: 'at', data: '$NOW', outputTo: 'at' }] },
      replies: { 'data/list': { ok: true, value: ['y'.repeat(500)] }, at: { ok: true, value: { event: 'at', id: 7 } } },
    };
    const { file, unknown } = await recordRun(await stored(long));
    expect(unknown).toEqual([expect.stringContaining('steps.0@1 ("data/list") gave is too long'), expect.stringContaining('"at" does not come out again')]);
    expect((file as unknown as File).notes).toEqual(unknown);
    expect(await passes(file)).toBe(true);
  });
});

import { describe, expect, test } from 'vitest';
import { stage } from '../../../authoring/simulate/stage.ts';
import type { RunInput } from '../../../interpreter/host.ts';
import type { Effect } from '../../../interpreter/effect.ts';
import { runScenario, type Outcome, type Scenario } from '../../../interpreter/simulation/run-scenario.ts';
import { Script } from '../../../interpreter/simulation/script.ts';
import type { Catalogue } from '../../../language/catalogue.ts';
import type { Definition, Step } from '../../../language/model.ts';
import { runInputOf, startInputOf, type StartInput } from '../../../workflows/messages/start-input.ts';
import { catalogue } from '../../catalogue.ts';
import { MODES, runCase } from '../harness/run-case.ts';

/** The built-in commands and one of a project's own. */
const own: Catalogue = {
  ...catalogue,
  'acme/deploy': { permission: 'write', speed: 'long', timeoutMs: 5_400_000, textField: 'log' },
};
const deploy: Step = { type: 'command', command: 'acme/deploy', outputTo: 'deployed' };
const said: Step = { type: 'emit', event: 'said', data: { text: 'it said: $deployed' } };
const once = (steps: Step[], more: Partial<Definition> = {}): Definition => ({
  name: 'ship',
  loop: { type: 'once' },
  steps,
  ...more,
});
const replies: Scenario['replies'] = { 'acme/deploy': { ok: true, value: { log: 'up and well', url: 'x' } } };
const inputsOf = ({ runs }: Outcome): RunInput[] => runs.map(({ walk }) => walk.input);

const deployIn = (mode: 'readonly' | 'sandboxed'): Promise<Outcome> =>
  runCase({ definition: once([deploy], { mode }), catalogue: own, replies }, { name: 'straight' });

class Noted extends Script {
  readonly effects: Effect[] = [];

  override find(key: string, effect: Effect) {
    this.effects.push(effect);
    return super.find(key, effect);
  }
}

describe("a project's own command", () => {
  test('is performed within its timeout', async () => {
    const scenario = { definition: once([deploy]), catalogue: own, replies };
    const answers = new Noted(scenario);
    const { result } = await runScenario(scenario, { stage, answers });
    expect(result.outcome).toBe('completed');
    expect(answers.effects).toMatchObject([{ type: 'command', command: 'acme/deploy', timeoutMs: 5_400_000 }]);
  });

  test.each(MODES)('is used as text by its text field: $name', async (mode) => {
    const { effects } = await runCase({ definition: once([deploy, said]), catalogue: own, replies }, mode);
    expect(Object.values(effects).at(-1)).toEqual({
      event: 'said',
      data: { text: 'it said: up and well' },
    });
  });

  test('runs in a segment where it is quick', async () => {
    const quick: Catalogue = { 'acme/deploy': { permission: 'read', speed: 'quick', textField: 'log' } };
    for (const known of [quick, own]) {
      const segmented = await runCase(
        { definition: once([deploy]), catalogue: known, replies },
        { name: 'segments', segments: true },
      );
      expect(segmented.runs[0]?.journal.size).toBe(known === quick ? 1 : 0);
    }
  });

  test('is refused by a mode that does not let its class', async () => {
    expect((await deployIn('readonly')).result).toMatchObject({ outcome: 'failed', failure: { code: 'MODE_FORBIDS' } });
    expect((await deployIn('sandboxed')).result.outcome).toBe('completed');
  });

  test('waits for an approval of its class', async () => {
    const definition = once([deploy], { safety: { requireApproval: ['write'] } });
    const answers = { '**': { choice: 'approve', by: 'ada' } } as const;
    const { runs } = await runCase({ definition, catalogue: own, replies, answers }, { name: 'straight' });
    expect(runs[0]?.events.filter(({ type }) => type === 'asked')).toHaveLength(1);
  });
});

describe('what a run knows of commands', () => {
  const reads: Step = { type: 'command', command: 'code/read', params: { path: 'a' } };

  test('is what its definitions name, and a nested run knows what its own name', async () => {
    const definition = once([deploy, { type: 'sentinel', definition: once([reads], { name: 'inner' }) }]);
    const [outer, inner] = inputsOf(await runCase({ definition, catalogue: own, replies }, { name: 'straight' }));
    expect(outer?.catalogue).toEqual({ 'code/read': own['code/read'], 'acme/deploy': own['acme/deploy'] });
    expect(inner?.catalogue).toEqual({ 'code/read': own['code/read'] });
  });

  test('grows by the commands of a definition that a variable holds, for the run that performs it', async () => {
    const given: Step = { type: 'sentinel', definition: { $ref: '$plan' } };
    const inputs = { plan: { name: 'made', loop: { type: 'once' }, steps: [deploy] } } as unknown as Scenario['inputs'];
    for (const mode of MODES) {
      const outcome = await runCase(
        { definition: once([given], { inputs: { plan: null } }), catalogue: own, replies, inputs: inputs ?? {} },
        mode,
      );
      expect(outcome.result.outcome).toBe('completed');
      expect(inputsOf(outcome).map((input) => Object.keys(input.catalogue))).toEqual([[], ['acme/deploy']]);
    }
  });

  test('grows by the commands of an edit, and keeps what it had', async () => {
    const edit = { op: 'add', path: 'steps.1', step: deploy as never } as const;
    const interruptions: Scenario['interruptions'] = [{ at: 'steps.0@1', when: 'during', do: 'edit', edit }];
    const outcome = await runCase(
      { definition: once([{ type: 'shell', command: 'build' }]), catalogue: own, replies, interruptions },
      { name: 'yield every step', yieldEvery: 1 },
    );
    expect(Object.keys(outcome.effects)).toHaveLength(2);
    expect(inputsOf(outcome)[0]?.catalogue).toEqual({ 'acme/deploy': own['acme/deploy'] });
  });

  test('travels from one history to the next', () => {
    const known = { 'acme/deploy': { permission: 'write', speed: 'long' } } as const;
    const start: StartInput = { definition: once([deploy]), project: '/p', persona: 'ada', catalogue: known };
    const input = runInputOf(JSON.parse(JSON.stringify(start)) as StartInput, 'run', 0);
    expect(startInputOf(input, input.limits).catalogue).toEqual(known);
    expect(startInputOf({ ...input, catalogue: {} }, input.limits)).not.toHaveProperty('catalogue');
  });

  test('is all that it can perform: without an entry it is a bug', async () => {
    const scenario = { definition: once([deploy]), catalogue, replies };
    await expect(runScenario(scenario, { stage })).rejects.toThrow(/bug: .*"acme\/deploy"/);
  });
});

/**
 * Whatever the definition, the policy, the limits, the replies and the interruptions: no effect reaches the host that
 * the list of judges has not passed, and none that a rule refuses, or asks about without an answer that lets it.
 *
 * What the rules say is worked out here once more, in another way than the judges do.
 */
import * as fc from 'fast-check';
import { afterAll, expect, test, vi } from 'vitest';
import { stage } from '../../../authoring/simulate/stage.ts';
import { STAGES } from '../../../interpreter/verdict.ts';
import type { Effect } from '../../../interpreter/effect.ts';
import { runScenario, STRAIGHT, type Outcome } from '../../../interpreter/simulation/run-scenario.ts';
import type { ScriptedReply } from '../../../interpreter/simulation/script.ts';
import type { Definition } from '../../../language/model.ts';
import type { Policy, PolicyRule } from '../../../language/policy/policy.ts';
import { catalogue } from '../../catalogue.ts';
import { randomRuns } from '../../random-runs.ts';
import { runScriptedSegment } from '../harness/scripted-segment.ts';
import { ChaosScript, chaosMode } from './chaos-script.ts';
import { hurriedDefinition, TICK } from './random-definitions.ts';

afterAll(() => vi.useRealTimers());

const COMMANDS = ['data/list', 'data/create', 'code/write', 'code/shell/execute'] as const;
const some = <Item>(items: readonly Item[]): fc.Arbitrary<Item[] | undefined> =>
  fc.option(fc.subarray([...items], { minLength: 1 }), { nil: undefined, freq: 2 });

const match = fc
  .record({
    kinds: some(['shell', 'command', 'llm', 'emit', 'sentinel'] as const),
    commands: some(['data/*', 'code/**', ...COMMANDS]),
    permissions: some(['read', 'write', 'shell'] as const),
    by: fc.option(fc.constantFrom('step' as const, 'model' as const), { nil: undefined, freq: 2 }),
  })
  .map((fields) => JSON.parse(JSON.stringify(fields)) as PolicyRule['match']);

const policy: fc.Arbitrary<Policy> = fc
  .array(fc.record({ match, verdict: fc.constantFrom<PolicyRule['verdict']>('allow', 'ask', 'ask', 'refuse') }), {
    minLength: 1,
    maxLength: 4,
  })
  .map((rules) => rules.map((rule, index) => ({ name: `rule-${index}`, ...rule, reason: 'because' })));

const scenario = fc.record({
  definition: hurriedDefinition,
  policies: fc.array(policy, { minLength: 1, maxLength: 2 }),
  mode: fc.constantFrom<Definition['mode']>('full', 'full', 'full', 'readonly'),
  seed: fc.nat(),
});
type Scenario = typeof scenario extends fc.Arbitrary<infer Value> ? Value : never;

/** Notes each effect that was asked for, and when. */
class Watched extends ChaosScript {
  readonly done: { key: string; effect: Effect; at: number }[] = [];

  override find(key: string, effect: Effect): ScriptedReply | null {
    this.done.push({ key, effect, at: Date.now() });
    return super.find(key, effect);
  }
}

const ticks = Array.from({ length: 400 }, (_, nth) => ({ ...TICK, afterMs: nth * 18 }));

async function run({ definition, policies, mode, seed }: Scenario): Promise<Outcome & { answers: Watched }> {
  const answers = new Watched(seed, 'any');
  const outcome = await runScenario(
    { definition: { ...definition, mode }, catalogue, policies, inputs: { list: ['x', 'y'] }, events: ticks },
    {
      answers,
      mode: seed % 4 === 0 ? STRAIGHT : chaosMode(seed),
      segment: runScriptedSegment,
      stage: { ...stage, clockMoved: (now) => void vi.setSystemTime(now) },
      whenStuck: (runs) => runs[0]?.stop(),
    },
  );
  return { ...outcome, answers };
}

const SHELL = 'code/shell/execute';

function kindsOf(effect: Effect): string[] {
  if (effect.type === 'turn') return ['llm'];
  if (effect.type !== 'command') return [effect.type];
  return effect.command === SHELL ? ['command', 'shell'] : ['command'];
}

const commandOf = (effect: Effect): string | null =>
  effect.type === 'shell' ? SHELL : effect.type === 'command' ? effect.command : null;

function classOf(effect: Effect): string | null {
  const command = commandOf(effect);
  if (command === null) return null;
  return { 'data/list': 'read', 'data/create': 'write', 'code/write': 'write', [SHELL]: 'shell' }[command] ?? 'none';
}

function fits({ kinds, commands, permissions, by }: PolicyRule['match'], effect: Effect): boolean {
  const command = commandOf(effect);
  const isGlobbed = (glob: string): boolean =>
    command !== null && new RegExp(`^${glob.replace('**', '.*').replace(/(?<!\.)\*/, '[^/]*')}$`).test(command);
  const isByModel = effect.type === 'command' && effect.call !== undefined;
  if (kinds !== undefined && !kinds.some((kind) => kindsOf(effect).includes(kind))) return false;
  if (commands !== undefined && !commands.some(isGlobbed)) return false;
  if (permissions !== undefined && !permissions.some((one) => one === classOf(effect))) return false;
  return by === undefined || (by === 'model') === isByModel;
}

const said = (policies: readonly Policy[], effect: Effect): PolicyRule['verdict'][] =>
  policies.map((rules) => rules.find((rule) => fits(rule.match, effect))?.verdict ?? 'allow');

/** The question about a turn is that of its step. */
const askedAs = (key: string, { type }: Effect): string => (type === 'turn' ? key.replace(/\/turn\.[^/]*$/, '') : key);

/** When somebody let the action of a key happen. */
function letAt({ runs }: Outcome, key: string): number | undefined {
  for (const host of runs)
    for (const event of host.events)
      if (event.type === 'answered' && host.keyOf(event.id) === key && /^(?:approve|edit)$/.test(event.answer.choice))
        return event.at;
  return undefined;
}

test('no effect happens that the list of judges has not passed', async () => {
  const seen = new Map<string, number>();
  const note = (what: string): void => void seen.set(what, (seen.get(what) ?? 0) + 1);
  await fc.assert(
    fc.asyncProperty(scenario, async (given) => {
      const outcome = await run(given);
      const judged = new Map(
        outcome.runs.flatMap((host) => [...host.judgedLast].map(([key, verdicts]) => [host.keyOf(key), verdicts])),
      );
      for (const { key, effect, at } of outcome.answers.done) {
        const verdicts = judged.get(key);
        const verdict = said(given.policies, effect);
        expect({ key, verdict }).not.toMatchObject({ verdict: expect.arrayContaining(['refuse']) as unknown });
        if (verdict.includes('ask')) {
          const letHappen = letAt(outcome, askedAs(key, effect));
          expect({ key, letHappen }).toEqual({ key, letHappen: expect.any(Number) as number });
          expect(letHappen).toBeLessThanOrEqual(at);
          note(`asked ${effect.type}`);
        }
        if (given.mode === 'readonly') expect(['read', null]).toContain(classOf(effect));
        note(`done ${effect.type}${effect.type === 'command' && effect.call !== undefined ? ' of a model' : ''}`);
        if (verdicts === undefined) {
          note('in a segment');
          continue;
        }
        expect(verdicts.map((one) => one.verdict)).not.toContain('refuse');
        const places = verdicts.map((one) => STAGES.indexOf(one.stage));
        expect(places).toEqual(places.toSorted((a, b) => a - b));
        expect(new Set(places).size).toBe(STAGES.length);
      }
      for (const verdicts of judged.values()) {
        const last = verdicts.at(-1);
        if (last?.verdict === 'refuse') note(`refused by ${last.stage}`);
      }
      if (outcome.runs.some(({ continued }) => continued > 0)) note('continued as new');
      if (outcome.runs.some(({ events }) => events.some(({ type }) => type === 'edited'))) note('edited');
    }),
    randomRuns(1_200, 150),
  );
  // It would hold of runs in which nothing is judged, too.
  const wanted = [
    'done shell',
    'done command',
    'done command of a model',
    'done emit',
    'done sentinel',
    'done turn',
    'asked shell',
    'asked command',
    'asked emit',
    'asked sentinel',
    'asked turn',
    'refused by policy',
    'refused by limits',
    'in a segment',
    'continued as new',
    'edited',
  ];
  expect([...seen.keys()]).toEqual(expect.arrayContaining(wanted));
});

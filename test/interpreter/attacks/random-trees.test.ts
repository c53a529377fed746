/**
 * Trees of runs, made at random in every way in which a run comes to be, each with restrictions and rules of its own:
 * none does an action without the word of the persona whom a run around it names, and none has more than a run around it.
 */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { catalogue } from '../../catalogue.ts';
import type { CommandEffect } from '../../../interpreter/effect.ts';
import { rightsIn } from '../../../client/history/fork-run.ts';
import { approvalRule } from '../../../interpreter/approval-rules.ts';
import { inheritanceOf } from '../../../interpreter/reach.ts';
import type { Walk } from '../../../interpreter/walk-state.ts';
import type { Definition, EscalationRule, Step } from '../../../language/model.ts';
import type { Policy } from '../../../language/policy/policy.ts';
import { defined } from '../../../language/defined.ts';
import { runInputOf, startInputOf, type StartInput } from '../../../workflows/messages/start-input.ts';
import { randomRuns } from '../../random-runs.ts';
import { MODES, runCase } from '../harness/run-case.ts';

const CLASSES = ['write', 'shell', 'delete', 'network'] as const;
const STRICTNESS: readonly EscalationRule['action'][] = ['notify', 'pause', 'abort'];
const MODE_STRICTNESS = ['full', 'sandboxed', 'readonly'] as const;

const says = fc.record({
  mode: fc.option(fc.constantFrom(...MODE_STRICTNESS), { nil: undefined }),
  classes: fc.subarray([...CLASSES]),
  rules: fc.array(
    fc.record({
      action: fc.constantFrom(...STRICTNESS),
      priority: fc.constantFrom('low' as const, 'normal' as const, 'urgent' as const),
    }),
    { maxLength: 2 },
  ),
  steps: fc.option(fc.integer({ min: 1, max: 50 }), { nil: undefined }),
  depth: fc.option(fc.integer({ min: 1, max: 8 }), { nil: undefined }),
  files: fc.subarray(['.env', '.env.test', 'keys/a.pem']),
});
type Says = typeof says extends fc.Arbitrary<infer Made> ? Made : never;

const definitionOf = (
  { mode, classes, rules, steps, depth, files }: Says,
  inner: Step[],
  name = 'made',
): Definition => ({
  name,
  loop: { type: 'once' },
  steps: inner,
  ...defined({ mode }),
  ...(rules.length === 0
    ? {}
    : { escalateOn: rules.map((rule): EscalationRule => ({ condition: 'approval_needed', ...rule })) }),
  safety: {
    requireApproval: classes,
    allowFiles: files,
    ...(steps === undefined ? {} : { budget: { steps } }),
    ...defined({ maxNestingDepth: depth }),
  },
});

const POLICY: Policy = [{ name: 'none', match: {}, verdict: 'refuse', reason: 'nothing may be done' }];

const WAYS = [
  'nested',
  'started by a step',
  'started by a model',
  'continued as new',
  'forked',
  'forked with another definition',
] as const;
type Way = (typeof WAYS)[number];

const startOf = (definition: Definition, nested?: StartInput['nested']): StartInput => ({
  definition,
  project: '/',
  persona: 'ada',
  ...defined({ nested }),
});

/** What a run starts with that comes to be out of another one. */
function next(start: StartInput, way: Way, definition: Definition): StartInput {
  const around = runInputOf(start, 'h', 0);
  switch (way) {
    case 'nested':
      return startOf(definition, { depth: around.depth + 1, parent: around.handle, limits: around.limits });
    case 'continued as new':
      return startInputOf(around, around.limits);
    case 'forked':
      return { ...startOf(start.definition, rightsIn(start).inherited), ...ownPolicies(start) };
    case 'forked with another definition':
      return { ...startOf(definition, rightsIn(start).inherited), ...ownPolicies(start) };
    case 'started by a step':
    case 'started by a model': {
      const call = way === 'started by a model' ? { conversation: 'c', turn: 1, call: 0, id: 'i' } : undefined;
      const params = { definition: {} };
      const asked = { command: 'sentinel/run', params, reach: { tools: ['code/read'] }, call };
      const input = { ...around, catalogue };
      return startOf(definition, inheritanceOf({ input } as Walk, asked as unknown as CommandEffect));
    }
    default:
      return way satisfies never;
  }
}

/** A fork starts with them, too. */
const ownPolicies = ({ policies }: StartInput): Pick<StartInput, 'policies'> => defined({ policies });

/** The same run, or one in its place. */
const staysAt = (way: Way): boolean => way === 'continued as new' || way.startsWith('forked');

/** What a definition says of a class: the rule that counts where several do. */
function ruleOf({ classes, rules }: Says, name: (typeof CLASSES)[number]): EscalationRule['action'] | null {
  if (!classes.includes(name)) return null;
  const ranks = ['low', 'normal', 'urgent'];
  const best = rules.toSorted((a, b) => ranks.indexOf(b.priority) - ranks.indexOf(a.priority))[0];
  return best?.action ?? 'pause';
}

test('whatever way a run comes to be, it is held to all that the runs around it say', () => {
  fc.assert(
    fc.property(
      says,
      fc.array(fc.record({ way: fc.constantFrom(...WAYS), said: says }), { maxLength: 6 }),
      (first, line) => {
        let start: StartInput = { ...startOf(definitionOf(first, [])), policies: [POLICY] };
        const around: Says[] = [first];
        for (const { way, said } of line) {
          const before = runInputOf(start, 'h', 0);
          start = next(start, way, definitionOf(said, []));
          const input = runInputOf(start, 'h', 0);
          // Only a person forks with another definition, which stands in the place of the run's own.
          if (way === 'forked with another definition') around.splice(-1, 1, said);
          expect(input.limits.policies).toEqual([POLICY]);
          for (const name of CLASSES) {
            const stated = around.flatMap((one) => ruleOf(one, name) ?? []);
            if (stated.length === 0) continue;
            expect(input.limits.requireApproval).toContain(name);
            const bound = Math.max(...stated.map((action) => STRICTNESS.indexOf(action)));
            expect(STRICTNESS.indexOf(approvalRule(input.limits, name))).toBeGreaterThanOrEqual(bound);
          }
          const modes = around.map(({ mode = 'full' }) => MODE_STRICTNESS.indexOf(mode));
          expect(MODE_STRICTNESS.indexOf(input.limits.mode ?? 'full')).toBeGreaterThanOrEqual(Math.max(...modes));
          const depths = around.flatMap(({ depth }) => depth ?? []);
          if (depths.length > 0) expect(input.limits.nestingDepth).toBeLessThanOrEqual(Math.min(...depths));
          for (const file of input.limits.files ?? [])
            expect(around.every(({ files }) => files.includes(file))).toBe(true);
          expect(input.depth).toBe(staysAt(way) ? before.depth : before.depth + 1);
          if (way === 'nested' || way === 'continued as new' || way === 'forked') {
            const { steps } = before.limits.budget ?? {};
            if (steps !== undefined) expect(input.limits.budget?.steps).toBeLessThanOrEqual(steps);
          }
          if (!staysAt(way)) around.push(said);
        }
      },
    ),
    randomRuns(5_000),
  );
});

/** By this name a definition is one that the run refers to by a name. */
const SAVED = 'saved';

/** The same steps, with those definitions put under names of their own. */
function referring(block: readonly Step[], library: { [name: string]: Definition }): Step[] {
  const within = (steps: readonly Step[]): Step[] => referring(steps, library);
  return block.map((step): Step => {
    if (step.type === 'loop') return { ...step, steps: within(step.steps) };
    if (step.type === 'condition') return { ...step, then: within(step.then ?? []) };
    if (step.type === 'parallel') return { ...step, branches: (step.branches ?? []).map(within) };
    if (step.type !== 'sentinel' || '$ref' in step.definition) return step;
    const definition = { ...step.definition, steps: within(step.definition.steps) };
    if (definition.name !== SAVED) return { ...step, definition };
    const name = `${SAVED}-${Object.keys(library).length}`;
    library[name] = { ...definition, name };
    return { ...step, definition: { $ref: name } };
  });
}

const act: Step = { type: 'shell', command: 'act', onError: 'skip' };
const { block } = fc.letrec<{ block: Step[]; step: Step }>((tie) => ({
  block: fc.array(tie('step'), { minLength: 1, maxLength: 2 }),
  step: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constant(act),
    fc.tuple(says, tie('block')).map(([said, inner]): Step => ({
      type: 'sentinel',
      definition: definitionOf({ ...said, steps: undefined, depth: undefined, mode: undefined }, inner, 'inner'),
      onError: 'skip',
    })),
    fc.tuple(says, tie('block')).map(([said, inner]): Step => ({
      type: 'sentinel',
      definition: definitionOf({ ...said, steps: undefined, depth: undefined, mode: undefined }, inner, SAVED),
      onError: 'skip',
    })),
    tie('block').map((inner): Step => ({ type: 'loop', loop: { type: 'count', max: 2 }, steps: inner })),
    tie('block').map((inner): Step => ({ type: 'condition', check: 'true', then: inner, always: [act] })),
    tie('block').map((inner): Step => ({ type: 'parallel', branches: [inner, [act]] })),
  ),
}));

test('no action happens that the persona of the outermost run rejects, and none twice that it approves once', async () => {
  await fc.assert(
    fc.asyncProperty(block, fc.constantFrom(...MODES), async (steps, mode) => {
      const library: { [name: string]: Definition } = {};
      const definition: Definition = {
        name: 'outermost',
        loop: { type: 'once' },
        steps: referring(steps, library),
        safety: { requireApproval: ['shell'] },
      };
      const rejected = await runCase({ definition, library, answers: { '**': { choice: 'reject' } } }, mode);
      expect(Object.keys(rejected.effects).filter((key) => isAct(rejected.effects[key]))).toEqual([]);
      const approved = await runCase({ definition, library, answers: { '**': { choice: 'approve' } } }, mode);
      const asked = approved.runs.flatMap(({ events }) => events.filter(({ type }) => type === 'asked'));
      expect(Object.keys(approved.effects).filter((key) => isAct(approved.effects[key]))).toHaveLength(asked.length);
    }),
    randomRuns(400),
  );
});

const isAct = (effect: unknown): boolean => JSON.stringify(effect).includes('"command":"act"');

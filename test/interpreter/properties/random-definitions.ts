/** Small definitions of every kind of step that runs, and replies that depend on nothing but the step's key. */
import * as fc from 'fast-check';
import type { Json } from '../../../language/json.ts';
import type { Definition, LoopConfig, ParallelStep, Step } from '../../../language/model.ts';
import type { ScriptedReply } from '../../../interpreter/simulation/script.ts';

const names = ['a', 'b', 'c'] as const;
const name = fc.constantFrom(...names);
const outputTo = fc.option(name, { nil: undefined });
const check = fc.constantFrom('$a', '!$b', '$c.success', '$iteration < 2', '$a == $b', '$list.length > 1');
/** What models may call; the last of them is quick. */
const TOOLS = ['code/write', 'code/shell/execute', 'data/list'] as const;
const template = fc.constantFrom<Json>('$a', 'is $b and $missing', { deep: ['$c', '$list[0]'] }, null, 7);
const onError = fc.constantFrom('fail' as const, 'skip' as const);
const retry = fc.option(fc.record({ attempts: fc.integer({ min: 1, max: 3 }), backoffMs: fc.constant(7) }), {
  nil: undefined,
  freq: 3,
});

function present<Fields extends object>(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields;
}

const leaf: fc.Arbitrary<Step> = fc.oneof(
  fc
    .record({ outputTo, onError, retry })
    .map((fields): Step => present({ type: 'shell', command: 'echo $a', ...fields }) as Step),
  fc
    .record({
      command: fc.constantFrom('data/list', 'data/create', 'code/write'),
      data: template,
      outputTo,
      onError,
      retry,
    })
    .map(
      ({ command, data, ...fields }): Step =>
        present({ type: 'command', command, params: { data }, ...fields }) as Step,
    ),
  fc.record({ data: template }).map((fields): Step => ({ type: 'emit', event: 'happened', ...fields })),
  fc
    .record({ durationMs: fc.constantFrom(0, 3, '$missing'), onError, retry })
    .map((fields): Step => present({ type: 'sleep', ...fields }) as Step),
  fc
    .record({ variable: name, value: template, onError })
    .map(({ variable, value, ...fields }): Step => ({ type: 'set', values: { [variable]: value }, ...fields })),
  fc
    .record({ onError, retry })
    .map((fields): Step => present({ type: 'fail', message: 'no $a', code: 'NO', ...fields }) as Step),
  fc
    .record({
      prompt: fc.constantFrom('Look at $a', 'Is $b more than $missing?'),
      tools: fc.option(fc.constant([...TOOLS]), { nil: undefined }),
      parseToolCalls: fc.option(fc.constant(true), { nil: undefined, freq: 2 }),
      maxTurns: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined, freq: 2 }),
      outputTo,
      onError,
      retry,
    })
    .map((fields): Step => present({ type: 'llm', model: 'auto', ...fields }) as Step),
);

const loop: fc.Arbitrary<LoopConfig> = fc.oneof(
  fc.constant<LoopConfig>({ type: 'once' }),
  fc.integer({ min: 0, max: 2 }).map((max): LoopConfig => ({ type: 'count', max })),
  fc.constant<LoopConfig>({ type: 'count', max: '$list.length', over: '$list', as: 'a' }),
  check.map((expression): LoopConfig => ({ type: 'until', check: expression, maxIterations: 2 })),
  check.map((expression): LoopConfig => ({ type: 'while', check: expression, maxIterations: 2 })),
  fc.constant<LoopConfig>({ type: 'continuous', intervalMs: 20, max: 2 }),
);

/** What steps are made of. */
interface Kinds {
  leaf: fc.Arbitrary<Step>;
  loop: fc.Arbitrary<LoopConfig>;
  /** What ends steps that hold others before all in them has ended. */
  cut?: fc.Arbitrary<Pick<ParallelStep, 'failFast' | 'timeoutMs'>>;
}

const uncut = fc.constant<Pick<ParallelStep, 'failFast' | 'timeoutMs'>>({});

function block(depth: number, stepsMax: number, kinds: Kinds): fc.Arbitrary<Step[]> {
  return fc.array(depth === 0 ? kinds.leaf : step(depth, kinds), { maxLength: stepsMax });
}

function step(depth: number, kinds: Kinds): fc.Arbitrary<Step> {
  const inner = block(depth - 1, 3, kinds);
  const cut = kinds.cut ?? uncut;
  const within = cut.map(({ timeoutMs }) => ({ timeoutMs }));
  return fc.oneof(
    { weight: 4, arbitrary: kinds.leaf },
    fc
      .record({
        check,
        then: inner,
        else: fc.option(inner, { nil: undefined }),
        always: fc.option(block(0, 2, kinds), { nil: undefined }),
        onError,
        retry,
        within,
      })
      .map(({ within: bound, ...fields }): Step => present({ type: 'condition', ...fields, ...bound }) as Step),
    fc
      .record({ loop: kinds.loop, steps: inner, outputTo, retry, within })
      .map(({ within: bound, ...fields }): Step => present({ type: 'loop', ...fields, ...bound }) as Step),
    fc
      .record({
        branches: fc.array(inner, { maxLength: 3 }),
        maxConcurrency: fc.option(fc.integer({ min: 1, max: 2 }), { nil: undefined }),
        onError,
        retry,
        cut,
      })
      .map(({ cut: bound, ...fields }): Step => present({ type: 'parallel', ...fields, ...bound }) as Step),
    fc
      .record({
        steps: inner,
        maxConcurrency: fc.option(fc.integer({ min: 1, max: 2 }), { nil: undefined }),
        outputTo,
        onError,
        retry,
        cut,
      })
      .map(({ cut: { failFast = kinds.cut !== undefined, timeoutMs }, ...fields }): Step => {
        const itemErrors = failFast ? 'fail' : 'collect';
        return present({ type: 'parallel', over: '$list', as: 'a', itemErrors, ...fields, timeoutMs }) as Step;
      }),
    fc
      .record({ steps: inner, loop: kinds.loop, outputTo, onError, retry })
      .map(
        ({ steps, loop: config, ...fields }): Step =>
          present({ type: 'sentinel', definition: { name: 'child', loop: config, steps }, ...fields }) as Step,
      ),
  );
}

function definitionOf(kinds: Kinds): fc.Arbitrary<Definition> {
  return fc
    .record({ steps: block(2, 4, kinds), loop: kinds.loop, always: fc.option(block(1, 2, kinds), { nil: undefined }) })
    .map((fields) => present({ name: 'random', ...fields, safety: { maxIterations: 3 } }));
}

/** With clean-ups, which no budget holds back. */
export const cleaningDefinition: fc.Arbitrary<Definition> = definitionOf({ leaf, loop });

export const definition: fc.Arbitrary<Definition> = cleaningDefinition.map(
  (given) =>
    JSON.parse(JSON.stringify(given), (key, value: unknown) => (key === 'always' ? undefined : value)) as Definition,
);

/** Events of this name come all the time; they differ only in their id and their time. */
export const TICK = { name: 'tick', data: {} };

const waiting: fc.Arbitrary<Step> = fc.oneof(
  fc
    .record({ outputTo, onError, retry })
    .map((fields): Step => present({ type: 'approval', message: 'Go on with $a?', ...fields }) as Step),
  fc.record({ outputTo }).map((fields): Step => present({ type: 'watch', event: TICK.name, ...fields }) as Step),
);

const waitingLoop = (bounds: { timeoutMs?: number }): fc.Arbitrary<LoopConfig> =>
  fc.oneof(
    { weight: 6, arbitrary: loop },
    { weight: 1, arbitrary: fc.constant<LoopConfig>({ type: 'event', event: TICK.name, max: 2, ...bounds }) },
  );

const waitingLeaf = fc.oneof({ weight: 3, arbitrary: leaf }, { weight: 1, arbitrary: waiting });

const asking: fc.Arbitrary<Partial<Definition>> = fc.oneof(
  fc.constant({}),
  fc.constant<Partial<Definition>>({ escalateOn: [{ condition: 'error', action: 'pause' }] }),
  fc.constant<Partial<Definition>>({ safety: { maxIterations: 3, requireApproval: ['shell'] } }),
);

/** With steps that wait for a person or an event, and runs that ask about failures and actions. */
export const waitingDefinition: fc.Arbitrary<Definition> = fc
  .tuple(
    definitionOf({
      leaf: waitingLeaf,
      loop: waitingLoop({}),
    }),
    asking,
  )
  .map(([random, terms]) => ({ ...random, ...terms }));

/** Besides, steps end in the middle: when their time is up, or a branch beside them fails. When they do is chance. */
export const hurriedDefinition: fc.Arbitrary<Definition> = fc
  .tuple(
    definitionOf({
      leaf: fc.oneof(
        { weight: 5, arbitrary: waitingLeaf },
        { weight: 1, arbitrary: fc.constant<Step>({ type: 'watch', event: 'never', timeoutMs: 40, onError: 'skip' }) },
      ),
      loop: fc.oneof(
        { weight: 3, arbitrary: waitingLoop({}) },
        { weight: 1, arbitrary: waitingLoop({ timeoutMs: 30 }) },
      ),
      cut: fc
        .record({
          failFast: fc.option(fc.boolean(), { nil: undefined }),
          timeoutMs: fc.option(fc.integer({ min: 1, max: 80 }), { nil: undefined, freq: 3 }),
        })
        .map(present),
    }),
    asking,
    fc.constantFrom<Definition['safety']>(
      {},
      {},
      { budget: { steps: 12 } },
      { budget: { steps: 6 }, onTimeout: 'pause' },
      { timeoutMs: 150 },
    ),
  )
  .map(([random, terms, safety]) => ({
    ...random,
    ...terms,
    loop: untimed(random.loop),
    safety: { maxIterations: 3, ...terms.safety, ...safety },
  }));

/** A time of the run's own loop is the run's: where the run is held at it, its steps are done again. */
function untimed(config: LoopConfig): LoopConfig {
  return config.type === 'event' ? { type: 'event', event: config.event, max: 2 } : config;
}

const values: Json[] = [0, 1, true, false, 'text', null, [1, 2], { success: false }, { success: true, score: 3 }];

/** The same key always gets the same reply; one in twelve is a failure. */
export function answerFor(seed: number): (key: string) => ScriptedReply {
  return (key) => {
    const hash = hashOf(seed, key);
    const tookMs = 1 + (hash % 5);
    const turn = turnIn(key);
    if (turn !== null) return { ...turnOf(turn, hash >>> 4), tookMs };
    if (hash % 12 === 0) return { ok: false, failure: { code: 'REFUSED' }, tookMs };
    return { ok: true, value: values[(hash >>> 4) % values.length] ?? null, tookMs };
  };
}

/** The number of the turn that a key is of. */
function turnIn(key: string): number | null {
  const [, number] = /\/turn\.(\d+)(?:#\d+)?$/.exec(key) ?? [];
  return number === undefined ? null : Number(number);
}

const CALLS: Json[] = [
  [{ name: 'code/write', input: { path: 'a', content: 'b' } }],
  [
    { name: 'data/list', input: { collection: 'c' } },
    { name: 'code/shell/execute', input: { command: 'true' } },
  ],
  [{ name: 'no/such-tool' }, { name: 'data/list', input: { collection: 'c' } }],
  [{ name: 'data/list', invalid: '[1' }],
];
/** Of turns that give no answer: what is waited for, and what is not. */
const REFUSALS = ['MODEL_RATE_LIMITED', 'MODEL_ANSWER_BROKEN', 'MODEL_REQUEST_REFUSED'];

/** A model that calls for a few turns, is refused now and then, and answers. */
function turnOf(turn: number, hash: number): ScriptedReply {
  const usage = { tokens: 1 + (hash % 50) };
  if (hash % 9 === 0) return { ok: false, failure: { code: REFUSALS[(hash >>> 4) % REFUSALS.length] ?? '' } };
  if (turn < 4 && hash % 9 < 4) return { ok: true, value: { calls: CALLS[(hash >>> 4) % CALLS.length] ?? [] }, usage };
  return { ok: true, value: values[(hash >>> 4) % values.length] ?? null, usage };
}

export function hashOf(seed: number, key: string): number {
  let hash = seed;
  for (const char of key) hash = (Math.imul(hash, 31) + (char.codePointAt(0) ?? 0)) >>> 0;
  return hash;
}

/** How the cycle of a repository stands, what it has been through, and what can be done with it. */
import * as z from 'zod';
import { Value } from '../../language/model.ts';
import type { Json } from '../../language/json.ts';
import { type Command, type Context, defineCommand } from '../../operations/command.ts';
import { Failure } from '../../world/failures/failures.ts';
import { ControlName, StateName } from './cycle-commands.ts';
import { getControls, getStatus } from './machine/shown.ts';
import { CYCLE_FAILURES } from './stated-failures.ts';
import { cycleIn, cycleNamed, cyclesIn, historyOf } from './store.ts';

const listMax = 1_000;

const Limit = z.number().int().positive().max(listMax);
const Entry = z.strictObject({ from: StateName, to: StateName, timestamp: z.number(), context: z.string().nullable() });

const Shown = z.strictObject({
  state: z.enum(['active', 'error', 'idle']),
  primaryMetric: z.string(),
  secondaryMetric: z.string(),
  lastActivity: z.number().nullable(),
  message: z.string().nullable(),
  currentState: StateName,
  isPaused: z.boolean(),
  cycle: z.number().nullable(),
  handle: z.string().nullable(),
  error: z.string().nullable(),
  cycleContext: Value,
  stateHistory: z.array(Entry),
  text: z.string(),
});

async function statusIn(context: Context): Promise<z.infer<typeof Shown>> {
  const { id, handle, machine, transitions } = await cycleIn(context);
  const status = getStatus(machine, transitions);
  const { currentState, isPaused, cycleContext, stateHistory, error } = machine;
  const lines = [
    `${status.primaryMetric}${isPaused ? ' (paused)' : ''}`,
    status.secondaryMetric,
    ...(cycleContext === null ? [] : [`Goal: ${cycleContext.goal}`]),
    ...(error === null ? [] : [`Error: ${error}`]),
  ];
  return {
    ...status,
    currentState,
    isPaused,
    cycle: id,
    handle,
    error,
    cycleContext: cycleContext as unknown as Json,
    stateHistory: [...stateHistory],
    text: lines.join('\n'),
  };
}

const CycleRow = z.strictObject({
  cycle: z.number(),
  goal: z.string(),
  state: StateName,
  handle: z.string(),
  persona: z.string(),
  startedAt: z.number(),
  updatedAt: z.number(),
  error: z.string().nullable(),
});

const nothing = (): null => null;

export const lookingCommands: Command[] = [
  defineCommand({
    name: 'cycle/status',
    description: 'Says how the cycle of the repository stands, with its latest transitions.',
    permission: 'read',
    speed: 'quick',
    textField: 'text',
    params: z.strictObject({}),
    result: Shown,
    run: (_params, context) => statusIn(context),
  }),
  defineCommand({
    name: 'cycle/controls',
    description: 'Lists what a person can do with the cycle as it stands; cycle/press does it.',
    permission: 'read',
    speed: 'quick',
    params: z.strictObject({}),
    result: z.array(z.strictObject({ id: ControlName, label: z.string() })),
    async run(_params, context) {
      const { machine } = await cycleIn(context);
      const controls = getControls(machine, { startTest: nothing, pause: nothing, resume: nothing });
      return controls.map(({ id, label }) => ({ id, label }));
    },
  }),
  defineCommand({
    name: 'cycle/history',
    description: 'Lists the transitions of the repository, or of one cycle, in order.',
    permission: 'read',
    speed: 'quick',
    params: z.strictObject({ limit: Limit.default(100), cycle: z.number().int().positive().optional() }),
    result: z.array(Entry),
    run: async ({ limit, cycle }, context) =>
      (await historyOf(context, { limit, cycle: cycle ?? null })).map((entry) => ({ ...entry })),
  }),
  defineCommand({
    name: 'cycle/list',
    description: 'Lists the cycles of the repository, the latest first.',
    permission: 'read',
    speed: 'quick',
    params: z.strictObject({ limit: Limit.default(50) }),
    result: z.array(CycleRow),
    run: ({ limit }, context) => cyclesIn(context, limit),
  }),
  defineCommand({
    name: 'cycle/show',
    description: 'Shows one cycle: what it is about, and its transitions.',
    permission: 'read',
    speed: 'quick',
    failures: CYCLE_FAILURES,
    params: z.strictObject({ cycle: z.number().int().positive() }),
    result: CycleRow.extend({ about: Value, history: z.array(Entry) }),
    async run({ cycle }, context) {
      const found = await cycleNamed(context, cycle);
      if (found === null) throw new Failure('CYCLE_NONE', `there is no cycle ${cycle} in the repository`);
      return { ...found.row, about: found.about, history: await historyOf(context, { limit: listMax, cycle }) };
    },
  }),
];

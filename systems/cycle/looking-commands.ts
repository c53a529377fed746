/** How the cycle of a repository stands, what it has been through, and what can be done with it. */
import * as z from 'zod';
import { Value } from '../../language/model.ts';
import { isJsonObject, type Json } from '../../language/json.ts';
import { visible } from '../../language/events/visible.ts';
import { type Command, type Context, defineCommand } from '../../operations/command.ts';
import { Failure } from '../../world/failures/failures.ts';
import { ControlName, StateName } from './cycle-commands.ts';
import { PERSONS_HANDLE } from '../../operations/caller.ts';
import type { Entry as Transition, Machine } from './machine/machine.ts';
import { getControls, getStatus } from './machine/shown.ts';
import { CYCLE_FAILURES } from './stated-failures.ts';
import { cycleIn, cycleNamed, cyclesIn, historyOf, type NamedCycle } from './store.ts';

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

/** The run of the cycle has ended without bringing it home. */
async function hasEnded(context: Context, handle: string | null): Promise<boolean> {
  if (handle === null || handle === PERSONS_HANDLE) return false;
  const run = await context.store.runs.find(handle);
  return run === null || run.finishedAt !== null;
}

/** What a model or a person wrote makes no line of its own, which could look like one of ours. */
const inLine = (text: string): string => visible(text.replaceAll(/\s+/g, ' ').trim());

/** What a person types next. */
function nextStep({ currentState, isPaused }: Machine, handle: string | null, isAbandoned: boolean): string {
  if (currentState === 'IDLE') return 'sentinel cycle "GOAL"';
  if (isAbandoned) return 'its run has ended; sentinel cycle reset';
  if (handle === null || handle === PERSONS_HANDLE) return 'sentinel cycle reset';
  if (isPaused) return 'sentinel cycle press resume';
  if (currentState === 'AWAITING_CONTEXT_APPROVAL' || currentState === 'AWAITING_PROPOSAL_APPROVAL')
    return `sentinel inbox show ${handle}, then one of the answers that it prints`;
  return `sentinel follow ${handle}`;
}

async function statusIn(context: Context): Promise<z.infer<typeof Shown>> {
  const { id, handle, machine, transitions } = await cycleIn(context);
  const status = getStatus(machine, transitions);
  const { currentState, isPaused, cycleContext, stateHistory, error } = machine;
  const lines = [
    `${status.primaryMetric}${isPaused ? ' (paused)' : ''}`,
    status.secondaryMetric,
    ...(cycleContext === null ? [] : [`Goal: ${inLine(cycleContext.goal)}`]),
    ...(error === null ? [] : [`Error: ${inLine(error)}`]),
    ...(handle === null || handle === PERSONS_HANDLE ? [] : [`Run: ${handle}`]),
    `Next: ${nextStep(machine, handle, await hasEnded(context, handle))}`,
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
  durationMs: z.number().describe('from its start to its latest transition'),
  error: z.string().nullable(),
});

const timeOf = (ms: number): string => new Date(ms).toISOString();

/** One cycle for people: what it was about, what became of it, and what was approved. */
function wholeText({ row, about }: NamedCycle, history: readonly Transition[]): string {
  const { changeset, approved = null, reflections = null } = about;
  const { change = null, diff = null } = typeof changeset === 'string' && isJsonObject(approved) ? approved : {};
  const learnt = (Array.isArray(reflections) ? reflections : []).flatMap((one) =>
    isJsonObject(one) && typeof one['insight'] === 'string' ? [`Learnt: ${inLine(one['insight'])}`] : [],
  );
  return [
    `Cycle ${row.cycle}: ${inLine(row.goal)}`,
    `State: ${row.state}`,
    ...(row.error === null ? [] : [`Error: ${inLine(row.error)}`]),
    ...(row.handle === PERSONS_HANDLE ? [] : [`Run: ${row.handle}`]),
    `Started: ${timeOf(row.startedAt)} by ${inLine(row.persona)}`,
    ...learnt,
    ...history.map(({ from, to, timestamp }) => `${timeOf(timestamp)}  ${from} -> ${to}`),
    ...(typeof change === 'string' ? [`Approved: ${inLine(change)}`] : []),
    ...(typeof diff === 'string' ? [diff] : []),
  ].join('\n');
}

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
    description: 'Shows one cycle: what it is about, the diff of the changeset that was approved, and its transitions.',
    permission: 'read',
    speed: 'quick',
    failures: CYCLE_FAILURES,
    textField: 'text',
    params: z.strictObject({ cycle: z.number().int().positive() }),
    result: CycleRow.extend({ about: Value, history: z.array(Entry), text: z.string() }),
    async run({ cycle }, context) {
      const found = await cycleNamed(context, cycle);
      if (found === null) throw new Failure('CYCLE_NONE', `there is no cycle ${cycle} in the repository`);
      const history = await historyOf(context, { limit: listMax, cycle });
      return { ...found.row, about: found.about, history, text: wholeText(found, history) };
    },
  }),
];

/** `cycle/…`: the machine of a repository is started, moved, looked at and reset; its row and its event are one commit. */
import * as z from 'zod';
import { Value } from '../../language/model.ts';
import type { Json } from '../../language/json.ts';
import { type Command, type Context, defineCommand } from '../../operations/command.ts';
import { PERSONS_HANDLE } from '../../operations/caller.ts';
import { simulatedText } from '../../operations/predicted.ts';
import { Failure } from '../../world/failures/failures.ts';
import {
  type CycleContext,
  INITIAL,
  type Machine,
  type Moved,
  pauseCycle,
  reset,
  resumeCycle,
  startCycle,
  transition,
} from './machine/machine.ts';
import { getControls, NO_CYCLE, PRESSED, type Pressed, TEST_GOAL } from './machine/shown.ts';
import { STATES } from './machine/states.ts';
import { CYCLE_FAILURES } from './stated-failures.ts';
import { begin, type Cycle, cycleIn, keep, keepMachine, ownCycle } from './store.ts';

const goalLengthMax = 10_000;

export const StateName = z.enum(STATES);
const Goal = z.string().trim().min(1).max(goalLengthMax);

const Move = z.strictObject({
  ok: z.boolean(),
  cycle: z.number().nullable(),
  from: StateName,
  to: StateName,
  level: z.enum(['info', 'error']),
  message: z.string(),
});
type Move = z.infer<typeof Move>;

const moveOf = (cycle: number | null, before: Machine, { ok, machine, log }: Moved): Move => ({
  ok,
  cycle,
  from: before.currentState,
  to: machine.currentState,
  ...log,
});

/** A cycle whose run has ended without it goes home, so that another can begin. */
async function endAbandoned(context: Context, cycle: Cycle): Promise<Cycle> {
  const { id, handle, machine } = cycle;
  if (id === null || handle === null || handle === PERSONS_HANDLE || handle === context.run.handle) return cycle;
  const run = await context.store.runs.find(handle);
  if (run !== null && run.finishedAt === null) return cycle;
  const { machine: home, moves } = reset(machine, context.now());
  for (const one of moves) await keep(context, id, one);
  return { ...cycle, id: null, handle: null, machine: home };
}

async function start(goal: string, context: Context): Promise<Move> {
  const cycle = await endAbandoned(context, await cycleIn(context, { forUpdate: true }));
  const moved = startCycle(cycle.machine, goal, context.now());
  const id = moved.ok ? await begin(context, moved) : null;
  if (id !== null) return moveOf(id, cycle.machine, moved);
  const { handle } = moved.ok ? await cycleIn(context) : cycle;
  throw new Failure(
    'CYCLE_UNDER_WAY',
    `a cycle is under way in ${cycle.repository}, of ${handle === null || handle === PERSONS_HANDLE ? 'a person' : `the run ${handle}`}; wait for its end, or stop that run and reset the cycle`,
  );
}

const About = z.strictObject({
  selectedFiles: z.array(z.string()).optional(),
  blueprint: z.string().nullable().optional(),
  plan: Value.optional(),
  metadata: z.record(z.string(), Value).optional(),
});

/** A run that moves its cycle is not held, whatever was pressed before it was resumed. */
const resumed = (machine: Machine, { caller }: Context): Machine =>
  caller.kind === 'step' ? (resumeCycle(machine) ?? machine) : machine;

const withAbout = (machine: Machine, about: z.infer<typeof About>): Machine =>
  machine.cycleContext === null
    ? machine
    : { ...machine, cycleContext: { ...machine.cycleContext, ...(about as Partial<CycleContext>) } };

const Moving = z.strictObject({
  to: StateName,
  why: z.string().max(goalLengthMax).optional().describe('of an error'),
  must: z.boolean().optional().describe('fails the step where there is no such edge'),
  about: About.optional().describe('what the cycle is about from now on'),
});

async function move({ to, why, must, about = {} }: z.infer<typeof Moving>, context: Context): Promise<Move> {
  const { id, machine } = await ownCycle(context);
  const at = withAbout(resumed(machine, context), about);
  const moved = to === 'APPLYING_CHANGESET' ? unapproved(at) : transition(at, to, context.now(), why ?? null);
  if (moved.ok) await keep(context, id, moved);
  else if (must === true) throw new Failure('CYCLE_EDGE_MISSING', moved.log.message);
  return moveOf(id, machine, moved);
}

/** The one edge that takes a person's answer. */
const unapproved = (machine: Machine): Moved => ({
  ok: false,
  machine,
  log: {
    level: 'error',
    message: `invalid transition: ${machine.currentState} -> APPLYING_CHANGESET; only "changeset/approve" leads there`,
  },
  event: null,
});

async function goHome(context: Context): Promise<{ moves: Move[]; text: string }> {
  const cycle = await cycleIn(context, { forUpdate: true });
  if (cycle.id === null) return { moves: [], text: NO_CYCLE };
  const { id } = cycle;
  if (cycle.handle !== context.run.handle && (await endAbandoned(context, cycle)).id !== null)
    throw new Failure(
      'CYCLE_UNDER_WAY',
      `the run ${String(cycle.handle)} is at work on the cycle; stop it first ("sentinel stop ${String(cycle.handle)}")`,
    );
  if (cycle.handle !== context.run.handle) return { moves: [], text: 'The cycle of a run that has ended went home.' };
  const { moves } = reset(cycle.machine, context.now());
  for (const one of moves) await keep(context, id, one);
  const told = moves.map((one) => moveOf(id, { ...INITIAL, currentState: one.event?.data.from ?? 'IDLE' }, one));
  return { moves: told, text: told.map(({ message }) => message).join('\n') };
}

export const ControlName = z.enum(['test-cycle', 'pause', 'resume']);

async function press(id: z.infer<typeof ControlName>, context: Context): Promise<Pressed> {
  const cycle = await cycleIn(context);
  const controls = getControls(cycle.machine, {
    startTest: async () => {
      await start(TEST_GOAL, context);
      return PRESSED['test-cycle'];
    },
    pause: () => hold(context, cycle, 'pause'),
    resume: () => hold(context, cycle, 'resume'),
  });
  const control = controls.find((one) => one.id === id);
  return control === undefined ? { success: false, message: NO_CYCLE } : control.action();
}

/** The run is told first, while its steps can still move the cycle. */
async function hold(context: Context, cycle: Cycle, how: 'pause' | 'resume'): Promise<Pressed> {
  const { handle } = cycle;
  if (handle !== null && handle !== PERSONS_HANDLE)
    await (how === 'pause'
      ? context.runs.pause(handle, { reason: PRESSED.pause.message })
      : context.runs.resume(handle));
  const { id, machine } = await cycleIn(context, { forUpdate: true });
  const held = how === 'pause' ? pauseCycle(machine) : resumeCycle(machine);
  if (id === null || id !== cycle.id || held === null) return { success: false, message: NO_CYCLE };
  await keepMachine(context, id, held);
  return PRESSED[how];
}

const OWN = ['step', 'person'] as const;

export const cycleCommands: Command[] = [
  defineCommand({
    name: 'cycle/start',
    description: 'Starts a cycle in the repository, of which there is one at a time.',
    permission: 'write',
    speed: 'quick',
    doors: OWN,
    failures: CYCLE_FAILURES,
    textParams: ['goal'],
    params: z.strictObject({ goal: Goal }),
    result: Move,
    run: ({ goal }, context) => start(goal, context),
    predict: ({ goal }) => ({
      text: `starts a cycle: ${simulatedText(goal)}`,
      source: 'assumed',
      result: assumed('IDLE', 'CURATING_CONTEXT'),
    }),
  }),
  defineCommand({
    name: 'cycle/transition',
    description: "Moves the run's cycle along an edge of the table; any other is refused, and the cycle stays.",
    permission: 'write',
    speed: 'quick',
    doors: OWN,
    failures: CYCLE_FAILURES,
    textParams: ['why'],
    params: Moving,
    result: Move,
    run: move,
    predict: ({ to }) => ({
      text: `moves the cycle to ${simulatedText(to)}`,
      source: 'assumed',
      result: assumed('IDLE', simulatedText(to)),
    }),
  }),
  defineCommand({
    name: 'cycle/reset',
    description: 'Brings the cycle home to IDLE, by the edges that lead there.',
    permission: 'write',
    speed: 'quick',
    doors: OWN,
    failures: CYCLE_FAILURES,
    textField: 'text',
    params: z.strictObject({}),
    result: z.strictObject({ moves: z.array(Move), text: z.string() }),
    run: (_params, context) => goHome(context),
    predict: () => ({ text: 'brings the cycle home', source: 'assumed', result: { moves: [], text: '' } }),
  }),
  defineCommand({
    name: 'cycle/press',
    description: 'Presses one of the controls that cycle/controls lists.',
    permission: 'write',
    speed: 'long',
    doors: OWN,
    failures: CYCLE_FAILURES,
    textField: 'message',
    writes: () => [],
    params: z.strictObject({ id: ControlName }),
    result: z.strictObject({ success: z.boolean(), message: z.string() }),
    run: async ({ id }, context) => ({ ...(await press(id, context)) }),
  }),
];

const assumed = (from: string, to: string): Json => ({
  ok: true,
  cycle: 1,
  from,
  to,
  level: 'info',
  message: `transition: ${from} -> ${to}`,
});

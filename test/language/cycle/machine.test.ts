/** The table of a cycle: what follows what, what it leaves behind, and what is shown of it. */
import { describe, expect, test } from 'vitest';
import {
  canApply,
  cycleOf,
  INITIAL,
  type Machine,
  pauseCycle,
  reset,
  resumeCycle,
  startCycle,
  transition,
} from '../../../systems/cycle/machine/machine.ts';
import { getControls, getStatus } from '../../../systems/cycle/machine/shown.ts';
import { type State, STATES, TABLE } from '../../../systems/cycle/machine/states.ts';

/** As the requirement lists them. */
const EDGES = [
  'IDLE CURATING_CONTEXT',
  'CURATING_CONTEXT AWAITING_CONTEXT_APPROVAL',
  'CURATING_CONTEXT ERROR',
  'AWAITING_CONTEXT_APPROVAL PLANNING_WITH_CONTEXT',
  'AWAITING_CONTEXT_APPROVAL CURATING_CONTEXT',
  'AWAITING_CONTEXT_APPROVAL IDLE',
  'PLANNING_WITH_CONTEXT GENERATING_PROPOSAL',
  'PLANNING_WITH_CONTEXT ERROR',
  'GENERATING_PROPOSAL AWAITING_PROPOSAL_APPROVAL',
  'GENERATING_PROPOSAL ERROR',
  'AWAITING_PROPOSAL_APPROVAL APPLYING_CHANGESET',
  'AWAITING_PROPOSAL_APPROVAL PLANNING_WITH_CONTEXT',
  'AWAITING_PROPOSAL_APPROVAL IDLE',
  'APPLYING_CHANGESET REFLECTING',
  'APPLYING_CHANGESET ERROR',
  'REFLECTING IDLE',
  'REFLECTING CURATING_CONTEXT',
  'ERROR IDLE',
];

const NOW = 1_700_000_000_000;

const machineIn = (currentState: State, over: Partial<Machine> = {}): Machine => ({
  ...INITIAL,
  currentState,
  cycleContext: currentState === 'IDLE' ? null : cycleOf('the goal', NOW),
  ...over,
});

const pairs = STATES.flatMap((from) => STATES.map((to) => ({ from, to })));

describe('all 81 pairs', () => {
  test('are nine states by nine, of which 18 are edges', () => {
    expect(pairs).toHaveLength(81);
    expect(Object.entries(TABLE).flatMap(([from, all]) => all.map((to) => `${from} ${to}`))).toEqual(EDGES);
  });

  test.each(pairs)('$from -> $to', ({ from, to }) => {
    const machine = machineIn(from);
    const moved = transition(machine, to, NOW);
    const isEdge = EDGES.includes(`${from} ${to}`);
    expect(moved.ok).toBe(isEdge);
    if (!isEdge) {
      expect(moved.machine).toBe(machine);
      expect(moved.event).toBeNull();
      expect(moved.log.level).toBe('error');
      expect(moved.log.message).toContain(`${from} -> ${to}`);
      return;
    }
    const context = from === 'IDLE' ? null : 'the goal';
    expect(moved.machine.currentState).toBe(to);
    expect(moved.machine.stateHistory).toEqual([{ from, to, timestamp: NOW, context }]);
    expect(moved.event).toEqual({ name: 'fsm:transition', data: { from, to } });
    expect(moved.log).toEqual({ level: 'info', message: `transition: ${from} -> ${to}` });
  });

  test.each(pairs)('$from -> $to is refused while the cycle is paused', ({ from, to }) => {
    const machine = machineIn(from, { isPaused: true });
    expect(transition(machine, to, NOW)).toMatchObject({ ok: false, machine, event: null });
  });
});

test('a cycle starts from IDLE alone, with a context of its own', () => {
  const { ok, machine } = startCycle(INITIAL, 'add a flag', NOW);
  expect(ok).toBe(true);
  expect(machine.cycleContext).toEqual({
    goal: 'add a flag',
    selectedFiles: [],
    blueprint: null,
    plan: null,
    changeset: null,
    checkpoint: null,
    approved: null,
    reflections: [],
    startTime: NOW,
    metadata: {},
  });
  expect(machine.stateHistory).toEqual([
    { from: 'IDLE', to: 'CURATING_CONTEXT', timestamp: NOW, context: 'add a flag' },
  ]);
  for (const state of STATES) expect(startCycle(machineIn(state), 'another', NOW).ok).toBe(state === 'IDLE');
});

test('IDLE ends the cycle, with its goal in the last entry', () => {
  const { machine } = transition(machineIn('REFLECTING'), 'IDLE', NOW);
  expect(machine.cycleContext).toBeNull();
  expect(machine.stateHistory.at(-1)?.context).toBe('the goal');
});

test.each(STATES)('a reset brings %s home along edges', (state) => {
  const { machine, moves } = reset(machineIn(state, { isPaused: true }), NOW);
  expect(machine).toMatchObject({ currentState: 'IDLE', cycleContext: null, isPaused: false, error: null });
  for (const { event } of moves) expect(EDGES).toContain(`${event?.data.from ?? ''} ${event?.data.to ?? ''}`);
  expect(machine.stateHistory).toHaveLength(moves.length);
});

test.each(STATES)('applying is allowed from AWAITING_PROPOSAL_APPROVAL alone: %s', (state) => {
  expect(canApply(machineIn(state))).toBe(state === 'AWAITING_PROPOSAL_APPROVAL');
  expect(canApply(machineIn(state, { isPaused: true }))).toBe(false);
});

describe('what is shown', () => {
  test.each([
    ['IDLE', 'idle', null],
    ['CURATING_CONTEXT', 'active', null],
    ['AWAITING_CONTEXT_APPROVAL', 'active', null],
    ['REFLECTING', 'active', null],
    ['ERROR', 'error', 'FSM encountered an error'],
  ] as const)('the status of %s', (state, shown, message) => {
    const entry = { from: 'IDLE', to: state, timestamp: 7, context: null } as const;
    const status = getStatus(machineIn(state, { stateHistory: [entry] }));
    expect(Object.keys(status)).toEqual(['state', 'primaryMetric', 'secondaryMetric', 'lastActivity', 'message']);
    expect(status).toEqual({
      state: shown,
      primaryMetric: `State: ${state}`,
      secondaryMetric: state === 'IDLE' ? 'No active cycle' : 'Cycle: 1',
      lastActivity: 7,
      message,
    });
    expect(getStatus(INITIAL).lastActivity).toBeNull();
  });

  test.each([
    [0, 0],
    [1, 1],
    [8, 1],
    [9, 2],
    [17, 2],
    [18, 3],
  ])('after %i transitions it is cycle %i', (transitions, number) => {
    expect(getStatus(machineIn('REFLECTING'), transitions).secondaryMetric).toBe(`Cycle: ${number}`);
  });

  const actions = { startTest: () => 'started', pause: () => 'paused', resume: () => 'resumed' };
  const shown = (machine: Machine) =>
    getControls(machine, actions).map(({ id, label, action }) => [id, label, action()]);
  test.each(STATES)('the controls of %s', (state) => {
    const expected =
      state === 'IDLE'
        ? [['test-cycle', '☇ Test Cycle', 'started']]
        : state === 'ERROR'
          ? []
          : [['pause', '⏸ Pause', 'paused']];
    expect(shown(machineIn(state))).toEqual(expected);
    if (state !== 'IDLE' && state !== 'ERROR')
      expect(shown(machineIn(state, { isPaused: true }))).toEqual([['resume', '▶ Resume', 'resumed']]);
  });
});

/** Without what grows. */
const plain = (machine: Machine): Machine => ({
  ...machine,
  stateHistory: [],
  cycleContext: machine.cycleContext === null ? null : cycleOf('the goal', NOW),
});

/**
 * Every state that can be reached, of: the state of the machine, a pause, an open approval, a checkpoint, and a worker that
 * was lost. From each there is a way home, and none leads to a state in which nothing can happen.
 */
describe('every state that can be reached', () => {
  interface World {
    machine: Machine;
    isAsking: boolean;
    hasCheckpoint: boolean;
    isLost: boolean;
  }
  const asking: readonly State[] = ['AWAITING_CONTEXT_APPROVAL', 'AWAITING_PROPOSAL_APPROVAL'];
  const nameOf = ({ machine, isAsking, hasCheckpoint, isLost }: World): string =>
    [machine.currentState, machine.isPaused, isAsking, hasCheckpoint, isLost].join(' ');

  /** What can happen next. */
  function after(world: World): World[] {
    const { machine, isAsking, hasCheckpoint, isLost } = world;
    if (isLost) return [{ ...world, isLost: false }];
    const next: World[] = [{ ...world, isLost: true }];
    const moved = (to: State, over: Partial<World> = {}): void => {
      const move =
        machine.currentState === 'IDLE' ? startCycle(machine, 'the goal', NOW) : transition(machine, to, NOW);
      if (move.ok) next.push({ ...world, isAsking: false, ...over, machine: plain(move.machine) });
    };
    const held = pauseCycle(machine);
    if (held !== null) next.push({ ...world, machine: held });
    const freed = resumeCycle(machine);
    if (freed !== null) next.push({ ...world, machine: freed });
    if (asking.includes(machine.currentState) && !isAsking && !machine.isPaused)
      next.push({ ...world, isAsking: true });
    next.push({ isAsking: false, hasCheckpoint: false, isLost: false, machine: plain(reset(machine, NOW).machine) });
    for (const to of TABLE[machine.currentState]) {
      if (asking.includes(machine.currentState) && !isAsking) continue;
      if (to === 'APPLYING_CHANGESET') {
        if (canApply(machine)) moved(to, { hasCheckpoint: true });
      } else moved(to, { hasCheckpoint: hasCheckpoint && to !== 'ERROR' && to !== 'IDLE' });
    }
    return next;
  }

  const start: World = { machine: INITIAL, isAsking: false, hasCheckpoint: false, isLost: false };
  const reached = new Map([[nameOf(start), start]]);
  for (const queue = [start]; queue.length > 0;) {
    for (const next of after(queue.shift() ?? start)) {
      if (reached.has(nameOf(next))) continue;
      reached.set(nameOf(next), next);
      queue.push(next);
    }
  }

  test('holds all nine states', () => {
    expect(new Set([...reached.values()].map(({ machine }) => machine.currentState))).toEqual(new Set(STATES));
  });

  test('has a checkpoint while it applies, and an open approval only where it waits for one', () => {
    for (const { machine, isAsking, hasCheckpoint } of reached.values()) {
      if (machine.currentState === 'APPLYING_CHANGESET') expect(hasCheckpoint).toBe(true);
      if (isAsking) expect(asking).toContain(machine.currentState);
      if (machine.currentState === 'IDLE' || machine.currentState === 'ERROR') expect(hasCheckpoint).toBe(false);
    }
  });

  test('has a way home, without a reset too, once it is resumed and answered', () => {
    for (const world of reached.values()) {
      const seen = new Set<string>();
      const queue = [world];
      let isHome = false;
      while (queue.length > 0 && !isHome) {
        const at = queue.shift() ?? world;
        if (at.machine.currentState === 'IDLE' && !at.isLost) isHome = true;
        const byEdges = after(at).filter(
          ({ machine }) =>
            machine.currentState === at.machine.currentState ||
            TABLE[at.machine.currentState].includes(machine.currentState),
        );
        for (const next of byEdges) {
          if (seen.has(nameOf(next))) continue;
          seen.add(nameOf(next));
          queue.push(next);
        }
      }
      expect(isHome, nameOf(world)).toBe(true);
    }
  });
});

/** One life of a run: the scripted host, over what outlasted the ones before, until it dies or the run ends. */
import { isDeepStrictEqual } from 'node:util';
import { stage as ofNode } from '../../../authoring/simulate/stage.ts';
import { entriesFor } from '../../../language/catalogue.ts';
import { startValues } from '../../../language/inputs/declared-inputs.ts';
import { throughJson, type Json } from '../../../language/json.ts';
import type { Definition } from '../../../language/model.ts';
import { LEVEL_NOW } from '../../../interpreter/changes.ts';
import { limitsOf } from '../../../interpreter/limits.ts';
import { EventBoard, ScriptedGroups } from '../../../interpreter/simulation/event-board.ts';
import { ScriptedPlaces } from '../../../interpreter/simulation/scripted-places.ts';
import { essenceOf, STARTS_AT } from '../../../interpreter/simulation/run-scenario.ts';
import { ScriptedHost } from '../../../interpreter/simulation/scripted-host.ts';
import { Simulation } from '../../../interpreter/simulation/simulation.ts';
import type { Answers } from '../../../interpreter/simulation/script.ts';
import { traceOf } from '../../../interpreter/simulation/trace.ts';
import type { Mode, ScriptedRun, World } from '../../../interpreter/simulation/world.ts';
import { catalogue } from '../../catalogue.ts';
import { dyingSegment } from './dying-segment.ts';
import type { Life } from './lives.ts';

export interface Lived {
  trace: string[];
  effects: { [key: string]: Json };
  result: Json;
  runs: ScriptedRun[];
}

/** The code of a segment asks the machine what time it is. */
const clock = { now: 0 };
export const setClock = (now: number): void => void (clock.now = now);
export function simulateClock(): void {
  Date.now = () => clock.now;
}

const inputs = { list: ['x', 'y'] };

function worldOf(answers: Answers, mode: Mode, clockMoved: (now: number) => void): World {
  const simulation = new Simulation(STARTS_AT, { ...ofNode, clockMoved });
  const board = new EventBoard();
  const groups = new ScriptedGroups({}, board, simulation);
  const places = new ScriptedPlaces([]);
  return { simulation, catalogue, script: answers, mode, board, groups, places, days: [], runs: [], effects: [] };
}

const hostIn = (world: World, definition: Definition): ScriptedHost =>
  new ScriptedHost(world, {
    handle: 'run',
    definition,
    library: {},
    catalogue: entriesFor(catalogue, [definition]),
    definitionHash: 'hash',
    project: '/project',
    persona: 'tester',
    base: { ...startValues(definition), ...inputs },
    limits: limitsOf(definition, null),
    depth: 1,
    parent: null,
    startedAt: STARTS_AT,
    env: {},
    level: LEVEL_NOW,
  });

async function toEnd(world: World, host: ScriptedHost): Promise<Lived> {
  const { durationMs: _durationMs, ...result } = await world.simulation.drive(host.run());
  const traced = world.runs.map(({ walk, events, result: end }) => ({
    handle: walk.input.handle,
    isNested: walk.input.parent !== null,
    events,
    result: end,
  }));
  const [own = { handle: 'run', isNested: false, events: [], result: null }] = traced;
  const effects = world.effects.map(({ key, effect }): [string, Json] => [key, essenceOf(effect)]);
  return {
    trace: traceOf(own, traced),
    effects: Object.fromEntries(effects.toSorted(([a], [b]) => (a < b ? -1 : 1))),
    result: throughJson(result) as unknown as Json,
    runs: world.runs,
  };
}

/** Null where the host died. */
export async function runLife(life: Life, definition: Definition, mode: Mode): Promise<Lived | null> {
  const { lives } = life;
  const world = worldOf(life, mode, (now) => {
    setClock(now);
    life.clockMoved(now);
  });
  world.segment = dyingSegment(life, setClock);
  setClock(STARTS_AT);
  const written = (): void => {
    for (const { walk, events } of world.runs) for (const event of events) lives.keep(walk.input.handle, event);
  };
  try {
    const lived = await toEnd(world, hostIn(world, definition));
    written();
    for (const id of lives.events.keys()) {
      const [handle = '', seq] = id.split(' ');
      const run = lived.runs.find(({ walk }) => walk.input.handle === handle);
      if (run?.events.some((event) => event.seq === Number(seq)) !== true) lives.faults.push(`event ${id} is lost`);
    }
    return lived;
  } catch (error) {
    if (life.died === null) throw error;
    written();
    return null;
  }
}

/** The same replies, and nobody dies: without segments, without continuing as new. */
export function runUndisturbed(life: Life, definition: Definition): Promise<Lived> {
  const { lives } = life;
  const replies = new Map([
    ...[...lives.segments.values()].flatMap(({ answers }) => answers),
    ...lives.history.entries(),
  ]);
  const answers: Answers = {
    find: (key, effect) => (effect.type === 'sentinel' ? null : (replies.get(key) ?? lives.replyFor(key, effect, 0))),
    interruptionsAt: () => [],
    nextHold: () => life.nextHold(),
    answersTo: (key) => life.answersTo(key),
  };
  setClock(STARTS_AT);
  const world = worldOf(answers, { name: 'straight' }, setClock);
  return toEnd(world, hostIn(world, definition));
}

/** Where two ways of living the same run differ; null where they do not. What a message says of the clock is another moment. */
export function differenceOf(a: Lived, b: Lived): string | null {
  for (const part of ['result', 'trace', 'effects'] as const) {
    const [one, other] = [timeless(a[part]), timeless(b[part])];
    if (!isDeepStrictEqual(one, other))
      return `${part}: ${JSON.stringify(one)} and undisturbed ${JSON.stringify(other)}`;
  }
  return null;
}

const timeless = (part: Json): Json =>
  JSON.parse(JSON.stringify(part).replaceAll(/until \d{4}-\d\d-\d\dT[\d:.]+Z/g, 'until then')) as Json;

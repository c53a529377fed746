/** A definition, run by the scripted host from its start to its end: the trace, what was asked of the world, and how it ended. */
import { entriesFor, type Catalogue } from '../../language/catalogue.ts';
import { startValues } from '../../language/inputs/declared-inputs.ts';
import { type Json, throughJson } from '../../language/json.ts';
import type { Definition } from '../../language/model.ts';
import type { Policy } from '../../language/policy/policy.ts';
import { valueOfEvent } from '../../language/events/published-event.ts';
import { defined } from '../../language/defined.ts';
import { LEVEL_NOW } from '../changes.ts';
import type { CommandEffect, Effect } from '../effect.ts';
import { limitsOf } from '../limits.ts';
import type { RunResult } from '../outcome.ts';
import { EventBoard, ScriptedGroups } from './event-board.ts';
import { Script, type Answers, type ScriptedEvent, type ScriptSource } from './script.ts';
import type { RunInput } from '../host.ts';
import { ScriptedHost } from './scripted-host.ts';
import type { Mode, ScriptedRun, World } from './world.ts';
import { ScriptedPlaces } from './scripted-places.ts';
import { Simulation, type Stage } from './simulation.ts';
import { traceOf, type TracedRun } from './trace.ts';

export interface Scenario extends ScriptSource {
  definition: Definition;
  library?: { [name: string]: Definition };
  /** The commands there are. */
  catalogue: Catalogue;
  inputs?: { [name: string]: Json };
  env?: { [name: string]: string };
  /** What holds for its actions besides what the definition says. */
  policies?: Policy[];
}

export interface Outcome {
  trace: string[];
  /** What was asked of the world, by key; times allowed are left out, because they depend on the clock. */
  effects: { [key: string]: Json };
  result: Omit<RunResult, 'durationMs'>;
  runs: ScriptedRun[];
}

/** How a scenario is run; `answers` and `project` take the place of the scenario's own and of a made-up one, `stored` that of an empty store. */
export interface Staging {
  stage: Stage;
  mode?: Mode;
  segment?: World['segment'];
  stored?: World['stored'];
  /** What is done about runs that wait for what never comes; without it, that is an error. */
  whenStuck?: (runs: readonly ScriptedRun[]) => void;
  answers?: Answers;
  project?: string;
  persona?: string;
}

export const STRAIGHT: Mode = { name: 'straight' };

/** Runs begin at this moment, whenever they are run. */
export const STARTS_AT = Date.parse('2026-01-01T00:00:00Z');

export async function runScenario(scenario: Scenario, staging: Staging): Promise<Outcome> {
  const {
    definition,
    library = {},
    catalogue,
    inputs = {},
    env = {},
    policies,
  } = throughJson({ ...scenario, answer: undefined });
  const {
    stage,
    mode = STRAIGHT,
    segment,
    stored,
    whenStuck,
    answers = new Script(scenario),
    project = '/project',
    persona = 'tester',
  } = staging;
  const simulation = new Simulation(STARTS_AT, stage);
  const board = boardOf(scenario, simulation);
  const world: World = {
    simulation,
    catalogue,
    script: answers,
    mode,
    board,
    ...othersIn(scenario, board, simulation),
    runs: [],
    effects: [],
    ...defined({ segment, stored }),
  };
  const host = new ScriptedHost(world, {
    handle: 'run',
    definition,
    library,
    catalogue: entriesFor(catalogue, [definition, ...Object.values(library)]),
    definitionHash: 'hash',
    project,
    persona,
    base: { ...startValues(definition), ...inputs, ...causeIn(scenario) },
    limits: { ...limitsOf(definition, null), ...defined({ policies }) },
    depth: 1,
    parent: null,
    startedAt: STARTS_AT,
    env,
    ...levelIn(scenario),
  });
  const driven = simulation.drive(host.run(), whenStuck === undefined ? undefined : () => whenStuck(world.runs));
  const { durationMs: _durationMs, ...result } = await driven.catch((error: unknown) => {
    throw withRefusals(error, world.runs);
  });
  const traced = world.runs.map((run) => tracedRun(run));
  return {
    trace: traceOf(tracedRun(host), traced),
    effects: effectsOf(world),
    result: throughJson(result),
    runs: world.runs,
  };
}

/** Why answers were not taken. */
export function refusalsIn(runs: readonly ScriptedRun[]): string[] {
  return runs.flatMap(({ questions }) =>
    questions.replies.flatMap((reply) => ('code' in reply ? [`${reply.code}: ${reply.message}`] : [])),
  );
}

/** What waits in vain may have been given an answer that it cannot take. */
function withRefusals(error: unknown, runs: readonly ScriptedRun[]): unknown {
  const refusals = refusalsIn(runs);
  if (refusals.length === 0 || !(error instanceof Error)) return error;
  return new Error(`${error.message}; answers were refused: ${refusals.join('; ')}`, { cause: error });
}

function boardOf({ events = [], cause }: ScriptSource, simulation: Simulation): EventBoard {
  const board = new EventBoard();
  const publish = (id: string, { name, data = null }: ScriptedEvent): void =>
    board.publish(id, name, data, simulation.now);
  if (cause !== undefined) publish('cause', cause);
  for (const [index, event] of events.entries())
    simulation.schedule(event.afterMs ?? 0, () => publish(`event-${index}`, event));
  return board;
}

/** What other runs have as the run begins. */
const othersIn = (
  { groups = {}, places = [], days = [] }: ScriptSource,
  board: EventBoard,
  simulation: Simulation,
): Pick<World, 'groups' | 'places' | 'days'> => ({
  groups: new ScriptedGroups(groups, board, simulation),
  places: new ScriptedPlaces(places),
  days: [...days],
});

const levelIn = ({ places }: ScriptSource): Pick<RunInput, 'level' | 'places'> =>
  places === undefined ? { level: LEVEL_NOW } : { level: LEVEL_NOW, places: true };

/** What a trigger hands to the run it starts. */
function causeIn({ cause }: ScriptSource): { [name: string]: Json } {
  return cause === undefined
    ? {}
    : { event: valueOfEvent({ id: 'cause', name: cause.name, data: cause.data ?? null, at: STARTS_AT }) };
}

function tracedRun({ walk, events, result }: ScriptedRun): TracedRun {
  return { handle: walk.input.handle, isNested: walk.input.parent !== null, events, result };
}

function effectsOf(world: World): { [key: string]: Json } {
  const entries = world.effects.map(({ key, effect }): [string, Json] => [key, essenceOf(effect)]);
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** What a run has from the one that starts it by a command: how deep it is, and the limits that there are. */
function inheritedFrom({ starts }: CommandEffect): { inherits?: Json } {
  if (starts === undefined) return {};
  const limits = Object.entries(starts.limits).filter(([, limit]) => limit !== null);
  return { inherits: throughJson({ depth: starts.depth, ...Object.fromEntries(limits) }) };
}

/** What an effect asks of the world, without how long it may take. */
export function essenceOf(effect: Effect): Json {
  switch (effect.type) {
    case 'shell': {
      const { command, args, cwd, env, stdin, onUnknown } = effect;
      return throughJson({ command, args, cwd, env, stdin, onUnknown } as unknown as Json);
    }
    case 'command':
      return { command: effect.command, params: effect.params, ...inheritedFrom(effect) };
    case 'emit':
      return { event: effect.event, data: effect.data };
    case 'watch':
      return throughJson(effect.request as unknown as Json);
    case 'turn': {
      const { model, opening, say, answers, tools, highlighted, settings, turn, compaction } = effect;
      return throughJson({
        turn,
        model,
        opening,
        say,
        answers,
        tools,
        highlighted,
        settings,
        compaction,
      } as unknown as Json);
    }
    case 'sentinel':
      return { definition: effect.definition.name, base: effect.base, wait: effect.wait, depth: effect.depth };
    default:
      return effect satisfies never;
  }
}

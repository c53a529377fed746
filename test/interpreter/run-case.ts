/** A case file, run under one mode: the trace, what was asked of the world, and how it ended. */
import type { Json } from '../../language/json.ts';
import type { Definition } from '../../language/model.ts';
import type { Effect } from '../../workflows/interpreter/host.ts';
import { limitsOf } from '../../workflows/interpreter/limits.ts';
import type { RunResult } from '../../workflows/interpreter/outcome.ts';
import { Script, type ScriptSource } from './script.ts';
import { ScriptedHost, type Mode, type World } from './scripted-host.ts';
import { Simulation } from './simulation.ts';
import { throughJson } from './through-json.ts';
import { traceOf } from './trace.ts';

export interface Scenario extends ScriptSource {
  definition: Definition;
  library?: { [name: string]: Definition };
  inputs?: { [name: string]: Json };
}

export interface Outcome {
  trace: string[];
  /** What was asked of the world, by key; times allowed are left out, because they depend on the clock. */
  effects: { [key: string]: Json };
  result: Omit<RunResult, 'durationMs'>;
  runs: ScriptedHost[];
}

export const MODES: readonly Mode[] = [
  { name: 'straight' },
  { name: 'yield every step', yieldEvery: 1 },
  { name: 'yield every 2 steps', yieldEvery: 2 },
  { name: 'yield every 3 steps', yieldEvery: 3 },
  { name: 'yield every 7 steps', yieldEvery: 7 },
  { name: 'segments', segments: true },
  { name: 'segments, yield every 3 steps', segments: true, yieldEvery: 3, pureStepsMax: 12 },
];

export const STRAIGHT: Mode = { name: 'straight' };

const startAt = Date.parse('2026-01-01T00:00:00Z');

export async function runCase(scenario: Scenario, mode: Mode): Promise<Outcome> {
  const { definition, library = {}, inputs = {} } = throughJson({ ...scenario, answer: undefined });
  const simulation = new Simulation(startAt);
  const world: World = { simulation, script: new Script(scenario), mode, runs: [], effects: [] };
  const host = new ScriptedHost(world, {
    handle: 'run',
    definition,
    library,
    definitionHash: 'hash',
    project: '/project',
    persona: 'tester',
    base: { ...definition.inputs, ...inputs },
    limits: limitsOf(definition, null),
    depth: 1,
    parent: null,
    startedAt: startAt,
  });
  const { durationMs: _durationMs, ...result } = await simulation.drive(host.run());
  return { trace: traceOf(host, world.runs), effects: effectsOf(world), result: throughJson(result), runs: world.runs };
}

function effectsOf(world: World): { [key: string]: Json } {
  const entries = world.effects.map(({ key, effect }): [string, Json] => [key, essenceOf(effect)]);
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function essenceOf(effect: Effect): Json {
  switch (effect.type) {
    case 'shell': {
      const { command, args, cwd, env, stdin } = effect;
      return throughJson({ command, args, cwd, env, stdin } as unknown as Json);
    }
    case 'command':
      return { command: effect.command, params: effect.params };
    case 'emit':
      return { event: effect.event, data: effect.data };
    case 'sentinel':
      return { definition: effect.definition.name, base: effect.base, wait: effect.wait, depth: effect.depth };
    default:
      return effect satisfies never;
  }
}

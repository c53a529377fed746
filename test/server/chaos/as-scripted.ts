/** A run that was lived on real services, run again by the scripted host with the same replies, answers and edits. */
import { isDeepStrictEqual } from 'node:util';
import { nestedEvents } from '../../../client/follow/nested-events.ts';
import { stage } from '../../../authoring/simulate/stage.ts';
import { isJsonObject, type Json } from '../../../language/json.ts';
import type { Definition } from '../../../language/model.ts';
import type { RunEvent } from '../../../language/events/run-event.ts';
import { defined } from '../../../language/defined.ts';
import { runScenario } from '../../../interpreter/simulation/run-scenario.ts';
import { traceOf, type TracedRun } from '../../../interpreter/simulation/trace.ts';
import type { Harness } from '../harness/harness.ts';
import { LivedScript } from './lived-script.ts';
import { catalogue } from '../../catalogue.ts';

export interface Retold {
  /** Null where both are the same. */
  difference: { part: string; at: number; lived: Json; scripted: Json } | null;
  /** What was asked of the world, by the scripted host. */
  effects: Json[];
  /** What happened in the run and those nested in it. */
  events: RunEvent[];
}

export async function retold(harness: Harness, handle: string, definition: Definition): Promise<Retold> {
  const events = await harness.events(handle);
  const below = [
    ...(await nestedEvents(
      { events: (of) => harness.events(of), store: () => Promise.resolve(harness.store) },
      handle,
      events,
    )),
  ];
  const parts = [{ under: '', events }, ...below.map(([under, inner]) => ({ under, events: inner }))];
  const answers = new LivedScript(parts);
  const outcome = await runScenario(
    { definition, catalogue },
    { answers, stage: { ...stage, clockMoved: (now) => answers.clockMoved(now) } },
  );
  const nested = below.map(([under, inner]) => tracedRun(`${handle}/${under}`, inner, true));
  const run = await harness.store.runs.find(handle);
  const lived = {
    ...shown(traceOf(tracedRun(handle, events, false), nested)),
    end: endOf(run?.outcome, run?.failure?.code, run?.outputs),
  };
  const { result } = outcome;
  const scripted = { ...shown(outcome.trace), end: endOf(result.outcome, result.failure?.code, result.outputs) };
  return {
    difference: firstDifference(lived, scripted),
    effects: Object.values(outcome.effects),
    events: parts.flatMap((part) => part.events),
  };
}

function tracedRun(handle: string, events: readonly RunEvent[], isNested: boolean): TracedRun {
  const end = events.find((event) => event.type === 'run-finished');
  return {
    handle,
    isNested,
    events,
    result: end === undefined ? null : { outcome: end.outcome, ...defined({ limit: end.limit }) },
  };
}

/**
 * When a run is held is no part of what it does. An edit has its place after what happened before it,
 * which in parallel branches is chance; an edit that was made at a gate is refused when it comes again.
 */
function shown(trace: readonly string[]): { steps: string[]; edits: string[] } {
  const lines = trace.filter((line) => !/^ *(?:paused: |resumed$| warning EDIT_STALE$)/.test(line));
  return { steps: lines.filter((line) => !isEdit(line)), edits: lines.filter(isEdit).toSorted() };
}

const isEdit = (line: string): boolean => /^ *revision \d+: /.test(line);

/** What the outputs are named, and what processes printed. */
function endOf(
  outcome: string | null | undefined,
  failure: string | undefined,
  outputs: { [name: string]: Json } | null | undefined,
): Json[] {
  const named = Object.entries(outputs ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return [
    outcome ?? null,
    failure ?? null,
    ...named.map(([name, value]): Json => [name, isJsonObject(value) ? (value['stdout'] ?? null) : null]),
  ];
}

function firstDifference(
  lived: { [part: string]: Json[] },
  scripted: { [part: string]: Json[] },
): Retold['difference'] {
  for (const [part, lines] of Object.entries(lived)) {
    const others = scripted[part] ?? [];
    const at = Array.from({ length: Math.max(lines.length, others.length) }).findIndex(
      (_, index) => !isDeepStrictEqual(lines[index], others[index]),
    );
    if (at !== -1) return { part, at, lived: lines[at] ?? null, scripted: others[at] ?? null };
  }
  return null;
}

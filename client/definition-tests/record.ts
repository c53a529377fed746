/**
 * A test case made from a run that ended: its definition, inputs and trace, and a reply for each step
 * that asked something of the world. Events hold at most 200 characters of a value; longer ones are
 * known only where they are outputs of the run. What is not known is said, and left to its author.
 */
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type Json, type JsonObject } from '../../language/json.ts';
import type { Definition, Step } from '../../language/model.ts';
import type { RunEvent, StepFinished } from '../../language/run-event.ts';
import type { Run } from '../../prisma/store/contract.ts';
import { runScenario, type Outcome } from '../../workflows/simulation/run-scenario.ts';
import { traceOf, type TracedRun } from '../../workflows/simulation/trace.ts';
import { stepsAt } from '../../workflows/interpreter/program.ts';
import { stage } from '../simulate/stage.ts';
import { cutDown } from './compare.ts';
import { readReplies } from './test-file.ts';

/** A run of the store with the runs nested in it, outermost first; `under` is what leads from the run to a nested one. */
export interface StoredRun {
  run: Run;
  definition: Definition;
  library: { [name: string]: Definition };
  events: readonly RunEvent[];
  nested: readonly { under: string; definition: Definition | null; events: readonly RunEvent[] }[];
}

export interface Recorded {
  file: JsonObject;
  /** What could not be known, in sentences. */
  unknown: string[];
}

export async function recordRun(stored: StoredRun): Promise<Recorded> {
  const { run, definition, library, events, nested } = stored;
  const unknown: string[] = [];
  const replies: JsonObject = {};
  const isTimed = run.limit === 'timeoutMs';
  for (const part of [{ under: '', definition, events }, ...nested]) {
    const outputs = part.under === '' ? (run.outputs ?? {}) : outputsIn(part.events);
    Object.assign(replies, repliesOf(part, outputs, isTimed, unknown));
  }
  const below = nested.map((part) => tracedRun(`${run.handle}/${part.under}`, part.events, true));
  const trace = withoutHolds(traceOf(tracedRun(run.handle, events, false), below));
  if (events.some(({ type }) => type === 'paused')) unknown.push('the run was paused; when is not part of the test');
  const inputs = inputsOf(run, definition);
  const outcome = await runScenario({ definition, library, inputs, replies: readReplies(replies) }, { stage, project: run.project, persona: run.persona });
  const expect = { ...endOf(run), outputs: sameOutputs(run.outputs ?? {}, outcome, unknown), trace };
  if (!isDeepStrictEqual(outcome.trace, trace)) unknown.push('with the replies that are known the run takes another way; complete them until "sentinel test" passes');
  const file = {
    name: `run ${run.handle}`,
    ...(unknown.length === 0 ? {} : { notes: unknown }),
    definition: definition as unknown as Json,
    ...(Object.keys(library).length === 0 ? {} : { library: library as unknown as Json }),
    project: run.project,
    persona: run.persona,
    inputs,
    replies,
    expect,
  };
  return { file, unknown };
}

function inputsOf({ inputs }: Run, definition: Definition): JsonObject {
  const own = Object.entries(inputs).filter(([name, value]) => !isDeepStrictEqual(definition.inputs?.[name], value));
  return Object.fromEntries(own);
}

function endOf({ outcome, limit, failure }: Run): JsonObject {
  return { outcome: outcome ?? 'completed', ...(limit === null ? {} : { limit }), ...(failure === null ? {} : { failure: { code: failure.code } }) };
}

function tracedRun(handle: string, events: readonly RunEvent[], isNested: boolean): TracedRun {
  const end = events.find((event) => event.type === 'run-finished');
  return { handle, isNested, events, result: end === undefined ? null : { outcome: end.outcome, ...(end.limit === undefined ? {} : { limit: end.limit }) } };
}

const withoutHolds = (lines: readonly string[]): string[] => lines.filter((line) => !/^\s*(?:paused: |resumed$)/.test(line));

function outputsIn(events: readonly RunEvent[]): { [name: string]: Json } {
  return events.find((event) => event.type === 'run-finished')?.outputs ?? {};
}

const ASKING = new Set<Step['type']>(['shell', 'command', 'llm', 'watch', 'approval']);

function repliesOf(
  { under, definition, events }: { under: string; definition: Definition | null; events: readonly RunEvent[] },
  outputs: { [name: string]: Json },
  isTimed: boolean,
  unknown: string[],
): JsonObject {
  const finished = events.filter((event) => event.type === 'step-finished').filter(({ step, outcome }) => ASKING.has(step) && outcome !== 'cancelled');
  const setters = settersOf(finished, definition);
  const replies: JsonObject = {};
  for (const event of finished) {
    const key = under === '' ? event.key : `${under}/${event.key}`;
    const timing = isTimed ? { tookMs: event.durationMs } : {};
    if (event.failure !== undefined) {
      const { code, message, retryable } = event.failure;
      replies[key] = { ok: false, failure: { code, message, retryable }, ...timing };
      continue;
    }
    const variable = setters.get(event.key);
    const value = (variable === undefined ? undefined : wholeValue(outputs[variable])) ?? previewed(event.preview);
    if (value === undefined) unknown.push(`what ${key} ("${event.label}") gave is too long for the run's events; write its reply`);
    replies[key] = { ok: true, ...(value === undefined ? {} : { value: withoutNoise(value) }), ...timing };
  }
  return replies;
}

/** Steps whose variable still holds what they gave when the run ended, with that variable. */
function settersOf(finished: readonly StepFinished[], definition: Definition | null): Map<string, string> {
  const setters = new Map<string, string>();
  const last = new Map<string, { key: string; shared: boolean }>();
  for (const { key } of definition === null ? [] : finished.toSorted((a, b) => a.seq - b.seq)) {
    const name = definition === null ? undefined : outputOf(definition, key);
    if (name === undefined) continue;
    last.set(name, { key, shared: last.has(name) && key.includes('.branches.') });
  }
  for (const [name, { key, shared }] of last) if (!shared) setters.set(key, name);
  return setters;
}

function outputOf(definition: Definition, key: string): string | undefined {
  const [path = ''] = key.split('@');
  const at = path.lastIndexOf('.');
  const step = stepsAt(definition, path.slice(0, at))[Number(path.slice(at + 1))];
  return step !== undefined && 'outputTo' in step ? step.outputTo : undefined;
}

/** Undefined for a value of which only a reference is kept. */
function wholeValue(value: Json | undefined): Json | undefined {
  return isJsonObject(value) && typeof value['$payload'] === 'string' ? undefined : value;
}

/** The value behind a preview, where all of it is there. Text is previewed as it is. */
function previewed(preview: string | undefined): Json | undefined {
  if (preview === undefined || preview.includes('…')) return undefined;
  try {
    return JSON.parse(preview) as Json;
  } catch {
    return preview;
  }
}

/** How long a command took is no part of what it gave. */
function withoutNoise(value: Json): Json {
  if (!isJsonObject(value) || typeof value['exitCode'] !== 'number') return value;
  const { exitCode, stdout = '', stderr = '' } = value;
  return { exitCode, ...(stdout === '' ? {} : { stdout }), ...(stderr === '' ? {} : { stderr }) };
}

/** Outputs that come out again; the others depend on the clock, or on what is not known. */
function sameOutputs(outputs: { [name: string]: Json }, { result }: Outcome, unknown: string[]): JsonObject {
  const same: JsonObject = {};
  for (const [name, value] of Object.entries(outputs)) {
    const wanted = withoutNoise(value);
    if (isDeepStrictEqual(cutDown(result.outputs[name] ?? null, wanted), wanted)) same[name] = wanted;
    else unknown.push(`the output "${name}" does not come out again, so it is not compared`);
  }
  return same;
}
